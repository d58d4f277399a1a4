"""NVIDIA GPUs through one long-lived `nvidia-smi`, where NVML itself cannot be loaded."""

import os
import re
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from asyncenergy_controller.clock import monotonic
from asyncenergy_controller.errors import MeterUnavailable
from asyncenergy_controller.meters.base import MeterInfo, Reading
from asyncenergy_controller.meters.devices import Board, select_boards

TOOL = "nvidia-smi"
PERIOD_MS = 100
CALL_LIMIT_S = 15.0
STALE_S = 5.0
AVERAGE, INSTANT, DEFAULT = "power.draw.average", "power.draw.instant", "power.draw"
STATE = ("utilization.gpu", "utilization.memory", "memory.used", "temperature.gpu", "clocks.sm")
FACTS = ("driver_version", "power.limit", "power.default_limit", "memory.total")
_GPU_LINE = re.compile(r"GPU (\d+): (.+) \(UUID: (GPU-[^)]+)\)")
_SLICE_LINE = re.compile(r"\s+MIG .*\(UUID: (MIG-[^)]+)\)")

Row = dict[str, str]
Combine = Callable[[Sequence[float]], float | None]


class NvidiaSmiMeter:
    """Power by the tool's own loop; it has no energy counter."""

    name = "nvidia-smi"

    def __init__(
        self,
        device: str | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Start the loop on the selected boards. Raises MeterUnavailable where the tool is missing or fails."""
        self._clock = clock
        selection = select_boards(parse_list(_call("-L")), device, os.environ if environ is None else environ)
        self._boards = selection.boards
        self._ids = ",".join(str(board.index) for board in self._boards)
        self._power_field, power_query, instant_query = self._power_queries()
        self._fields = ["index", power_query, *([instant_query] if instant_query else []), *STATE]
        self._power_query, self._instant_query = power_query, instant_query
        self._facts = self._query((*FACTS, power_query))
        self._reasons = {
            **selection.notes,
            "gpu_energy_mj": "nvidia-smi shows no energy counter: install the NVML library",
            "throttle_mask": "not read through nvidia-smi",
            "other_processes": "not read through nvidia-smi",
        }
        self._seen: set[str] = set()
        self._combined("gpu_power_w", self._facts, power_query, _powers)  # to learn whether there is any
        self._newest: deque[tuple[float, list[Row]]] = deque(maxlen=1)
        self._arrived = threading.Event()
        self._process = self._start_loop()
        self._thread = threading.Thread(target=self._collect, name="nvidia-smi", daemon=True)
        self._thread.start()
        self._arrived.wait(STALE_S)

    def info(self) -> MeterInfo:
        return MeterInfo(
            meter=self.name,
            energy_source="integrated" if "gpu_power_w" in self._seen else None,
            energy_boundary="gpu_board",
            device_count=len(self._boards),
            device_name=" + ".join(dict.fromkeys(board.name for board in self._boards)),
            driver_version=self._facts[0]["driver_version"],
            power_limit_w=self._combined("power_limit_w", self._facts, "power.limit", sum),
            stock_power_limit_w=self._combined("stock_power_limit_w", self._facts, "power.default_limit", sum),
            vram_gb=self._vram_gb(),
            reasons=dict(self._reasons),
        )

    def read(self) -> Reading:
        """Return what the loop said last, at the time it said it; nothing twice."""
        if not self._newest:
            self._reasons["gpu_power_w"] = self._why_silent()
            return Reading(t_s=self._clock())
        at_s, rows = self._newest.pop()
        power_w = self._combined("gpu_power_w", rows, self._power_query, _powers)
        return Reading(
            t_s=at_s,
            gpu_power_w=power_w,
            power_field=None if power_w is None else self._power_field,
            gpu_power_instant_w=self._instant_w(rows),
            gpu_util_pct=self._combined("gpu_util_pct", rows, "utilization.gpu", fmean),
            gpu_mem_util_pct=self._combined("gpu_mem_util_pct", rows, "utilization.memory", fmean),
            gpu_mem_used_mib=self._combined("gpu_mem_used_mib", rows, "memory.used", sum),
            gpu_temp_c=self._combined("gpu_temp_c", rows, "temperature.gpu", max),
            sm_clock_mhz=self._combined("sm_clock_mhz", rows, "clocks.sm", fmean),
        )

    def close(self) -> None:
        """End the loop."""
        self._process.terminate()
        try:
            self._process.wait(CALL_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._thread.join()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _power_queries(self) -> tuple[str, str, str | None]:
        """Return the name and query of the field to integrate, and that of the instant one where there is one."""
        try:
            answers = self._query((AVERAGE, INSTANT))
        except MeterUnavailable:
            return "default", DEFAULT, None
        if all(_number(row[AVERAGE]) for row in answers):
            return "average", AVERAGE, INSTANT
        return "default", DEFAULT, INSTANT  # a new driver knows the average, an older board has none

    def _query(self, fields: Sequence[str]) -> list[Row]:
        text = _call(f"--id={self._ids}", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits")
        rows = [row for line in text.splitlines() if (row := _row(fields, line)) is not None]
        if len(rows) != len(self._boards):
            raise MeterUnavailable(f"nvidia-smi answered {text.strip()!r} when asked for {', '.join(fields)}")
        return rows

    def _start_loop(self) -> subprocess.Popen[str]:
        command = [TOOL, f"--id={self._ids}", f"--query-gpu={','.join(self._fields)}"]
        command += ["--format=csv,noheader,nounits", f"--loop-ms={PERIOD_MS}"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def _collect(self) -> None:
        """Keep the newest complete round: one line of each board."""
        assert self._process.stdout is not None
        rows: dict[str, Row] = {}
        for line in self._process.stdout:
            row = _row(self._fields, line)
            if row is None:
                continue
            rows = {} if row["index"] in rows else rows
            rows[row["index"]] = row
            if rows.keys() == {str(board.index) for board in self._boards}:
                self._newest.append((self._clock(), list(rows.values())))
                rows = {}
                self._arrived.set()

    def _combined(self, channel: str, rows: list[Row], query: str, how: Combine) -> float | None:
        values = [_number(row.get(query, "")) for row in rows]
        known = [value for value in values if value is not None]
        combined = how(known) if len(known) == len(values) else None
        if combined is None:
            self._reasons[channel] = f"nvidia-smi answered {[row.get(query) for row in rows]} for {query}"
        else:
            self._seen.add(channel)
        return combined

    def _instant_w(self, rows: list[Row]) -> float | None:
        if self._instant_query is None:
            self._reasons["gpu_power_instant_w"] = "this driver's nvidia-smi has no instant power"
            return None
        return self._combined("gpu_power_instant_w", rows, self._instant_query, _powers)

    def _vram_gb(self) -> float | None:
        mib = self._combined("vram_gb", self._facts, "memory.total", sum)
        return None if mib is None else mib / 1024

    def _why_silent(self) -> str:
        code = self._process.poll()
        return "nvidia-smi gave no new line" if code is None else f"nvidia-smi ended with exit code {code}"


def parse_list(text: str) -> list[Board]:
    """Read `nvidia-smi -L`: the boards, each with its MIG slices below it."""
    boards: list[Board] = []
    for line in text.splitlines():
        if board := _GPU_LINE.match(line):
            boards.append(Board(int(board.group(1)), board.group(3), board.group(2)))
        elif (part := _SLICE_LINE.match(line)) and boards:
            last = boards.pop()
            boards.append(Board(last.index, last.uuid, last.name, slices=(*last.slices, part.group(1))))
    return boards


def _call(*arguments: str) -> str:
    try:
        done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=CALL_LIMIT_S, check=False)
    except FileNotFoundError:
        raise MeterUnavailable("nvidia-smi is not installed") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MeterUnavailable(f"nvidia-smi cannot be used: {error}") from error
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip()
        raise MeterUnavailable(f"nvidia-smi ended with exit code {done.returncode}: {said}")
    return done.stdout


def _row(fields: Sequence[str], line: str) -> Row | None:
    """None for a line that is no row: the tool's warnings, and numbers with a decimal comma, which shift the cells."""
    cells = [cell.strip() for cell in line.split(",")]
    return dict(zip(fields, cells, strict=True)) if len(cells) == len(fields) else None


def _number(cell: str) -> float | None:
    """Read a cell; `[N/A]`, `[Not Supported]`, `[Unknown Error]` and the like are no numbers."""
    return float(cell) if re.fullmatch(r"\d+(\.\d+)?", cell) else None


def _powers(watts: Sequence[float]) -> float | None:
    """A powered board draws something: a zero is a reading that failed."""
    return sum(watts) if all(watts) else None
