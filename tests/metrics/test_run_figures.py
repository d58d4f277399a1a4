"""From a run's columns to its figures: golden vectors, and what is withheld."""

import json
from dataclasses import asdict

import pytest
from asyncenergy_controller.metrics import REASONS, fit_cost_model, recompute_run
from hypothesis import given, settings
from hypothesis import strategies as st

from .runs import made_run


def steps(run):
    return range(len(run["trace"]["t_s"]))


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


def test_the_headline_is_divided_never_read():
    run = made_run(seconds=297.671, watts=280, spans=[(0, 297.671)] * 100, correct=[1] * 81 + [0] * 19)
    figures = recompute_run({**run, "joules_per_correct_answer": 1.0, "accuracy": 1.0, "total_joules_gpu": 5})
    assert figures.total_joules_gpu_best == pytest.approx(83_348, abs=0.5)
    assert figures.joules_per_correct_answer == pytest.approx(1029.0, abs=0.05)
    assert figures.accuracy == 0.81


def test_part_scores_average_and_the_headline_rounds_their_sum():
    figures = recompute_run(made_run(seconds=10, watts=100, spans=[(i, i + 1) for i in range(10)], correct=[0.26] * 10))
    assert (figures.accuracy, figures.n_correct) == (pytest.approx(0.26), 3)
    assert figures.joules_per_correct_answer == pytest.approx(1000 / 3)


def test_an_item_without_score_was_not_answered_correctly():
    figures = recompute_run(made_run(correct=[1.0] * 10 + [None] * 10))
    assert (figures.n_items, figures.n_correct, figures.accuracy) == (20, 10, 0.5)


def test_a_missing_token_count_withholds_every_figure_of_tokens():
    run = made_run()
    run["items"]["completion_tokens"][3] = None
    figures = recompute_run(run)
    assert figures.total_completion_tokens is None
    assert figures.joules_per_token is figures.pooled_tokens_per_second is figures.mean_tokens_per_second is None
    assert figures.total_prompt_tokens == 1000


def test_speed_is_pooled_over_the_window_and_meant_over_items():
    run = made_run(seconds=20, spans=[(0, 5), (10, 20)], completion_tokens=[50, 300])
    figures = recompute_run(run)
    assert figures.pooled_tokens_per_second == pytest.approx(350 / 20)
    assert figures.mean_tokens_per_second == pytest.approx((10 + 30) / 2)
    assert figures.joules_per_token == pytest.approx(280 * 20 / 350)


def test_first_tokens_count_only_when_every_request_streamed():
    run = made_run(seconds=20, spans=[(0, 10), (10, 20)], completion_tokens=[91, 81])
    run["items"]["ttft_s"] = [1.0, 2.0]
    figures = recompute_run(run)
    assert (figures.ttft_p50_s, figures.ttft_p95_s) == (pytest.approx(1.5), pytest.approx(1.95))
    assert figures.itl_mean_ms == pytest.approx(1e3 * 17 / 170)
    for bad in ([1.0, None], [1.0, 10.5], [1.0, -0.1]):
        run["items"]["ttft_s"] = bad
        assert recompute_run(run).ttft_p50_s is recompute_run(run).itl_mean_ms is None
    run["items"]["ttft_s"] = [1.0, 2.0]
    assert recompute_run({**run, "streaming_used": False}).ttft_p50_s is None


def test_throttling_by_heat_and_by_the_power_cap_are_told_apart():
    run = made_run(seconds=60)
    masks = [0x1, 0x4, 0x8, 0x20, 0x40, 0x80, 0x2, 0x10, 0x100, 0x4 | 0x40]
    run["trace"]["throttle_mask"] = [masks[i % 10] for i in steps(run)]
    figures = recompute_run(run)
    assert figures.thermal_throttle_pct == pytest.approx(50, abs=0.3)
    assert figures.power_cap_throttle_pct == pytest.approx(20, abs=0.3)
    run["trace"]["throttle_mask"] = [None for _ in steps(run)]
    assert recompute_run(run).thermal_throttle_pct is None


def test_gaps_of_up_to_two_periods_are_no_holes():
    run = made_run(seconds=60)
    run["trace"]["gpu_power_w"] = [None if i % 7 == 0 else 280.0 for i in steps(run)]
    assert recompute_run(run).hole_count == 0
    run["trace"]["gpu_power_w"] = [None if i % 20 in (0, 1) else 280.0 for i in steps(run)]
    figures = recompute_run(run)
    assert figures.hole_count == 15
    assert figures.coverage_pct == pytest.approx(100 * (1 - 15 * 0.2 / 60))


def test_items_in_step_with_the_counter_are_phase_locked():
    spans = [(i * 2.5, i * 2.5 + 2) for i in range(20)]
    sensor = {"counter_period_s": 0.1}
    assert recompute_run(made_run(spans=spans, sensor=sensor)).phase_lock_r == pytest.approx(1)
    spread = [(i * 2.53, i * 2.53 + 2) for i in range(20)]
    assert recompute_run(made_run(spans=spread, sensor=sensor)).phase_lock_r < 0.2
    assert recompute_run(made_run(spans=spans[:9], sensor=sensor)).phase_lock_r is None
    assert recompute_run(made_run(spans=spans)).phase_lock_r is None


