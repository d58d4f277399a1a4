"""What the server derives from a run's samples."""

import json

import pytest

from scheduling.rollup import is_throttling, rolled_up


def columns(power, *, step=1.0, reasons=None, rapl=None):
    n = len(power)
    return {
        "t_s": [1000 + i * step for i in range(n)],
        "power_w": power,
        "throttle_reasons": reasons or [None] * n,
        "cpu_rapl_uj": rapl or [None] * n,
    }


def test_constant_power_is_energy_by_time():
    figures = rolled_up(columns([360.0] * 101))
    assert figures.sampled_wh == pytest.approx(10)
    assert sum(figures.wh) == pytest.approx(10)
    assert (figures.bucket_s, len(figures.wh), figures.p95_w, figures.n_samples) == (10, 10, 360, 101)


def test_a_ramp_has_its_profile_and_its_p95():
    figures = rolled_up(columns([float(i) for i in range(1001)]))
    assert figures.p95_w == pytest.approx(950)
    assert list(figures.wh) == sorted(figures.wh)
    assert sum(figures.wh) == pytest.approx(figures.sampled_wh)


def test_a_long_run_has_at_most_120_buckets():
    figures = rolled_up(columns([100.0] * 14_401))
    assert (len(figures.wh), figures.bucket_s) == (120, 120)


def test_missing_power_is_no_zero():
    figures = rolled_up(columns([100.0, None, 100.0, None, 100.0]))
    assert figures.sampled_wh == pytest.approx(100 * 4 / 3600)
    assert rolled_up(columns([None] * 5)).p95_w is None
    assert rolled_up(columns([None] * 5)).sampled_wh is None


def test_what_was_not_sampled_is_a_hole_in_the_profile():
    data = columns([100.0] * 100)
    data["t_s"][50:] = [t + 100 for t in data["t_s"][50:]]
    figures = rolled_up(data)
    assert figures.sampled_wh is None, "the energy of the hole was not measured"
    assert None in figures.wh
    assert figures.wh[0] == pytest.approx(100 * 10 / 3600)


@pytest.mark.parametrize(
    ("reasons", "throttles"),
    [
        ("none", False),
        ("gpuidle", False),
        ("sw_power_cap", False),
        ("sw_power_cap,hw_thermal", True),
        ("hw_slowdown", True),
        ("sw_thermal", True),
        ("hw_power_brake", True),
        ("display_clock, sync_boost", False),
        ("0x4", False),
        ("0x8", True),
        ("0x20", True),
        ("0x44", True),
        ("0x80", True),
        ("0x101", False),
    ],
)
def test_which_reasons_mean_that_the_card_slowed_down(reasons, throttles):
    assert is_throttling(reasons) == throttles


def test_throttled_seconds_are_counted_by_time():
    figures = rolled_up(columns([1.0] * 5, step=2.0, reasons=["none", "hw_thermal", "0x40", "none", "hw_thermal"]))
    assert figures.throttled_s == 4
    assert rolled_up(columns([1.0] * 5)).throttled_s is None, "nobody said anything"


def test_cpu_energy_is_the_counters_rise_and_a_fall_makes_it_unknown():
    assert rolled_up(columns([1.0] * 3, rapl=[5e6, None, 41e6])).cpu_wh == pytest.approx(0.01)
    assert rolled_up(columns([1.0] * 3, rapl=[10e6, 12e6, 3e6])).cpu_wh is None


def test_the_recorded_card_is_rolled_up_to_what_its_counter_says(shared_data):
    recorded = json.loads((shared_data / "h200_smollm2_trace.json").read_text())
    longest = max(recorded["runs"], key=lambda run: len(run["samples"]))["samples"]
    data = {
        "t_s": [s["ts"] for s in longest],
        "power_w": [s["power_w"] for s in longest],
        "throttle_reasons": [hex(s["throttle"]) for s in longest],
        "cpu_rapl_uj": [None] * len(longest),
    }
    counter_wh = (longest[-1]["energy_mj"] - longest[0]["energy_mj"]) / 3.6e6
    figures = rolled_up(data)
    assert figures.sampled_wh == pytest.approx(counter_wh, rel=0.01)
    assert sum(figures.wh) == pytest.approx(figures.sampled_wh)
    assert 80 < figures.p95_w < 700
