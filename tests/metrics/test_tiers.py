"""A tier is earned by rule, and each missing condition is said."""

from dataclasses import replace

import pytest
from asyncenergy_controller.metrics import TierEvidence, derive_tier, recompute_run

from .runs import made_run

TIER_A = TierEvidence(
    energy_source="counter",
    energy_boundary="gpu_board",
    best_j=16_800,
    counter_j=16_800,
    integrated_j=16_850,
    drift_pct=0.3,
    drift_standard_error_pct=0.05,
    thermal_throttle_pct=0,
    coverage_pct=99.0,
    longest_gap_s=0.4,
    duration_s=60,
    idle_empty_w=80,
    idle_loaded_w=125,
    other_processes=0,
    wall_j=21_000,
    wall_coverage_pct=100,
    wall_above_gpu_pct=100,
)


def test_all_conditions_make_tier_a():
    assert derive_tier(TIER_A) == ("A", ())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"counter_j": None, "counter_reason": "counter_reset", "drift_pct": None}, "not both there"),
        ({"drift_pct": 3.01}, "differ by 3.01 %"),
        ({"drift_pct": -3.01}, "differ by -3.01 %"),
        ({"thermal_throttle_pct": 0.1}, "Thermally throttled in 0.10 %"),
        ({"thermal_throttle_pct": None}, "Thermally throttled in an unknown amount"),
        ({"coverage_pct": 94.9}, "covered 94.90 %; tier A needs 95 %"),
        ({"longest_gap_s": 1.01}, "hole is 1.01 s"),
        ({"duration_s": 59.9}, "59.90 s long"),
        ({"idle_empty_w": None}, "baseline of the empty device"),
        ({"idle_loaded_w": None}, "baseline of the loaded"),
        ({"other_processes": 1}, "1 other process"),
        ({"other_processes": None}, "not known"),
    ],
)
def test_one_missing_condition_makes_tier_b_and_is_said(change, said):
    tier, reasons = derive_tier(replace(TIER_A, **change))
    assert tier == "B"
    assert any(said in reason for reason in reasons)


def test_a_drift_within_twice_its_sampling_error_is_no_drift():
    assert derive_tier(replace(TIER_A, drift_pct=3.9, drift_standard_error_pct=2.0))[0] == "A"
    assert derive_tier(replace(TIER_A, drift_pct=4.1, drift_standard_error_pct=2.0))[0] == "B"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"wall_coverage_pct": None, "wall_j": None, "wall_above_gpu_pct": None}, "No wall meter"),
        ({"wall_coverage_pct": 74.9}, "covered 74.9 % of the window"),
        ({"wall_above_gpu_pct": 94.0}, "94.00 % of the 10 s means"),
        ({"wall_j": 16_000}, "the wall drew 16,000.00 J, the device 16,800.00 J"),
        ({"counter_j": None, "counter_reason": "counter_unsupported"}, "no energy counter"),
    ],
)
def test_without_a_good_wall_reading_or_a_counter_the_tier_is_c(change, said):
    tier, reasons = derive_tier(replace(TIER_A, **change))
    assert tier == "C"
    assert any(said in reason for reason in reasons)


@pytest.mark.parametrize(
    "change", [{"energy_source": "simulated"}, {"best_j": None}, {"energy_boundary": "wall"}], ids=str
)
def test_without_a_device_reading_there_is_no_tier(change):
    tier, reasons = derive_tier(replace(TIER_A, **change))
    assert tier is None
    assert len(reasons) == 1


def fully_metered(**changes):
    run = made_run(seconds=60, lead_s=40, watts=lambda t: 280 if t >= 38 else 125 if t >= 20 else 80)
    n = len(run["trace"]["t_s"])
    run["trace"] |= {
        "wall_power_w": [w + 70 for w in run["trace"]["gpu_power_w"]],
        "throttle_mask": [0] * n,
        "other_processes": [0] * n,
    }
    ledger = [
        {"phase": "empty_idle", "t_start_s": 0, "t_end_s": 19},
        {"phase": "loaded_idle", "t_start_s": 21, "t_end_s": 37},
    ]
    return run | {"ledger": ledger} | changes


