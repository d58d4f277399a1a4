"""From a run's trace to its energy: counter, integration, package and wall, and when each is withheld."""

import pytest
from asyncenergy_controller.metrics import recompute_run
from hypothesis import given, settings
from hypothesis import strategies as st

from .runs import made_run, steps


def test_280_w_for_a_minute():
    figures = recompute_run(made_run(seconds=60, watts=280))
    assert figures.total_joules_gpu == pytest.approx(16_800)
    assert figures.total_joules_gpu_counter == pytest.approx(16_800)
    assert figures.mean_gpu_w == pytest.approx(280)
    assert figures.run_duration_s == pytest.approx(60)
    assert figures.counter_vs_integration_pct_diff == pytest.approx(0, abs=1e-9)


def test_idle_around_the_items_is_no_part_of_the_run():
    figures = recompute_run(made_run(seconds=5, lead_s=20, tail_s=20, watts=lambda t: 300 if 20 <= t <= 25 else 30))
    assert figures.total_joules_gpu_best == pytest.approx(1500, abs=0.2 * 270)


def test_the_edges_of_the_window_are_interpolated():
    figures = recompute_run(made_run(seconds=10, watts=100, spans=[(0.05, 3.33), (3.4, 9.87)]))
    assert figures.total_joules_gpu_best == pytest.approx(982)
    assert figures.item_energy_j == pytest.approx((328, 647))
    assert figures.remainder_j == pytest.approx(7)


def test_two_items_in_flight_at_200_w():
    figures = recompute_run(made_run(seconds=10, watts=200, spans=[(0, 10), (0, 10)]))
    assert figures.item_energy_j == pytest.approx((1000, 1000))
    assert figures.total_joules_gpu_best == pytest.approx(2000)


def test_an_item_of_a_minute_at_300_w():
    figures = recompute_run(made_run(seconds=60, watts=300, spans=[(0, 60)]))
    assert figures.item_energy_j == (pytest.approx(18_000),)


def test_a_counter_that_fell_is_void_and_integration_takes_its_place():
    run = made_run(seconds=60, watts=280)
    middle = len(run["trace"]["t_s"]) // 2
    run["trace"]["gpu_energy_mj"] = [10e6 if i < 9 else 12e6 if i < middle else 3e6 for i in steps(run)]
    figures = recompute_run(run)
    assert (figures.total_joules_gpu_counter, figures.counter_reason) == (None, "counter_reset")
    assert figures.total_joules_gpu_best == pytest.approx(16_800)
    assert figures.energy_source == "integrated"
    assert figures.counter_vs_integration_pct_diff is None
    assert figures.tier != "A"
    assert sum(figures.item_energy_j) == pytest.approx(16_800)


def test_an_integral_of_327_j_beside_a_counter_of_187_j_shows_how_far_they_are_apart():
    run = made_run(seconds=5, watts=327 / 5)
    run["trace"]["gpu_energy_mj"] = [187e3 / 5 * t for t in run["trace"]["t_s"]]
    figures = recompute_run(run)
    assert (figures.total_joules_gpu_counter, figures.total_joules_gpu) == (pytest.approx(187), pytest.approx(327))
    assert figures.counter_vs_integration_pct_diff == pytest.approx(100 * (327 - 187) / 187)
    assert figures.total_joules_gpu_best == figures.total_joules_gpu_counter


def test_a_gpu_without_counter_is_integrated_and_never_0():
    figures = recompute_run(made_run(seconds=100, watts=26, counter=False))
    assert figures.total_joules_gpu_best == pytest.approx(2600)
    assert (figures.energy_source, figures.counter_reason) == ("integrated", "counter_unsupported")
    assert figures.total_joules_gpu_counter is None
    assert figures.tier == "C"


def test_a_counter_readable_only_from_the_middle_does_not_bill_its_life():
    run = made_run(seconds=60, watts=280)
    run["trace"]["gpu_energy_mj"] = [None if t < 10 else 5e9 + 280e3 * t for t in run["trace"]["t_s"]]
    figures = recompute_run(run)
    assert (figures.total_joules_gpu_counter, figures.counter_reason) == (None, "window_not_sampled")
    assert figures.total_joules_gpu_best == pytest.approx(16_800)


def test_a_counter_readable_just_before_the_items_is_used():
    run = made_run(seconds=60, watts=280)
    run["trace"]["gpu_energy_mj"] = [None if t < 1 else 5e9 + 280e3 * t for t in run["trace"]["t_s"]]
    assert recompute_run(run).total_joules_gpu_counter == pytest.approx(16_800)


