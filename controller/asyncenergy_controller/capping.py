"""Run a job under the server's recommended power cap, where its owner allows that."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from asyncenergy_controller.meters.base import MeterInfo
from asyncenergy_controller.server import ServerClient
from asyncenergy_controller.settings import Settings


@dataclass(frozen=True, slots=True)
class Cap:
    """The cap that is in force in watts, or None and why."""

    cap_w: float | None
    reason: str | None = None


@contextmanager
def capped(
    client: ServerClient, settings: Settings, info: MeterInfo, *, planned_w: float | None = None
) -> Iterator[Cap]:
    """Lower the power limit for the block, and put it back after. Without a cap the block runs as it would."""
    yield Cap(None, "no cap is applied yet")
