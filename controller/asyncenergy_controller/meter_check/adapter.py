"""What a meter must offer to be checked, and where it comes from."""

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from asyncenergy_controller.errors import UsageError

SHIPPED = {
    "ours": "asyncenergy_controller.meter_check.adapters.ours:OurMeter",
    "zeus": "asyncenergy_controller.meter_check.adapters.zeus:ZeusMeter",
    "codecarbon": "asyncenergy_controller.meter_check.adapters.codecarbon:CodeCarbonMeter",
}


@dataclass(frozen=True, slots=True)
class Device:
    """What is to be measured: the machine's only GPU, through `pynvml`, or its only CPU package."""

    kind: str
    """"gpu" or "cpu"."""
    powercap: Path
    """Stands for /sys/class/powercap; there are no CPU counters in it where a GPU is measured."""


class MeterAdapter(Protocol):
    """A meter, made anew for each case. It may also have a `close()`, which is called after the case."""

    def start(self) -> None:
        """Begin a window."""
        ...

    def stop(self) -> float | None:
        """End the window: return the joules of the device, or None where the meter says it can't tell them."""
        ...


Factory = Callable[[Device], MeterAdapter]


class CannotMeasure(Exception):
    """Raised by a factory for a device that its meter does not know: the case is skipped, with this reason."""


def load_factory(meter: str) -> Factory:
    """Return the factory called `meter`: a shipped one, or `module:factory` from the path or this directory.

    Raises UsageError where there is none, or the package it needs is not installed.
    """
    module_name, colon, attribute = SHIPPED.get(meter, meter).partition(":")
    if not colon or not module_name or module_name.startswith("."):
        raise UsageError(f"there is no meter {meter!r}: choose {', '.join(SHIPPED)}, or give module:factory")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        factory = getattr(importlib.import_module(module_name), attribute)
    except ModuleNotFoundError as error:
        raise UsageError(f"the meter {meter!r} can't be loaded, {_missing(meter, error)}") from error
    except Exception as error:  # a foreign module may raise anything
        raise UsageError(f"the meter {meter!r} can't be loaded: {type(error).__name__}: {error}") from error
    if not callable(factory):
        raise UsageError(f"the meter {meter!r} can't be used: it must be a function or class that makes a meter")
    return factory  # type: ignore[no-any-return]  # what it makes shows only when it is called


def _missing(meter: str, error: ModuleNotFoundError) -> str:
    if meter in SHIPPED:
        return f"{error.name} is not installed: pip install 'asyncenergy-controller[{meter}]'"
    return f"there is no module {error.name}: install it, or run this where it lies"