def test_a_counter_that_stands_still_measured_nothing():
    run = made_run(seconds=60, watts=280)
    run["trace"]["gpu_energy_mj"] = [0 for _ in steps(run)]
    figures = recompute_run(run)
    assert (figures.total_joules_gpu_counter, figures.counter_reason) == (None, "counter_stuck")
    assert figures.energy_source == "integrated"


def test_a_run_shorter_than_the_counters_step_is_integrated_and_never_0_joules():
    run = made_run(seconds=0.06, watts=280, lead_s=0.02, tail_s=0.02, period_s=0.01)
    run["trace"]["gpu_energy_mj"] = [0 if t < 0.09 else 28_000 for t in run["trace"]["t_s"]]
    figures = recompute_run(run)
    assert (figures.total_joules_gpu_counter, figures.counter_reason) == (None, "counter_stuck")
    assert (figures.energy_source, figures.total_joules_gpu_best) == ("integrated", pytest.approx(16.8))
    run["trace"]["gpu_power_w"] = [None for _ in steps(run)]
    figures = recompute_run(run)
    assert (figures.total_joules_gpu_best, figures.joules_per_item) == (None, None)


def test_zero_watts_are_a_failed_reading():
    run = made_run(seconds=10, watts=100, counter=False)
    run["trace"]["gpu_power_w"][30] = 0.0
    assert recompute_run(run).total_joules_gpu == pytest.approx(1000)
    run["trace"]["gpu_power_w"] = [0.0 for _ in steps(run)]
    figures = recompute_run(run)
    assert (figures.total_joules_gpu_best, figures.energy_reason) == (None, "power_unsupported")


def test_a_sleep_of_40_s_voids_the_integral_and_not_the_counter():
    run = made_run(seconds=60, watts=280)
    run["trace"]["gpu_power_w"] = [None if 10 < t < 50 else 280 for t in run["trace"]["t_s"]]
    figures = recompute_run(run)
    assert (figures.total_joules_gpu, figures.integration_reason) == (None, "hole_over_30_s")
    assert figures.total_joules_gpu_best == pytest.approx(16_800)
    assert (figures.hole_count, figures.longest_gap_s) == (1, pytest.approx(40))
    assert figures.coverage_pct == pytest.approx(100 * (1 - 39.6 / 60))


def test_a_hole_of_40_s_over_an_edge_of_the_window_voids_the_counter_too():
    run = made_run(seconds=60, lead_s=35, watts=lambda t: 300 if t >= 35 else 30)
    kept = [i for i in steps(run) if not 1 < run["trace"]["t_s"][i] < 41]
    run["trace"] = {name: [column[i] for i in kept] for name, column in run["trace"].items()}
    figures = recompute_run(run)
    assert (figures.total_joules_gpu_counter, figures.counter_reason) == (None, "hole_over_30_s")
    assert (figures.total_joules_gpu_best, figures.energy_reason) == (None, "hole_over_30_s")
    assert set(figures.item_energy_j) == {None}


def test_a_counter_unread_for_40_s_gives_the_run_its_energy_and_no_item_inside_a_guess():
    run = made_run(seconds=60, watts=lambda t: 500 if t % 6 < 3 else 100)
    counter_mj, t_s = run["trace"]["gpu_energy_mj"], run["trace"]["t_s"]
    run["trace"]["gpu_energy_mj"] = [None if 9.9 < t < 50.1 else mj for t, mj in zip(t_s, counter_mj, strict=True)]
    figures = recompute_run(run)
    assert figures.total_joules_gpu_best == pytest.approx(18_000)
    # Items of 3 s from 2 s on: the third to the seventeenth have an edge in the hole from 9.8 s to 50.2 s.
    assert [i for i, energy in enumerate(figures.item_energy_j) if energy is not None] == [0, 1, 17, 18, 19]


def test_a_hole_outside_the_window_voids_nothing():
    run = made_run(seconds=20, lead_s=60, watts=280)
    run["trace"]["gpu_power_w"] = [None if 10 < t < 50 else 280 for t in run["trace"]["t_s"]]
    assert recompute_run(run).total_joules_gpu == pytest.approx(5600)


def test_items_that_outlast_the_sampling_have_no_energy():
    figures = recompute_run(made_run(seconds=10, spans=[(0, 20)]))
    assert figures.total_joules_gpu_best is None
    assert figures.counter_reason == figures.integration_reason == figures.energy_reason == "window_not_sampled"
    assert figures.item_energy_j == (None,)
    assert (figures.tier, figures.joules_per_item, figures.jpc_ci_reason) == (None, None, "energy_unmeasured")


