"""Put a stand-in where a function is, in every module that holds the function, and take it out again."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

Pair = tuple[Any, Any]
"""What is there, and what stands in for it."""

_LEFT_ALONE = ("_thread", __package__)


@contextmanager
def replaced(pairs: Sequence[Pair]) -> Iterator[None]:
    """Reaches `from time import sleep` as well as `time.sleep`; a stand-in that a module took meanwhile goes too."""
    _replace(pairs)
    try:
        yield
    finally:
        _replace([(stand_in, original) for original, stand_in in pairs])


@contextmanager
def attributes(owner: Any, **values: Any) -> Iterator[None]:
    """Give `owner` these attributes for a while."""
    before = {name: getattr(owner, name) for name in values}
    try:
        for name, value in values.items():
            setattr(owner, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(owner, name, value)


def _replace(pairs: Sequence[Pair]) -> None:
    table = {id(old): new for old, new in pairs}
    for module_name, module in list(sys.modules.items()):
        names = getattr(module, "__dict__", None)
        if not isinstance(names, dict) or table.keys().isdisjoint(map(id, names.values())):
            continue
        if not module_name.startswith(_LEFT_ALONE):
            names.update({name: table[id(value)] for name, value in names.items() if id(value) in table})
