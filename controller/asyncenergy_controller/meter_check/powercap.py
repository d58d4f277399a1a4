"""A CPU package that does not exist: the files of Linux's powercap, kept up to date with a load."""

from pathlib import Path

from asyncenergy_controller.meter_check.load import Load

RANGE_UJ = 65_532_610_987
"""Where a common package's counter starts again."""
START_UJ = 60_000_000_000
CORE_SHARE = 0.6


class VirtualPowercap:
    """One package with its cores, laid out as under /sys/class/powercap."""

    def __init__(self, root: Path, load: Load) -> None:
        self._load = load
        package = root / "intel-rapl" / "intel-rapl:0"
        core = package / "intel-rapl:0:0"
        core.mkdir(parents=True)
        (root / "intel-rapl" / "subsystem").symlink_to(root)
        for zone, name in ((package, "package-0"), (core, "core")):
            (zone / "name").write_text(f"{name}\n")
            (zone / "max_energy_range_uj").write_text(f"{RANGE_UJ}\n")
            (root / zone.name).symlink_to(zone)
        self._files = {
            (zone / "energy_uj").open("wb", buffering=0): share for zone, share in ((package, 1.0), (core, CORE_SHARE))
        }

    def write(self, now_s: float) -> None:
        """Let the counters stand where they stand at this time."""
        drawn_uj = START_UJ + 1e6 * self._load.energy_j(now_s)
        for file, share in self._files.items():
            file.seek(0)
            file.write(b"%-20d\n" % (round(share * drawn_uj) % RANGE_UJ))

    def close(self) -> None:
        for file in self._files:
            file.close()
