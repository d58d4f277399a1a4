"""Which measured blocks of this process run at the same time without one being inside the other."""

import threading
from contextvars import ContextVar

_inside: ContextVar[tuple[str, ...]] = ContextVar("measured blocks around here", default=())
_lock = threading.Lock()
_running: dict[str, bool] = {}
"""Run → whether another ran beside it."""


def began(run_id: str) -> None:
    """Note a block; blocks around it, in this task or thread, are not beside it."""
    around = _inside.get()
    with _lock:
        beside = _running.keys() - set(around)
        _running.update(dict.fromkeys(beside, True))
        _running[run_id] = bool(beside)
    _inside.set((*around, run_id))


def ended(run_id: str) -> bool:
    """Forget the block; return whether another ran beside it."""
    _inside.set(tuple(one for one in _inside.get() if one != run_id))
    with _lock:
        return _running.pop(run_id)
