"""From a bundle to stored runs: derived, judged, and never twice."""

import gzip
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from asyncenergy_controller.tasks import arith
from django.db import IntegrityError

from asyncenergy import clock
from bench import services
from bench.models import Decision, Node, Run, Submission
from bench.services import ingest
from tests.wire.bundles import make_bundle, make_items, make_run, make_trace, make_v2_bundle, make_v2_run

pytestmark = pytest.mark.django_db
REFERENCE = Path(services.reference.FOLDER) / "h200-smollm2-135m.json.gz"
SUBMISSIONS = "/api/v1/bench/submissions"


def send(account, *runs: dict[str, Any], **changes: Any) -> services.IngestResult:
    return services.submission_ingest(account=account, raw=json.dumps(make_bundle(*runs, **changes)).encode())


def send_v2(account, *runs: dict[str, Any], **changes: Any) -> services.IngestResult:
    return services.submission_ingest(account=account, raw=json.dumps(make_v2_bundle(*runs, **changes)).encode())


def held_by(run: Run) -> set[str]:
    return {gate["code"] for gate in run.gates if gate["passed"] is False and gate["severity"] == "quarantine"}


def arith_run(n_right: int = 6, **changes: Any) -> dict[str, Any]:
    """Twelve questions of which the model answered the first `n_right` as they should be."""
    key = [arith.item(i, seed=1234, level=1).answer for i in range(12)]
    items = {**make_items(right=n_right), "answer": [right if i < n_right else None for i, right in enumerate(key)]}
    return make_run(**{"task": "arith", "seed": 1234, "settings": {"arith_level": 1}, "items": items, **changes})


# The recorded H200 runs


def test_the_recorded_runs_give_the_published_figures(submitter):
    result = services.submission_ingest(account=submitter, raw=gzip.decompress(REFERENCE.read_bytes()))
    rows = {(o.run.task, o.run.quantization, o.run.config["concurrency"]): o.run for o in result.runs}
    one, sixteen = rows["arith_recorded", "bfloat16", 1], rows["arith_recorded", "bfloat16", 16]
    assert [round(run.joules_per_correct_answer, 1) for run in (one, sixteen)] == [834.1, 133.9]
    assert (round(one.energy_j, 1), one.n_correct, one.n_items) == (5838.7, 7, 40)
    assert (round(sixteen.energy_j, 1), sixteen.n_correct, sixteen.n_items) == (3615.2, 27, 160)
    assert one.figures["jpc_ci_low"] < 834.1 < one.figures["jpc_ci_high"]
    nothing_right = rows["gsm8k", "bfloat16", 1]
    assert nothing_right.joules_per_correct_answer is None
    assert round(nothing_right.figures["joules_per_item"], 1) == 499.4
    assert {run.tier for run in rows.values()} == {"C"}
    assert {run.status for run in rows.values()} == {"pending"}
    assert {run.correctness_word for run in rows.values()} == {"submitter"}


def test_a_padded_recording_has_the_same_headline(submitter):
    trace = make_trace(136.0)
    shifted = {**make_items(), "t_start_s": [62.0 + i for i in range(12)], "t_end_s": [62.9 + i for i in range(12)]}
    plain = send(submitter, make_run()).runs[0].run
    padded = send(submitter, make_run(trace=trace, items=shifted)).runs[0].run
    assert padded.joules_per_correct_answer == pytest.approx(plain.joules_per_correct_answer)


# Storing


def test_the_bundle_is_kept_byte_for_byte(submitter):
    raw = json.dumps(make_bundle(), indent=1).encode()
    submission = services.submission_ingest(account=submitter, raw=raw).submission
    submission.refresh_from_db()
    assert submission.bundle() == raw
    assert submission.bundle_bytes == len(raw)


def test_the_same_bundle_twice_is_one_submission(submitter_api):
    body = json.dumps(make_bundle()).encode()
    first = submitter_api.generic("POST", SUBMISSIONS, body, content_type="application/json")
    second = submitter_api.generic("POST", SUBMISSIONS, body, content_type="application/json")
    assert (first.status_code, first.json()["status"]) == (201, "accepted")
    assert (second.status_code, second.json()["status"]) == (200, "duplicate")
    assert second.json()["id"] == first.json()["id"]
    assert second.json()["runs"] == [{"index": 0, "status": "duplicate"}]
    assert (Submission.objects.count(), Run.objects.count()) == (1, 1)


def test_a_run_without_a_machine_is_not_stored_twice_either(submitter):
    run = make_v2_run(node_hash=None)
    assert [send_v2(submitter, run).created for _ in range(3)] == [True, False, False]
    assert Run.objects.count() == 1


