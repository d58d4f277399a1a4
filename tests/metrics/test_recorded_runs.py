"""The six runs recorded on an H200 give the figures published with the recording."""

import gzip
import json
from pathlib import Path

import pytest
from asyncenergy_controller.metrics import bootstrap_jpc_interval, recompute_run

from .runs import recorded_run

REFERENCE = Path(__file__).parents[2] / "bench" / "reference"

# dtype, task, batch: items, correct, completion tokens, truncated %, J, drift %, J/correct
PUBLISHED = {
    ("bfloat16", "arith", 1): (40, 7, 1974, 48, 5838.7, 0.01, 834.1),
    ("bfloat16", "gsm8k", 1): (15, 0, 2020, 27, 7491.3, 0.03, None),
    ("bfloat16", "arith", 16): (160, 27, 7583, 35, 3615.2, -0.03, 133.9),
    ("bfloat16", "gsm8k", 20): (40, 2, 5512, 32, 3186.9, -0.34, 1593.5),
    ("float32", "arith", 1): (40, 8, 1895, 30, 5235.8, 0.00, 654.5),
    ("float32", "gsm8k", 1): (15, 0, 2149, 27, 6333.2, 0.00, None),
}


@pytest.fixture(params=PUBLISHED, ids=lambda key: "-".join(map(str, key)))
def recorded(request, shared_data):
    return recompute_run(recorded_run(shared_data, *request.param)), PUBLISHED[request.param]


@pytest.fixture
def arith(shared_data):
    return recorded_run(shared_data, "bfloat16", "arith", 1)


def test_each_run_gives_its_published_figures(recorded):
    figures, (items, correct, tokens, truncated, joules, drift, per_correct) = recorded
    assert (figures.n_items, figures.n_correct, figures.total_completion_tokens) == (items, correct, tokens)
    assert figures.truncated_pct == pytest.approx(truncated, abs=0.51)
    assert figures.total_joules_gpu_best == pytest.approx(joules, abs=0.05)
    assert figures.counter_vs_integration_pct_diff == pytest.approx(drift, abs=0.0051)
    assert figures.joules_per_correct_answer == (per_correct and pytest.approx(per_correct, abs=0.05))
    assert figures.energy_source == "counter"


def test_items_and_remainder_make_up_the_run(recorded):
    figures, _ = recorded
    assert sum(figures.item_energy_j) + figures.remainder_j == pytest.approx(figures.total_joules_gpu_best)
    assert 0 <= figures.remainder_j < 0.01 * figures.total_joules_gpu_best


def test_the_ledger_adds_up_to_the_recording(recorded):
    figures, _ = recorded
    assert sum(entry.energy_j for entry in figures.ledger) == pytest.approx(figures.recording_joules, rel=0.01)
    assert abs(figures.ledger_difference_pct) < 1
    assert [entry.phase for entry in figures.ledger] == ["lead_in", "items", "tail"]


def test_sampling_was_whole_and_the_card_unthrottled(recorded):
    figures, _ = recorded
    assert figures.coverage_pct == pytest.approx(100)
    assert (figures.hole_count, figures.thermal_throttle_pct, figures.power_cap_throttle_pct) == (0, 0, 0)


def test_without_a_wall_meter_the_tier_is_c(recorded):
    figures, _ = recorded
    assert (figures.tier, figures.tier_reasons) == ("C", ("No wall meter was read.",))


def test_the_headline_stands_beside_its_accuracy_and_interval(arith):
    figures = recompute_run(arith)
    assert figures.accuracy == 0.175
    assert (figures.accuracy_ci_low, figures.accuracy_ci_high) == (
        pytest.approx(0.0875, abs=5e-5),
        pytest.approx(0.3195, abs=5e-5),
    )
    assert figures.jpc_ci_low < figures.joules_per_correct_answer < figures.jpc_ci_high
    items = arith["items"]
    again = bootstrap_jpc_interval(figures.item_energy_j, items["correct"], figures.total_joules_gpu_best, seed=77)
    assert (figures.jpc_ci_low, figures.jpc_ci_high) == pytest.approx(again, rel=0.05)


def test_zero_correct_leaves_the_headline_undefined(shared_data):
    figures = recompute_run(recorded_run(shared_data, "bfloat16", "gsm8k", 1))
    assert figures.joules_per_correct_answer is None
    assert (figures.jpc_ci_low, figures.jpc_ci_reason) == (None, "too_few_correct_answers")
    assert figures.joules_per_item == pytest.approx(499.4, abs=0.05)


def test_most_of_the_gross_is_the_loaded_waiting_card(arith):
    baseline = {"kind": "loaded", "mean_gpu_w": 125.8}
    figures = recompute_run(arith, baselines=[baseline])
    assert figures.net_joules == pytest.approx(figures.total_joules_gpu_best - 125.8 * figures.run_duration_s)
    assert figures.net_joules / figures.total_joules_gpu_best < 0.05


def test_padding_the_recording_with_idle_moves_no_figure_of_the_window(arith):
    padded = {**arith, "trace": dict(arith["trace"]), "items": dict(arith["items"])}
    pad = [0.2 * i for i in range(300)]
    trace, last_s, idle_mj = padded["trace"], arith["trace"]["t_s"][-1], 80.0 * 60 * 1e3
    end_mj = idle_mj + trace["gpu_energy_mj"][-1]
    trace["t_s"] = pad + [60 + t for t in trace["t_s"]] + [60 + last_s + 0.2 + t for t in pad]
    trace["gpu_energy_mj"] = (
        [80e3 * t for t in pad] + [idle_mj + e for e in trace["gpu_energy_mj"]] + [end_mj + 80e3 * t for t in pad]
    )
    for name in ("gpu_power_w", "gpu_util_pct", "gpu_mem_used_mib", "gpu_temp_c", "sm_clock_mhz", "throttle_mask"):
        trace[name] = [80.0] * 300 + trace[name] + [80.0] * 300
    trace["power_field"] = ["average"] * len(trace["t_s"])
    padded["items"] |= {name: [60 + t for t in padded["items"][name]] for name in ("t_start_s", "t_end_s")}
    before, after = vars(recompute_run(arith)), vars(recompute_run(padded))
    of_the_recording = {"ledger", "recording_joules", "peak_sampled_gpu_w"}
    for name in before.keys() - of_the_recording:
        assert after[name] == (pytest.approx(before[name]) if isinstance(before[name], float | tuple) else before[name])


@pytest.mark.parametrize("bundle", sorted(REFERENCE.glob("*.json.gz")), ids=lambda path: path.name)
def test_every_phase_of_the_reference_runs_has_its_energy_and_all_joules_their_place(bundle):
    sent = json.loads(gzip.decompress(bundle.read_bytes()))
    for run in sent["runs"]:
        figures = recompute_run(run, baselines=sent["baselines"])
        assert [(entry.phase, entry.reason) for entry in figures.ledger if entry.energy_j is None] == []
        assert figures.ledger_difference_pct == pytest.approx(0, abs=1)
        assert sum(figures.item_energy_j) + figures.remainder_j == pytest.approx(figures.total_joules_gpu_best)
        assert abs(figures.counter_vs_integration_pct_diff) < 1
