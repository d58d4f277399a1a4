"""CPU packages through Linux's powercap (RAPL): Intel's and AMD's alike."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from asyncenergy_controller.clock import monotonic
from asyncenergy_controller.errors import MeterUnavailable
from asyncenergy_controller.meters.base import MeterInfo, Reading

POWERCAP = Path("/sys/class/powercap")
CPUINFO = Path("/proc/cpuinfo")
MAX_PACKAGE_W = 1000.0
"""More than any CPU package draws: what this can't explain was no wrap."""
STEP_S = 1.0
"""The counter moves in steps, so two readings close together may lie a whole step apart."""
LOST_UJ = 1e15
"""A fall beyond every range, which nobody takes for a wrap."""
_TOP_ZONE = re.compile(r"(intel|amd)-rapl(-mmio)?:\d+")
PERMISSION_HELP = (
    "only root may read it since CVE-2020-8694. Allow it until the next boot with `sudo chmod a+r {path}`, or for "
    "good with a udev rule that gives this file to a group you are in"
)


@dataclass(slots=True)
class Package:
    """One CPU package. Its core and uncore subdomains are parts of it, its memory lies outside: none is ever added."""

    name: str
    energy_file: Path
    range_uj: float | None
    last_uj: float | None = None
    last_s: float = 0
    wrapped_uj: float = 0

    def read_uj(self, now_s: float) -> float:
        """Return the counter, carried on past its wraps. Without a known range it is given as it stands.

        Where it was reset (the machine slept), or may have wrapped unseen, it falls by more than any range.
        """
        now_uj = float(self.energy_file.read_text())
        if self.range_uj is not None and self.last_uj is not None:
            self.wrapped_uj += self._carry_uj(self.range_uj, self.last_uj, now_uj, now_s - self.last_s)
        self.last_uj, self.last_s = now_uj, now_s
        return self.wrapped_uj + now_uj

    @staticmethod
    def _carry_uj(range_uj: float, last_uj: float, now_uj: float, passed_s: float) -> float:
        """What the step since the last reading adds to the counter, beyond what the counter itself shows."""
        wraps_uj = range_uj if now_uj < last_uj else 0.0
        most_uj = 1e6 * MAX_PACKAGE_W * (passed_s + STEP_S)
        known = wraps_uj + now_uj - last_uj <= most_uj <= range_uj
        return wraps_uj if known else -LOST_UJ


class RaplMeter:
    """The energy of all CPU packages together."""

    name = "rapl"

    def __init__(
        self, root: Path = POWERCAP, *, cpuinfo: Path = CPUINFO, clock: Callable[[], float] = monotonic
    ) -> None:
        """Open every package under `root`. Raises MeterUnavailable where there is none, or none may be read."""
        self._packages = find_packages(root)
        self._cpuinfo = cpuinfo
        self._clock = clock
        self._reasons = {"gpu_power_w": "RAPL has an energy counter and no power"}

    def info(self) -> MeterInfo:
        ranges = [package.range_uj for package in self._packages]
        known = [value for value in ranges if value is not None]
        return MeterInfo(
            meter=self.name,
            energy_source="rapl",
            energy_boundary="cpu_package",
            device_kind="cpu",
            device_count=len(self._packages),
            device_name=_cpu_name(self._cpuinfo),
            cpu_energy_range_uj=sum(known) if len(known) == len(ranges) else None,
            reasons=dict(self._reasons),
        )

    def read(self) -> Reading:
        now_s = self._clock()
        try:
            return Reading(t_s=now_s, cpu_energy_uj=sum(package.read_uj(now_s) for package in self._packages))
        except (OSError, ValueError) as error:
            self._reasons["cpu_energy_uj"] = f"RAPL gave no reading: {error}"
            return Reading(t_s=now_s)

    def close(self) -> None:
        pass


def find_packages(root: Path) -> list[Package]:
    """Return each package once, though it may also be listed through a second interface, the lesser one (mmio)."""
    packages: dict[str, Package] = {}
    zones = root.glob("*-rapl*") if root.is_dir() else ()
    for zone in sorted(zones, key=lambda zone: ("mmio" in zone.name, zone.name)):
        name = _package_name(zone)
        if name is not None:
            packages.setdefault(name, _open_package(name, zone))
    if not packages:
        raise MeterUnavailable(f"no CPU energy counter (RAPL) under {root}: {_why_none()}")
    return list(packages.values())


def _package_name(zone: Path) -> str | None:
    """Return the name of a top-level package zone; `psys` and subdomains are none, nor is what cannot be read."""
    if not _TOP_ZONE.fullmatch(zone.name):
        return None
    try:
        name = (zone / "name").read_text().strip()
    except OSError:  # in a container the link may lead nowhere
        return None
    return name if name.startswith("package") else None


def _open_package(name: str, zone: Path) -> Package:
    energy_file = zone / "energy_uj"
    try:
        float(energy_file.read_text())
    except PermissionError as error:
        help_text = PERMISSION_HELP.format(path=energy_file)
        raise MeterUnavailable(f"the CPU's energy counter {energy_file} may not be read: {help_text}") from error
    except (OSError, ValueError) as error:
        raise MeterUnavailable(f"the CPU's energy counter {energy_file} gives no number: {error}") from error
    return Package(name, energy_file, _range_uj(zone))


def _range_uj(zone: Path) -> float | None:
    try:
        return float((zone / "max_energy_range_uj").read_text()) or None
    except (OSError, ValueError):
        return None


def _why_none() -> str:
    return "virtual machines and containers usually hide it; on bare metal load the kernel module intel_rapl_msr"


def _cpu_name(cpuinfo: Path) -> str | None:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(), re.MULTILINE)
    except OSError:
        return None
    return found.group(1).strip() if found else None