def test_another_time_stamp_makes_no_new_run(submitter):
    send(submitter, make_run())
    again = send(submitter, make_run(created_at="2026-08-21T09:00:00+00:00"), generated_at="2026-08-21T10:00:00+00:00")
    assert not again.created


def test_new_runs_of_a_known_bundle_are_stored(submitter):
    old, new = make_run(), make_run(items=make_items(right=7), max_tokens=64)
    first = send(submitter, old)
    second = send(submitter, old, new)
    assert second.created
    assert second.submission != first.submission
    assert [outcome.status for outcome in second.runs][0] == "duplicate"
    assert Run.objects.count() == 2


def test_a_run_that_stands_twice_in_one_bundle_is_one_run(submitter):
    result = send(submitter, make_run(), make_run())
    assert [outcome.status for outcome in result.runs] == ["accepted", "duplicate"]


def test_another_account_may_send_the_same_run_but_it_waits_for_a_person(submitter, other_submitter):
    send(submitter)
    run = send(other_submitter).runs[0].run
    assert run.status == "quarantined"
    assert {"same_trace", "node_seen_elsewhere"} <= held_by(run)
    assert submitter.email not in json.dumps(run.gates)


def test_a_bundle_that_came_in_meanwhile_is_a_duplicate_and_no_error(submitter, monkeypatch):
    send(submitter)
    real, calls = ingest.context.known_runs, []

    def blind_once(*args):
        calls.append(args)
        return {} if len(calls) == 1 else real(*args)

    monkeypatch.setattr(ingest.context, "known_runs", blind_once)
    assert not send(submitter).created
    assert Run.objects.count() == 1


def test_nothing_is_half_stored(submitter, monkeypatch):
    def fail(*args, **kwargs):
        raise IntegrityError("the disk is full")

    monkeypatch.setattr(ingest.RunColumns.objects, "bulk_create", fail)
    with pytest.raises(IntegrityError):
        send(submitter)
    for model in (Submission, Run, Node):
        assert not model.objects.exists()


# Judging


def test_a_claim_that_differs_by_over_1_percent_is_held_with_both_numbers(submitter):
    run = send(submitter, make_run(joules_per_correct_answer=92.12)).runs[0].run
    assert (run.status, held_by(run)) == ("quarantined", {"recomputed_differs"})
    (sentence,) = [
        gate["sentence"] for gate in run.gates if gate["passed"] is False and gate["severity"] == "quarantine"
    ]
    assert "92.12" in sentence
    decision = Decision.objects.get()
    assert (decision.action, decision.decider, decision.note) == ("quarantine", "a rule", sentence)


def test_a_claim_that_agrees_is_not_held_and_not_stored_as_a_figure(submitter):
    run = send(submitter, make_run(joules_per_correct_answer=198.4)).runs[0].run
    assert run.status == "pending"
    assert run.joules_per_correct_answer == pytest.approx(1190 / 6)


def test_the_claimed_tier_is_only_compared(submitter):
    run = send(submitter, make_run(measurement_tier="A")).runs[0].run
    assert (run.tier, run.tier_claimed) == ("C", "A")


def test_a_replay_under_a_new_label_is_held(submitter):
    send(submitter, make_run())
    relabelled = send(submitter, make_run(model="example-1b")).runs[0].run
    assert held_by(relabelled) == {"same_trace"}


def test_totals_that_were_sent_before_under_another_label_are_held(submitter):
    send_v2(submitter, make_v2_run())
    assert "same_trace" in held_by(send_v2(submitter, make_v2_run(model="example-70b")).runs[0].run)


def test_a_unit_slip_is_held(submitter):
    trace = make_trace(watts=0.1)
    run = send(submitter, make_run(trace=trace, power_limit_w=350.0), baselines=[baseline("empty", 25.0)]).runs[0].run
    assert "mean_power" in held_by(run)


def baseline(kind: str, watts: float) -> dict[str, Any]:
    return {"node_hash": "a" * 64, "kind": kind, "mean_gpu_w": watts, "gpu_mem_used_mib": 500.0}


def test_a_model_that_ran_on_the_processor_is_held(submitter):
    trace = {**make_trace(), "gpu_util_pct": [0.0] * 81, "gpu_mem_used_mib": [500.0] * 81}
    assert "gpu_not_used" in held_by(
        send(submitter, make_run(trace=trace), baselines=[baseline("empty", 25.0)]).runs[0].run
    )


def test_a_bundle_from_the_future_is_held(submitter):
    soon = clock.now() + timedelta(minutes=11)
    run = send(submitter, generated_at=soon.isoformat()).runs[0].run
    assert "clock_ahead" in held_by(run)


