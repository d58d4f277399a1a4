"""Async Energy controller: measures and runs AI work on your own machine."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asyncenergy_controller.sdk import AsyncEnergy

__all__ = ["AsyncEnergy"]


def __getattr__(name: str) -> Any:
    """Load the SDK when it is asked for: most of this package needs none of it."""
    if name != "AsyncEnergy":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from asyncenergy_controller.sdk import AsyncEnergy

    return AsyncEnergy