def test_rapl_wraps_twice_inside_a_run_and_both_are_corrected():
    range_uj = 1e9
    run = made_run(seconds=50, watts=50, counter=False, energy_boundary="cpu_package", energy_source="rapl")
    run["trace"] |= {
        "gpu_power_w": [None for _ in steps(run)],
        "cpu_energy_uj": [(50e6 * t + 9e8) % range_uj for t in run["trace"]["t_s"]],
    }
    void = recompute_run(run)
    assert (void.total_joules_gpu_best, void.counter_reason, void.cpu_reason) == (
        None,
        "range_unknown",
        "range_unknown",
    )
    figures = recompute_run({**run, "sensor": {"cpu_energy_range_uj": range_uj}})
    assert figures.total_joules_gpu_best == figures.cpu_joules == pytest.approx(2500)
    assert (figures.energy_source, figures.tier) == ("rapl", "C")
    assert figures.coverage_pct == pytest.approx(100)


def test_a_simulated_run_keeps_the_word_and_has_no_tier():
    figures = recompute_run(made_run(energy_source="simulated"))
    assert (figures.energy_source, figures.tier) == ("simulated", None)


def test_only_a_wall_meter_measures_the_wall():
    run = made_run(seconds=60, counter=False, energy_boundary="wall")
    run["trace"] |= {"gpu_power_w": [None for _ in steps(run)], "wall_power_w": [400.0 for _ in steps(run)]}
    figures = recompute_run(run)
    assert figures.total_joules_gpu_best == figures.wall_joules == pytest.approx(24_000)
    assert (figures.total_joules_gpu, figures.node_overhead_ratio, figures.tier) == (None, None, None)


def test_a_high_wall_sample_is_kept_and_counted():
    run = made_run(seconds=60)
    run["trace"]["wall_power_w"] = [1500.0 if i == 100 else 400.0 for i in steps(run)]
    figures = recompute_run(run)
    assert figures.wall_joules == pytest.approx(400 * 60 + 1100 * 0.2)
    assert (figures.peak_wall_w, figures.wall_spike_count) == (1500, 1)


def test_the_wall_is_read_beside_the_device():
    run = made_run(seconds=60, watts=280)
    run["trace"]["wall_power_w"] = [350.0 if i % 10 == 0 else None for i in steps(run)]
    figures = recompute_run(run)
    assert figures.wall_joules == pytest.approx(21_000)
    assert figures.node_overhead_ratio == pytest.approx(1.25)
    assert figures.wall_coverage_pct == pytest.approx(100)
    assert figures.wall_above_gpu_pct == 100
    assert figures.tier == "B"


def test_a_wall_meter_slower_than_2_s_covers_nothing():
    run = made_run(seconds=60, watts=280)
    run["trace"]["wall_power_w"] = [350.0 if i % 15 == 0 else None for i in steps(run)]
    figures = recompute_run(run)
    assert (figures.wall_coverage_pct, figures.tier) == (0, "C")


def test_a_wall_below_the_device_is_seen_in_10_s_means():
    run = made_run(seconds=60, watts=280)
    run["trace"]["wall_power_w"] = [100.0 if 12 <= t < 22 else 350.0 for t in run["trace"]["t_s"]]
    assert recompute_run(run).wall_above_gpu_pct == pytest.approx(100 * 5 / 6)


def test_gaps_of_up_to_two_periods_are_no_holes():
    run = made_run(seconds=60)
    run["trace"]["gpu_power_w"] = [None if i % 7 == 0 else 280.0 for i in steps(run)]
    assert recompute_run(run).hole_count == 0
    run["trace"]["gpu_power_w"] = [None if i % 20 in (0, 1) else 280.0 for i in steps(run)]
    figures = recompute_run(run)
    assert figures.hole_count == 15
    assert figures.coverage_pct == pytest.approx(100 * (1 - 15 * 0.2 / 60))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 300), st.integers(0, 300), st.floats(10, 700))
def test_padding_moves_no_headline(samples_before, samples_after, idle_w):
    def padded_by(before: int, after: int):
        def load(t: float) -> float:
            sample = round(t / 0.2) - before - 5
            # The sample beside each edge belongs to the load: the edges are read between two samples.
            return 300 + 40 * (sample % 7) if -1 <= sample <= 101 else idle_w

        return recompute_run(
            made_run(
                seconds=20,
                lead_s=1 + 0.2 * before,
                tail_s=1 + 0.2 * after,
                watts=load,
                correct=[1.0, 0.0] * 10,
            )
        )

    short, padded = padded_by(0, 0), padded_by(samples_before, samples_after)
    for name in ("joules_per_correct_answer", "jpc_ci_low", "jpc_ci_high", "total_joules_gpu", "run_duration_s"):
        assert getattr(padded, name) == pytest.approx(getattr(short, name))