def test_an_outlier_against_its_configuration_is_held(submitter, other_submitter, maintainer):
    published = send(submitter).runs[0].run
    services.run_publish(run=published, by=maintainer)
    services.board_rebuild()
    trace = make_trace(watts=2.0)
    outlier = send(other_submitter, make_run(node_hash="b" * 64, trace=trace)).runs[0].run
    assert outlier.config_key == published.config_key
    assert "peers" in held_by(outlier)


# Scoring


def test_answers_are_scored_by_the_servers_own_key(submitter):
    run = send(submitter, arith_run(6)).runs[0].run
    assert (run.correctness_word, run.n_correct, run.status) == ("server", 6, "pending")
    assert "submitters_word" not in [flag["code"] for flag in run.flags]


def test_claiming_more_right_answers_than_there_are_changes_no_figure_and_is_held(submitter):
    boasting = arith_run(6)
    boasting["items"]["correct"] = [1.0] * 12
    run = send(submitter, {**boasting, "n_correct": 12}).runs[0].run
    assert run.n_correct == 6
    assert run.columns.items()["correct"] == [1.0] * 6 + [0.0] * 6
    assert held_by(run) == {"recomputed_differs"}


def test_scores_of_the_items_are_compared_even_where_no_total_is_claimed(submitter):
    boasting = arith_run(6)
    boasting["items"]["correct"] = [1.0] * 12
    assert held_by(send(submitter, boasting).runs[0].run) == {"recomputed_differs"}


def test_without_answers_correctness_is_the_submitters_word(submitter):
    run = send(submitter, make_run(task="arith", seed=1234, settings={"arith_level": 1})).runs[0].run
    assert run.correctness_word == "submitter"
    assert "submitters_word" in [flag["code"] for flag in run.flags]


# Versions 1 and 2


def test_a_claimed_ratio_is_never_stored(submitter):
    run = send_v2(submitter, make_v2_run(joules_per_correct_answer=1028.0)).runs[0].run
    assert (run.methodology, run.tier, run.status) == ("v2-claimed", None, "pending")
    assert run.joules_per_correct_answer == pytest.approx(83_348 / 81)
    assert [flag["code"] for flag in run.flags] == ["not_rederivable"]


def test_a_run_without_right_answers_has_no_headline(submitter):
    run = send_v2(submitter, make_v2_run(n_items=15, n_correct=0, total_joules_gpu_best=7491.3)).runs[0].run
    assert run.joules_per_correct_answer is None
    assert run.figures["joules_per_item"] == pytest.approx(499.42)


def test_0_joules_are_no_measurement(submitter):
    run = send_v2(submitter, make_v2_run(total_joules_gpu_best=None, total_joules_gpu=0.0)).runs[0].run
    assert (run.energy_j, run.joules_per_correct_answer) == (None, None)
    assert held_by(run) == {"energy_present"}


def test_version_1_is_taken_like_version_2(submitter):
    assert send_v2(submitter, schema_version="1").runs[0].run.methodology == "v2-claimed"


# Machines


def test_machines_are_named_by_eight_hex_that_differ_by_account(submitter, other_submitter):
    names = {send(account).runs[0].run.node.public_id for account in (submitter, other_submitter)}
    assert len(names) == 2
    assert all(len(name) == 8 and int(name, 16) >= 0 for name in names)


def test_the_fourth_new_machine_in_30_days_counts_only_once_a_person_says_so(submitter, maintainer):
    nodes = [services.node_upsert(account=submitter, node_hash=f"machine-{i}") for i in range(4)]
    assert [node.is_counted for node in nodes] == [True, True, True, False]
    later = clock.now() + timedelta(days=31)
    assert services.node_upsert(account=submitter, node_hash="machine-5", now=later).is_counted
    assert services.node_count(node=nodes[3], by=maintainer).is_counted


def test_what_is_known_of_a_machine_is_not_forgotten(submitter):
    services.node_upsert(account=submitter, node_hash="a" * 64, vram_gb=24.0)
    send(submitter)
    node = Node.objects.get()
    assert (node.vram_gb, node.gpu_name) == (24.0, "NVIDIA GeForce RTX 3090")


def test_a_raw_counter_is_rebased_before_anybody_sees_it(submitter):
    trace = make_trace()
    trace["gpu_energy_mj"] = [mj + 10_029_888 for mj in trace["gpu_energy_mj"]]
    run = send(submitter, make_run(trace=trace)).runs[0].run
    assert run.columns.trace()["gpu_energy_mj"][0] == 0
    assert run.joules_per_correct_answer == pytest.approx(1190 / 6)


# Demonstration


def test_a_demonstration_takes_simulated_energy_and_keeps_it_apart(submitter, settings):
    settings.DEMO = True
    run = send(submitter, make_run(energy_source="simulated")).runs[0].run
    assert (run.is_simulated, run.tier) == (True, None)
    assert "simulated" in [flag["label"] for flag in run.flags]
