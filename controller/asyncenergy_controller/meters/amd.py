"""AMD GPUs through amdsmi: energy counter and power, each channel failing alone."""

import contextlib
import io
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isfinite
from statistics import fmean
from typing import Any

from asyncenergy_controller.clock import monotonic
from asyncenergy_controller.errors import DeviceNotFound, MeterError, MeterUnavailable
from asyncenergy_controller.meters.base import MeterInfo, Reading
from asyncenergy_controller.meters.devices import Board, select_boards
from asyncenergy_controller.meters.processes import count_others

VISIBLE = "HIP_VISIBLE_DEVICES"
RENUMBERING = ("ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")
HELP = "install ROCm's amd-smi-lib, and pip install 'asyncenergy-controller[amd]' of the same version"
MICRO = 1e6
POWER_FIELDS = ("socket_power", "current_socket_power", "average_socket_power")
"""ROCm 7 tells the first; 6 only the others, of which a card has one."""
NO_POWER_W = 0xFFFF
"""What the first releases of ROCm 6 answer where others say N/A."""


def _amdsmi() -> Any:
    """Return the `amdsmi` module; tests put their own in its place here."""
    with contextlib.redirect_stdout(io.StringIO()):  # it prints where its library is missing
        import amdsmi

    return amdsmi


class AmdMeter:
    """One or several boards as one; see `NvmlMeter`."""

    name = "amd"

    def __init__(
        self,
        device: str | None = None,
        *,
        own_pids: Collection[int] = (),
        environ: Mapping[str, str] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._smi = _open()
        self._clock = clock
        self._own_pids = own_pids
        environ = os.environ if environ is None else environ
        boards = _list_boards(self._smi)
        if device is None and VISIBLE in environ:
            boards = _as_hip_counts(self._smi, boards, environ)
        selection = select_boards(boards, device, environ, VISIBLE)
        self._boards = selection.boards
        self._reasons = dict(selection.notes)
        self._seen: set[str] = set()
        self._faults = (self._smi.AmdSmiException, MeterError, KeyError)
        self._power_field: str | None = None
        self.read()

    def info(self) -> MeterInfo:
        smi = self._smi
        seen = self._seen & {"gpu_energy_mj", "gpu_power_w"}
        return MeterInfo(
            meter=self.name,
            energy_source="amdsmi" if seen else None,
            energy_boundary="gpu_board",
            device_count=len(self._boards),
            device_name=" + ".join(dict.fromkeys(board.name for board in self._boards)),
            driver_version=self._driver_version(),
            power_limit_w=self._channel("power_limit_w", self._cap_w("power_cap"), sum),
            stock_power_limit_w=self._channel("stock_power_limit_w", self._cap_w("default_power_cap"), sum),
            vram_gb=self._channel(
                "vram_gb", lambda h: _number(smi.amdsmi_get_gpu_vram_usage(h)["vram_total"]) / 1024, sum
            ),
            reasons=dict(self._reasons),
        )

    def read(self) -> Reading:
        smi = self._smi
        now_s = self._clock()
        energy_mj = self._channel("gpu_energy_mj", self._one_counter_mj, sum)
        power_w, power_field = self._power()
        hotspot, current = smi.AmdSmiTemperatureType.HOTSPOT, smi.AmdSmiTemperatureMetric.CURRENT
        return Reading(
            t_s=now_s,
            gpu_power_w=power_w,
            power_field=power_field,
            gpu_energy_mj=energy_mj,
            gpu_util_pct=self._channel("gpu_util_pct", lambda h: smi.amdsmi_get_gpu_activity(h)["gfx_activity"], fmean),
            gpu_mem_util_pct=self._channel(
                "gpu_mem_util_pct", lambda h: smi.amdsmi_get_gpu_activity(h)["umc_activity"], fmean
            ),
            gpu_mem_used_mib=self._channel(
                "gpu_mem_used_mib", lambda h: smi.amdsmi_get_gpu_vram_usage(h)["vram_used"], sum
            ),
            gpu_temp_c=self._channel("gpu_temp_c", lambda h: smi.amdsmi_get_temp_metric(h, hotspot, current), max),
            sm_clock_mhz=self._channel(
                "sm_clock_mhz", lambda h: smi.amdsmi_get_clock_info(h, smi.AmdSmiClkType.GFX)["clk"], fmean
            ),
            other_processes=self._other_processes(),
        )

    def close(self) -> None:
        """Leave the library initialised: later tasks of this process measure with it."""

    def _channel(
        self, channel: str, read_one: Callable[[Any], Any], combine: Callable[[Sequence[float]], float]
    ) -> float | None:
        """Read one channel of every board; None with a reason where any of them cannot give it."""
        try:
            value = float(combine([_number(read_one(board.handle)) for board in self._boards]))
        except self._faults as error:
            self._reasons[channel] = _one_line(error)
            return None
        self._seen.add(channel)
        return value

    def _one_counter_mj(self, handle: Any) -> float:
        counter = self._smi.amdsmi_get_energy_count(handle)
        microjoules = _number(counter["energy_accumulator"]) * _number(counter["counter_resolution"])
        return _not_zero(microjoules / 1000, "energy counter")

    def _power(self) -> tuple[float | None, str | None]:
        """Watts, and by which field: the first that every board has, and then that one alone, so none are mixed."""
        why = []
        for field in (self._power_field,) if self._power_field else POWER_FIELDS:
            power_w = self._channel("gpu_power_w", partial(self._one_power_w, field), sum)
            if power_w is not None:
                self._power_field = field
                self._reasons.pop("gpu_power_w", None)
                return power_w, field.removesuffix("_power")
            why.append(self._reasons["gpu_power_w"])
        self._reasons["gpu_power_w"] = "; ".join(dict.fromkeys(why))
        return None, None

    def _one_power_w(self, field: str, handle: Any) -> float:
        watts = _not_zero(_number(self._smi.amdsmi_get_power_info(handle)[field]), "power")
        if watts >= NO_POWER_W:
            raise MeterError(f"the driver answered {watts:g} for the power, which is no reading")
        return watts

    def _cap_w(self, name: str) -> Callable[[Any], float]:
        return lambda handle: _number(self._smi.amdsmi_get_power_cap_info(handle)[name]) / MICRO

    def _driver_version(self) -> str | None:
        try:
            return str(self._smi.amdsmi_get_gpu_driver_info(self._boards[0].handle)["driver_version"])
        except self._faults as error:
            self._reasons["driver_version"] = _one_line(error)
            return None

    def _other_processes(self) -> int | None:
        try:
            lists = [self._smi.amdsmi_get_gpu_process_list(board.handle) for board in self._boards]
            listed = {process["pid"] for processes in lists for process in processes}
        except self._faults as error:
            self._reasons["other_processes"] = _one_line(error)
            return None
        count, reason = count_others(listed, self._own_pids)
        if reason is not None:
            self._reasons["other_processes"] = reason
        return count


def _open() -> Any:
    try:
        smi = _amdsmi()
    except (ImportError, KeyError, OSError, AttributeError) as error:
        raise MeterUnavailable(f"AMD GPUs cannot be measured: amdsmi does not load ({error}). {HELP}") from error
    try:
        smi.amdsmi_init()
    except smi.AmdSmiException as error:
        raise MeterUnavailable(f"AMD GPUs cannot be measured: {_one_line(error)}") from error
    return smi


def _list_boards(smi: Any) -> list[Board]:
    """Every GPU that answers; one that doesn't (a processor's own graphics may not) hides no other."""
    boards, why = [], []
    try:
        handles = smi.amdsmi_get_processor_handles()
    except smi.AmdSmiException as error:
        raise MeterUnavailable(f"AMD GPUs cannot be listed: {_one_line(error)}") from error
    for index, handle in enumerate(handles):
        try:
            name = _name(smi.amdsmi_get_gpu_asic_info(handle))
            boards.append(Board(index, smi.amdsmi_get_gpu_device_uuid(handle), name, handle))
        except (smi.AmdSmiException, KeyError) as error:
            why.append(_one_line(error))
    if why and not boards:
        raise MeterUnavailable(f"AMD GPUs cannot be listed: {'; '.join(why)}")
    return boards


def _name(asic: Mapping[str, Any]) -> str:
    """Cards that the library has no name for are told apart by their kind's number."""
    name = str(asic["market_name"]).strip()
    return name if name not in ("", "N/A") else f"AMD GPU {asic['device_id']}"


def _as_hip_counts(smi: Any, boards: list[Board], environ: Mapping[str, str]) -> list[Board]:
    """Number the boards as HIP does, whose order need not be amd-smi's. Earlier releases of amdsmi don't tell it."""
    if len(boards) > 1 and (renumbering := [name for name in RENUMBERING if name in environ]):
        raise DeviceNotFound(
            f"{VISIBLE}={environ[VISIBLE]} counts among what {' and '.join(renumbering)} left visible: say with "
            "--device which GPU the engine uses, counted as amd-smi does"
        )
    try:
        hip_ids = [smi.amdsmi_get_gpu_enumeration_info(board.handle)["hip_id"] for board in boards]
    except (smi.AmdSmiException, AttributeError, KeyError):
        return boards
    known = [(board, hip_id) for board, hip_id in zip(boards, hip_ids, strict=True) if isinstance(hip_id, int)]
    return [replace(board, index=hip_id) for board, hip_id in known] or boards


def _number(value: Any) -> float:
    """amdsmi says N/A in words where a card has no such sensor."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise MeterError(f"the driver answered {value!r}")
    return float(value)


def _not_zero(value: float, what: str) -> float:
    if not value:
        raise MeterError(f"the driver answered 0 for the {what}, which is no reading")
    return value


def _one_line(error: Exception) -> str:
    """A KeyError says only which field it is that this release of amdsmi lacks."""
    said = f"this release of amdsmi does not tell {error}" if isinstance(error, KeyError) else str(error)
    return " ".join(said.split())
