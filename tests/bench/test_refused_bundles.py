"""What is refused, through HTTP: a sentence that names the place, and nothing stored."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from bench.models import Node, Run, RunColumns, Submission
from tests.wire.bundles import make_bundle, make_items, make_run, make_trace, make_v2_bundle, make_v2_run

pytestmark = pytest.mark.django_db
SUBMISSIONS = "/api/v1/bench/submissions"


def post(client, body: bytes):
    return client.generic("POST", SUBMISSIONS, body, content_type="application/json")


def encoded(bundle: dict[str, Any]) -> bytes:
    return json.dumps(bundle).encode()


def changed(run: dict[str, Any], table: str, column: str, at: int, value: Any) -> dict[str, Any]:
    """The run with one value of one column replaced."""
    run = copy.deepcopy(run)
    run[table][column][at] = value
    return run


def assert_refused(answer, code: str, place: str, status: int = 400) -> None:
    body = answer.json()
    assert (answer.status_code, body["code"]) == (status, code), body
    assert place in body["detail"] or place in [error["attr"] for error in body["errors"]], body
    for model in (Submission, Run, RunColumns, Node):
        assert not model.objects.exists()


REFUSED: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "NaN": (lambda: encoded(make_bundle(make_run(temperature=float("nan")))), "not_finite", "NaN"),
    "infinity": (lambda: encoded(make_bundle(make_run(temperature=float("inf")))), "not_finite", "Infinity"),
    "1e999": (lambda: encoded(make_bundle()).replace(b"100.0", b"1e999", 1), "not_finite", "1e999"),
    "a NUL": (lambda: encoded(make_bundle(make_run(model="a\0b"))), "nul", "NUL"),
    "nesting": (lambda: b"[" * 100_000, "too_deep", "12 levels"),
    "no JSON": (lambda: b'{"runs" 1}', "unreadable", "no JSON"),
    "nothing": (lambda: b"", "unreadable", "no JSON"),
    "a list": (lambda: b"[]", "schema", "JSON object"),
    "a private key": (
        lambda: encoded(make_bundle(nodes=[{"node_hash": "a" * 64, "serial_number": "X"}])),
        "private_key",
        "nodes.0.serial_number",
    ),
    "a private path": (lambda: encoded(make_bundle(make_run(model="/home/me/x.gguf"))), "private_path", "runs.0.model"),
    "an unknown key": (lambda: encoded(make_bundle(make_run(surprise=1))), "schema", "runs.0.surprise"),
    "a number as text": (lambda: encoded(make_bundle(make_run(max_tokens="12"))), "schema", "runs.0.max_tokens"),
    "a naive time": (lambda: encoded(make_bundle(generated_at="2026-08-20T09:00:00")), "schema", "generated_at"),
    "no run": (lambda: encoded({**make_bundle(), "runs": []}), "schema", "runs"),
    "an unknown version": (lambda: encoded(make_bundle(schema_version="9")), "schema", "schema_version"),
    "negative energy, claimed": (
        lambda: encoded(make_v2_bundle(make_v2_run(total_joules_gpu_best=-5.0))),
        "negative",
        "runs.0.total_joules_gpu_best",
    ),
    "a number that no machine measures": (
        lambda: encoded(make_v2_bundle(make_v2_run(run_duration_s=1e300))),
        "too_large",
        "runs.0.run_duration_s",
    ),
    "a count that no table holds": (
        lambda: encoded(make_v2_bundle(make_v2_run(n_items=10**30))),
        "too_large",
        "runs.0.n_items",
    ),
    "a sample that no machine measures": (
        lambda: encoded(make_bundle(changed(make_run(), "trace", "gpu_power_w", 3, 1e200))),
        "too_large",
        "runs.0.trace.gpu_power_w.3",
    ),
    "negative memory of a machine": (
        lambda: encoded(make_bundle(nodes=[{"node_hash": "a" * 64, "ram_gb": -1.0}])),
        "negative",
        "nodes.0.ram_gb",
    ),
    "negative power": (
        lambda: encoded(make_bundle(changed(make_run(), "trace", "gpu_power_w", 3, -1.0))),
        "negative",
        "runs.0.trace.gpu_power_w.3",
    ),
    "a negative blip of the counter": (
        lambda: encoded(make_bundle(changed(make_run(), "trace", "gpu_energy_mj", 5, -1.0))),
        "negative",
        "runs.0.trace.gpu_energy_mj.5",
    ),
    "negative tokens": (
        lambda: encoded(make_bundle(changed(make_run(), "items", "completion_tokens", 2, -40))),
        "negative",
        "runs.0.items.completion_tokens.2",
    ),
    "negative time": (
        lambda: encoded(make_v2_bundle(make_v2_run(run_duration_s=-1.0))),
        "negative",
        "runs.0.run_duration_s",
    ),
    "more right than asked": (
        lambda: encoded(make_v2_bundle(make_v2_run(n_items=100, n_correct=101))),
        "n_correct_over_n_items",
        "runs.0.n_correct",
    ),
    "more right than items": (
        lambda: encoded(make_bundle(make_run(n_correct=13))),
        "n_correct_over_n_items",
        "runs.0.n_correct",
    ),
    "a score over 1": (
        lambda: encoded(make_bundle(changed(make_run(), "items", "correct", 0, 2.0))),
        "score_range",
        "runs.0.items.correct.0",
    ),
    "an end before its start": (
        lambda: encoded(make_bundle(changed(make_run(), "items", "t_end_s", 4, 1.0))),
        "end_before_start",
        "runs.0.items.t_end_s.4",
    ),
    "a phase that ends before it starts": (
        lambda: encoded(make_bundle(make_run(ledger=[{"phase": "tail", "t_start_s": 9.0, "t_end_s": 8.0}]))),
        "end_before_start",
        "runs.0.ledger.0.t_end_s",
    ),
    "times that stand still": (
        lambda: encoded(make_bundle(changed(make_run(), "trace", "t_s", 4, 0.6))),
        "schema",
        "runs.0.trace",
    ),
    "columns of two lengths": (
        lambda: encoded(make_bundle(make_run(items={**make_items(), "correct": [1.0]}))),
        "schema",
        "runs.0.items",
    ),
    "no item": (lambda: encoded(make_bundle(make_run(items=make_items(0)))), "no_items", "runs.0.items.index"),
    "an unknown task": (lambda: encoded(make_bundle(make_run(task="riddles"))), "unknown_task", "runs.0.task"),
    "an unknown unit": (
        lambda: encoded(make_bundle(make_run(energy_boundary="rack"))),
        "unknown_boundary",
        "runs.0.energy_boundary",
    ),
    "an unknown source": (
        lambda: encoded(make_bundle(make_run(energy_source="guess"))),
        "unknown_source",
        "runs.0.energy_source",
    ),
    "simulated energy": (
        lambda: encoded(make_bundle(make_run(energy_source="simulated"))),
        "simulated",
        "runs.0.energy_source",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_bundle_is_refused_with_the_place_and_nothing_is_stored(submitter_api, what):
    body, code, place = REFUSED[what]
    assert_refused(post(submitter_api, body()), code, place)


def test_one_bad_run_keeps_the_good_ones_out_too(submitter_api):
    bundle = make_bundle(make_run(), make_run(task="riddles"))
    assert_refused(post(submitter_api, encoded(bundle)), "unknown_task", "runs.1.task")


def test_20_mb_are_too_many(submitter_api):
    body = encoded(make_bundle(suite="x")) + b" " * 20_000_000
    answer = post(submitter_api, body)
    assert answer.status_code == 413
    assert not Submission.objects.exists()


def test_a_counter_that_a_driver_reload_took_below_0_is_void_but_taken(submitter_api):
    trace = make_trace()
    half = len(trace["gpu_energy_mj"]) // 2
    trace["gpu_energy_mj"] = [mj if i < half else mj - 5e6 for i, mj in enumerate(trace["gpu_energy_mj"])]
    assert post(submitter_api, encoded(make_bundle(make_run(trace=trace)))).status_code == 201
    run = Run.objects.get()
    assert run.figures["counter_reason"] == "counter_reset"
    assert (run.figures["total_joules_gpu_counter"], run.figures["energy_source"]) == (None, "integrated")
    assert "counter_reset" in [flag["code"] for flag in run.flags]
    assert run.tier == "C"


def test_a_wrapped_processor_counter_may_fall(submitter_api):
    trace = {"t_s": make_trace()["t_s"]}
    trace["cpu_energy_uj"] = [100e6 * t - (5e8 if t > 8 else 0) for t in trace["t_s"]]
    run = make_run(
        energy_boundary="cpu_package",
        energy_source="rapl",
        device={"kind": "cpu", "count": 1},
        sensor={"cpu_energy_range_uj": 5e8},
        trace=trace,
    )
    assert post(submitter_api, encoded(make_bundle(run))).status_code == 201
    stored = Run.objects.get()
    assert stored.gpu_class == "cpu:unknown"
    assert stored.energy_j == pytest.approx(100 * 11.9)


def test_no_limit_on_tokens_and_an_engines_own_settings_may_be_below_0(submitter_api):
    run = make_run(max_tokens=-1, settings={"extra": {"gpu_layers": -1.0}}, sensor={"skew_ms": -3.5})
    assert post(submitter_api, encoded(make_bundle(run))).status_code == 201


@pytest.mark.parametrize("value", [10**400, -(10**400)])
def test_a_number_of_400_digits_is_refused_and_no_error_of_ours(submitter_api, value):
    for run in (make_run(sensor={"counter_period_s": value}), make_run(seed=value)):
        answer = post(submitter_api, encoded(make_bundle(run)))
        assert (answer.status_code, answer.json()["code"]) == (400, "not_finite")