def test_the_power_shape_of_a_known_curve():
    run = made_run(seconds=60, watts=lambda t: 400 if round(t / 0.2) % 2 else 200)
    run["trace"]["gpu_power_instant_w"] = [753.0 if i == 60 else 250.0 for i in steps(run)]
    figures = recompute_run(run)
    assert figures.peak_gpu_w == 753
    assert figures.peak_sampled_gpu_w == 400
    assert figures.gpu_power_cv == pytest.approx(1 / 3, rel=0.01)
    assert figures.gpu_power_crest_factor == pytest.approx(4 / 3, rel=0.01)
    assert figures.gpu_power_p95_p50_ratio == pytest.approx(2)
    assert figures.gpu_power_jaggedness_w_per_s == pytest.approx(1000)
    assert figures.mean_gpu_w == pytest.approx(300, rel=0.01)


def test_device_figures_are_those_of_the_window():
    run = made_run(seconds=60, lead_s=10, tail_s=10)
    run["trace"]["gpu_temp_c"] = [90 if t < 9 or t > 71 else 40 + t / 10 for t in run["trace"]["t_s"]]
    run["trace"]["gpu_util_pct"] = [None if t < 40 else 50 for t in run["trace"]["t_s"]]
    figures = recompute_run(run)
    assert (figures.gpu_temp_c_start, figures.gpu_temp_c_end) == (pytest.approx(41), pytest.approx(47))
    assert figures.temperature_drift_c == pytest.approx(6)
    assert figures.peak_gpu_temp_c == pytest.approx(47)
    assert figures.mean_gpu_util_pct == 50
    assert figures.mean_gpu_mem_used_mib is None


def test_a_slow_first_item_stands_out():
    spans = [(0, 8), *((8 + 2 * i, 10 + 2 * i) for i in range(20))]
    assert recompute_run(made_run(spans=spans)).first_item_ratio == pytest.approx(4)


def test_the_cost_model_is_fitted_on_uncached_tokens():
    n = 20
    prompt, cached = [100 + 40 * i for i in range(n)], [(37 * i) % 90 for i in range(n)]
    completion = [30 + (53 * i) % 97 for i in range(n)]
    lengths_s = [0.2 + 0.004 * (p - c) + 0.03 * k for p, c, k in zip(prompt, cached, completion, strict=True)]
    edges = [sum(lengths_s[:i]) for i in range(n + 1)]
    run = made_run(
        seconds=edges[-1],
        watts=100,
        spans=list(zip(edges[:-1], edges[1:], strict=True)),
        prompt_tokens=prompt,
        completion_tokens=completion,
    )
    run["items"]["cached_prompt_tokens"] = cached
    model = recompute_run(run).cost_model
    assert model.alpha_j_per_prompt_token == pytest.approx(0.4)
    assert model.beta_j_per_completion_token == pytest.approx(3)
    assert model.e_fixed_j == pytest.approx(20, rel=1e-3)
    uncached = [p - c for p, c in zip(prompt, cached, strict=True)]
    assert model == fit_cost_model(uncached, completion, recompute_run(run).item_energy_j)


def test_a_cost_model_is_withheld_with_its_reason():
    assert recompute_run(made_run()).cost_model_reason == "tokens_vary_too_little"
    assert recompute_run(made_run(spans=[(0, 30), (30, 60)])).cost_model_reason == "too_few_items"
    assert recompute_run(made_run(settings={"prefix_cache": "on"})).cost_model_reason == "cached_tokens_unknown"
    assert recompute_run(made_run(spans=[(0, 99)])).cost_model_reason == "energy_unmeasured"


def test_an_empty_run_has_no_figure_and_no_error():
    figures = recompute_run({})
    assert (figures.n_items, figures.n_correct, figures.accuracy, figures.tier) == (0, 0, None, None)
    assert figures.energy_reason == "no_items_window"
    assert figures.item_energy_j == figures.ledger == ()


def test_items_without_a_trace_have_scores_and_no_energy():
    figures = recompute_run({"items": made_run()["items"]})
    assert (figures.accuracy, figures.total_joules_gpu_best) == (1.0, None)
    assert figures.pooled_tokens_per_second == pytest.approx(800 / 60)


@pytest.mark.parametrize(
    ("table", "name", "values", "message"),
    [
        ("trace", "gpu_power_w", [1.0], "trace.gpu_power_w has 1 values"),
        ("items", "correct", [1.0], "items.correct has 1 values"),
        ("items", "t_end_s", [0.0] * 20, "item 0 ends at 0.0 s, before it starts at 2.0 s"),
        ("items", "correct", [2.0] * 20, "n_correct must be 0..20, got 40.0"),
    ],
)
def test_a_broken_column_is_named(table, name, values, message):
    run = made_run()
    run[table][name] = values
    with pytest.raises(ValueError, match=message):
        recompute_run(run)


def test_times_that_do_not_rise_are_refused():
    run = made_run()
    run["trace"]["t_s"][7] = run["trace"]["t_s"][6]
    with pytest.raises(ValueError, match=r"trace.t_s must rise strictly, got 1.2 then 1.2 at index 7"):
        recompute_run(run)


def test_figures_are_plain_numbers_and_every_reason_has_its_sentence():
    empty, whole = recompute_run({}), recompute_run(made_run())
    for figures in (empty, whole):
        json.dumps(asdict(figures), allow_nan=False)
        codes = {v for k, v in vars(figures).items() if k.endswith("_reason") and v is not None}
        assert codes <= REASONS.keys()


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
