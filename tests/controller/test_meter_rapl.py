"""CPU energy by RAPL: each package once, wraps corrected, refusals with help."""

import pytest
from asyncenergy_controller import metrics
from asyncenergy_controller.errors import MeterUnavailable
from asyncenergy_controller.meters.rapl import RaplMeter

from .fakes_nvml import VirtualClock

RANGE_UJ = 262_143_328_850


def zone(root, path, name, energy_uj, range_uj=RANGE_UJ):
    folder = root / path
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{name}\n")
    (folder / "energy_uj").write_text(f"{energy_uj}\n")
    if range_uj is not None:
        (folder / "max_energy_range_uj").write_text(f"{range_uj}\n")
    return folder / "energy_uj"


@pytest.fixture
def root(tmp_path):
    return tmp_path / "powercap"


def joules(root, files, series, *, every_s=60.0):
    """Write each value, read after each, and give the energy by the product's own formula."""
    clock, readings = VirtualClock(), []
    meter = RaplMeter(root, clock=clock)
    for values in series:
        clock.pass_s(every_s)
        for file, value in zip(files, values, strict=True):
            file.write_text(f"{value}\n")
        readings.append(meter.read().cpu_energy_uj)
    return metrics.wrapping_counter_energy_j(readings, meter.info().cpu_energy_range_uj)


def test_a_package_with_subdomains_is_counted_once(root):
    package = zone(root, "intel-rapl:0", "package-0", 1_000_000)
    zone(root, "intel-rapl:0:0", "core", 900_000)
    zone(root, "intel-rapl:0:1", "uncore", 50_000)
    zone(root, "intel-rapl:1", "psys", 5_000_000)
    zone(root, "intel-rapl-mmio:0", "package-0", 1_000_000)
    (root / "intel-rapl").mkdir()
    assert joules(root, [package], [[1_000_000], [11_000_000]]).joules == pytest.approx(10)
    assert RaplMeter(root).info().device_count == 1


@pytest.mark.parametrize("prefix", ["intel-rapl", "amd-rapl"])
def test_both_makers_names_are_known(root, prefix):
    package = zone(root, f"{prefix}:0", "package-0", 0)
    assert joules(root, [package], [[0], [5_000_000]]).joules == pytest.approx(5)


def test_two_wraps_in_a_run_are_both_corrected(root):
    package = zone(root, "intel-rapl:0", "package-0", 0, range_uj=100_000_000_000)
    series = [[90_000_000_000], [10_000_000_000], [60_000_000_000], [5_000_000_000]]
    assert joules(root, [package], series).joules == pytest.approx(1000 * (10 + 10 + 50 + 45))


def test_two_packages_that_wrap_at_different_moments_are_summed_right(root):
    files = [zone(root, f"intel-rapl:{i}", f"package-{i}", 0, range_uj=100_000_000_000) for i in (0, 1)]
    series = [[90_000_000_000, 50_000_000_000], [20_000_000_000, 95_000_000_000], [60_000_000_000, 15_000_000_000]]
    assert joules(root, files, series).joules == pytest.approx(1000 * (30 + 40 + 45 + 20))


@pytest.mark.parametrize("packages", [1, 2])
def test_a_counter_that_was_reset_by_sleep_is_void_and_no_wrap(root, packages):
    files = [zone(root, f"intel-rapl:{i}", f"package-{i}", 0) for i in range(packages)]
    series = [[100_000_000_000] * packages, [1_000_000] * packages, [9_000_000] * packages]
    counted = joules(root, files, series, every_s=0.2)
    assert (counted.joules, counted.reason) == (None, "counter_reset")


@pytest.mark.parametrize("after_uj", [90_000_000_000, 110_000_000_000])
def test_a_gap_in_which_the_counter_may_have_gone_round_is_void(root, after_uj):
    package = zone(root, "intel-rapl:0", "package-0", 0)
    counted = joules(root, [package], [[100_000_000_000], [after_uj]], every_s=3600)
    assert (counted.joules, counted.reason) == (None, "counter_reset")


def test_a_wrap_between_two_readings_close_together_is_one(root):
    package = zone(root, "intel-rapl:0", "package-0", 0)
    assert joules(root, [package], [[RANGE_UJ - 50_000], [50_000]], every_s=0.0).joules == pytest.approx(0.1)


def test_the_run_after_a_reset_is_counted_again(root):
    package = zone(root, "intel-rapl:0", "package-0", 0)
    clock = VirtualClock()
    meter = RaplMeter(root, clock=clock)
    readings = []
    for value in (100_000_000_000, 1_000_000, 9_000_000):
        package.write_text(f"{value}\n")
        readings.append(meter.read().cpu_energy_uj)
        clock.pass_s(0.2)
    assert metrics.wrapping_counter_energy_j(readings[1:], RANGE_UJ).joules == pytest.approx(8)


def test_a_wrap_without_a_known_range_voids_the_reading(root):
    package = zone(root, "intel-rapl:0", "package-0", 0, range_uj=None)
    counted = joules(root, [package], [[90_000_000], [10_000_000]])
    assert (counted.joules, counted.reason) == (None, "range_unknown")


def test_a_machine_without_rapl_is_refused_with_a_way_out(tmp_path):
    with pytest.raises(MeterUnavailable, match="intel_rapl_msr"):
        RaplMeter(tmp_path / "missing")


def test_a_zone_that_leads_nowhere_as_in_a_container_is_no_package(root):
    root.mkdir()
    (root / "intel-rapl:0").symlink_to(root / "devices" / "intel-rapl:0")
    with pytest.raises(MeterUnavailable, match="containers usually hide it"):
        RaplMeter(root)


def test_an_unreadable_counter_is_refused_with_the_command_that_helps(root, monkeypatch):
    package = zone(root, "intel-rapl:0", "package-0", 0)
    real = type(package).read_text

    def read_text(path, *args, **kwargs):
        if path == package:
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **kwargs)

    monkeypatch.setattr(type(package), "read_text", read_text)
    with pytest.raises(MeterUnavailable, match=r"sudo chmod a\+r .*energy_uj") as caught:
        RaplMeter(root)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("content", ["", "not a number"])
def test_a_broken_counter_at_the_start_is_refused(root, content):
    zone(root, "intel-rapl:0", "package-0", content)
    with pytest.raises(MeterUnavailable, match="gives no number"):
        RaplMeter(root)


def test_a_counter_that_vanishes_in_mid_run_is_none_with_a_reason(root):
    package = zone(root, "intel-rapl:0", "package-0", 7_000_000)
    meter = RaplMeter(root)
    assert meter.read().cpu_energy_uj == 7_000_000
    package.unlink()
    assert meter.read().cpu_energy_uj is None
    assert "energy_uj" in meter.info().reasons["cpu_energy_uj"]


def test_the_cpu_is_named(root, tmp_path):
    zone(root, "intel-rapl:0", "package-0", 0)
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: AMD Ryzen 9 7950X\nmodel name\t: AMD Ryzen 9 7950X\n")
    info = RaplMeter(root, cpuinfo=cpuinfo).info()
    assert (info.device_name, info.device_kind, info.energy_source) == ("AMD Ryzen 9 7950X", "cpu", "rapl")
    assert RaplMeter(root, cpuinfo=tmp_path / "missing").info().device_name is None
