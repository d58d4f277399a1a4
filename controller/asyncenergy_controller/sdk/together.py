"""Which measured blocks of this process run at the same time without one being inside the other."""

import os
import threading
from contextvars import ContextVar

_inside: ContextVar[tuple[str, ...]] = ContextVar("measured blocks around here", default=())


class Blocks:
    """The blocks that run now."""

    def __init__(self) -> None:
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def began(self, run_id: str) -> None:
        """Note a block; blocks around it, in this task or thread, are not beside it."""
        around = _inside.get()
        with self._lock:
            beside = self._running.keys() - set(around)
            self._running.update(dict.fromkeys(beside, True))
            self._running[run_id] = bool(beside)
        _inside.set((*around, run_id))

    def ended(self, run_id: str) -> bool:
        """Forget the block; return whether another ran beside it."""
        _inside.set(tuple(one for one in _inside.get() if one != run_id))
        with self._lock:
            return self._running.pop(run_id, False)

    def _forget(self) -> None:
        """What runs in a parent does not run in the process that it forks."""
        self._lock = threading.Lock()
        self._running: dict[str, bool] = {}  # run → whether another ran beside it


blocks = Blocks()
