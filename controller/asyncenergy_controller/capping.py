"""Run a job under the power cap that the server recommends for this machine, where its owner allows that."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from asyncenergy_controller.bench.machine import node_entry, public_name
from asyncenergy_controller.bench.power import CAPPABLE_METERS
from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.meters.base import MeterInfo
from asyncenergy_controller.meters.power_limit import PowerControl, heal_leftovers
from asyncenergy_controller.server import RecommendedCap, RequestRefused, ServerClient
from asyncenergy_controller.settings import Settings

log = logging.getLogger(__name__)

UNKNOWN_NODE = 404


@dataclass(frozen=True, slots=True)
class Cap:
    """The cap in force, in watts over all metered boards together; None, and why, where there is none."""

    cap_w: float | None
    reason: str | None = None


class _Uncapped(ControllerError):
    """There is no cap to apply; the message says why."""


@contextmanager
def capped(
    client: ServerClient, settings: Settings, info: MeterInfo, *, planned_w: float | None = None
) -> Iterator[Cap]:
    """Lower the power limit for the block, and put it back after.

    `planned_w` is the cap that the job was planned with; without it the server is asked. Whatever fails, the block
    runs, uncapped, and the reason says what failed. A limit that can't be put back stays in the journal and is healed
    at the next start.
    """
    with ExitStack() as after:
        yield _cap(client, settings, info, planned_w, after)


def _cap(client: ServerClient, settings: Settings, info: MeterInfo, planned_w: float | None, after: ExitStack) -> Cap:
    try:
        _require_consent(settings, info)
        cap_w = planned_w or _recommended_w(client, settings, info)
        _lower(settings, info, cap_w, after)
    except (ControllerError, OSError) as error:
        log.log(logging.WARNING if settings.apply_power_cap else logging.DEBUG, "No power cap: %s", error)
        return Cap(None, str(error))
    log.info("Power cap: %g W", cap_w)
    return Cap(cap_w)


def _require_consent(settings: Settings, info: MeterInfo) -> None:
    if not settings.apply_power_cap:
        raise _Uncapped("apply_power_cap is off")
    if settings.power_cap_policy != "managed":
        raise _Uncapped("power_cap_policy is preserve: the limit found here is its owner's; managed allows caps")
    if info.meter.split("+")[0] not in CAPPABLE_METERS:
        raise _Uncapped(f"no NVIDIA GPU is metered here (meter {info.meter}), so none can be limited")


def _recommended_w(client: ServerClient, settings: Settings, info: MeterInfo) -> float:
    """The server's recommendation; hardware that it doesn't know is named to it first."""
    node = node_entry(settings.config_dir, info)
    try:
        recommended = client.recommended_cap(node["node_hash"])
    except RequestRefused as refused:
        if refused.status != UNKNOWN_NODE:
            raise
        recommended = _named_and_asked(client, node, info)
    if recommended.cap_w is None:
        raise _Uncapped("no power sweep of this hardware keeps its speed below the stock limit, or none was measured")
    return recommended.cap_w


def _named_and_asked(client: ServerClient, node: dict[str, object], info: MeterInfo) -> RecommendedCap:
    described = {
        "gpu_name": public_name(info.device_name),
        "driver_version": info.driver_version,
        "vram_gb": info.vram_gb,
    }
    client.upsert_node(node | described)
    return client.recommended_cap(str(node["node_hash"]))


def _lower(settings: Settings, info: MeterInfo, cap_w: float, after: ExitStack) -> None:
    """Raises WriteRefused for a cap outside the boards' range; above stock is outside."""
    _heal(settings)
    control = PowerControl(settings.power_journal_dir, settings.device, policy=settings.power_cap_policy)
    after.callback(_put_back, control)
    control.set_limit_w(cap_w / info.device_count)


def _heal(settings: Settings) -> None:
    for healing in heal_leftovers(settings.power_journal_dir):
        log.log(logging.INFO if healing.healed else logging.WARNING, "%s", healing.message)


def _put_back(control: PowerControl) -> None:
    try:
        control.restore()
    except (ControllerError, OSError) as error:
        log.error("%s", error)