def test_a_fully_metered_run_is_tier_a():
    figures = recompute_run(fully_metered())
    assert (figures.tier, figures.tier_reasons) == ("A", ())


def test_a_foreign_process_during_the_run_costs_tier_a():
    run = fully_metered()
    run["trace"]["other_processes"][250] = 1
    assert recompute_run(run).tier == "B"


@pytest.mark.parametrize("hole", [(38.9, 40.9), (99.1, 101.1)])
def test_a_hole_of_2_s_over_an_edge_of_the_window_costs_tier_a(hole):
    # The window lasts from 40 s to 100 s: less than 1 s of the hole lies in it, but its edge was not seen.
    run = fully_metered()
    kept = [i for i, t in enumerate(run["trace"]["t_s"]) if not hole[0] < t < hole[1]]
    run["trace"] = {name: [column[i] for i in kept] for name, column in run["trace"].items()}
    figures = recompute_run(run)
    assert (figures.longest_gap_s, figures.tier) == (pytest.approx(2.2), "B")
    assert figures.tier_reasons == ("The longest hole is 2.20 s; tier A allows 1 s.",)


@pytest.mark.parametrize("readable", [lambda t: t < 98, lambda t: t > 43, lambda t: t < 80 or t > 88])
def test_a_wall_that_covered_three_quarters_is_judged_by_what_it_covered(readable):
    # The window lasts from 40 s to 100 s; a plug that answers late has no reading of its end.
    run = fully_metered()
    run["trace"]["wall_power_w"] = [
        w if readable(t) else None for t, w in zip(run["trace"]["t_s"], run["trace"]["wall_power_w"], strict=True)
    ]
    figures = recompute_run(run)
    assert 75 <= figures.wall_coverage_pct < 100
    assert (figures.wall_above_gpu_pct, figures.tier) == (100, "A")


def test_a_wall_that_missed_an_end_and_saw_less_than_the_device_makes_tier_c():
    run = fully_metered()
    run["trace"]["wall_power_w"] = [200.0 if t < 98 else None for t in run["trace"]["t_s"]]
    figures = recompute_run(run)
    assert (figures.wall_joules, figures.wall_reason) == (None, "window_not_sampled")
    assert (figures.wall_above_gpu_pct, figures.tier) == (0, "C")
    assert "In total the wall drew 10,000.00 J, the device 14,000.00 J." in figures.tier_reasons


def test_a_wall_that_covered_less_than_three_quarters_makes_tier_c():
    run = fully_metered()
    run["trace"]["wall_power_w"] = [350.0 if t < 84 else None for t in run["trace"]["t_s"]]
    figures = recompute_run(run)
    assert (figures.tier, len(figures.tier_reasons)) == ("C", 1)
    assert "covered 73.0 % of the window" in figures.tier_reasons[0]


def test_baselines_of_the_bundle_count_for_their_own_machine_and_model():
    run = fully_metered(ledger=[], node_hash="n1", model="m1")
    baselines = [
        {"node_hash": "n2", "kind": "empty", "mean_gpu_w": 1.0},
        {"node_hash": "n1", "kind": "empty", "mean_gpu_w": 80.0},
        {"node_hash": "n1", "kind": "loaded", "model": "m2", "mean_gpu_w": 2.0},
        {"node_hash": "n1", "kind": "loaded", "model": "m1", "mean_gpu_w": 125.0},
    ]
    assert recompute_run(run).tier == "B"
    figures = recompute_run(run, baselines=baselines)
    assert (figures.idle_empty_w, figures.idle_loaded_w, figures.tier) == (80.0, 125.0, "A")
