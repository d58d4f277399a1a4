"""From a run's columns to its figures: scores, tokens, speed, the device, the cost model, and what is withheld."""

import json
from dataclasses import asdict

import pytest
from asyncenergy_controller.metrics import REASONS, fit_cost_model, recompute_run

from .runs import made_run, steps


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


def test_a_first_token_of_many_that_came_with_the_last_was_stamped_after_a_blocking_call():
    run = made_run(seconds=20, spans=[(0, 10), (10, 20)], completion_tokens=[91, 81])
    run["items"]["ttft_s"] = [10.0, 10.0]
    assert recompute_run(run).ttft_p50_s is recompute_run(run).itl_mean_ms is None
    run["items"] |= {"ttft_s": [1.0, 10.0], "completion_tokens": [91, 1]}
    figures = recompute_run(run)
    assert (figures.ttft_p50_s, figures.itl_mean_ms) == (pytest.approx(5.5), pytest.approx(100))


def test_throttling_by_heat_and_by_the_power_cap_are_told_apart():
    run = made_run(seconds=60)
    masks = [0x1, 0x4, 0x8, 0x20, 0x40, 0x80, 0x2, 0x10, 0x100, 0x4 | 0x40]
    run["trace"]["throttle_mask"] = [masks[i % 10] for i in steps(run)]
    figures = recompute_run(run)
    assert figures.thermal_throttle_pct == pytest.approx(50, abs=0.3)
    assert figures.power_cap_throttle_pct == pytest.approx(20, abs=0.3)
    run["trace"]["throttle_mask"] = [None for _ in steps(run)]
    assert recompute_run(run).thermal_throttle_pct is None


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


@pytest.mark.parametrize("name", ["counter_period_s", "cpu_energy_range_uj"])
@pytest.mark.parametrize("value", ["0.1", [0.1], {"s": 0.1}, True, -0.1, 1e-320, float("inf"), float("nan")])
def test_a_sensors_number_that_is_none_is_named(name, value):
    run = made_run(sensor={name: value})
    run["trace"]["cpu_energy_uj"] = [float(i % 7) for i in steps(run)]
    with pytest.raises(ValueError, match=f"sensor.{name} must be a number over 0, got"):
        recompute_run(run)


@pytest.mark.parametrize("unknown", [None, 0])
def test_what_a_sensor_does_not_tell_is_unknown(unknown):
    run = made_run(sensor={"counter_period_s": unknown, "cpu_energy_range_uj": unknown})
    run["trace"]["cpu_energy_uj"] = [float(i % 7) for i in steps(run)]
    figures = recompute_run(run)
    assert (figures.phase_lock_r, figures.cpu_reason) == (None, "range_unknown")


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
