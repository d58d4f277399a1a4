"""Bundles that a fault or a liar would send, made out of recorded runs: none stands on the board without a person."""

import gzip
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from asyncenergy import clock
from bench import selectors, services
from bench.models import Run
from bench.selectors import BoardQuery
from bench.services.reference import FOLDER
from bench.verification import FLAGS, QUARANTINE
from tests.people import make_user
from tests.wire.bundles import make_bundle, make_items, make_run, make_trace, make_v2_bundle

pytestmark = pytest.mark.django_db
Bundle = dict[str, Any]
Change = Callable[[Bundle, dict[str, Any]], None]
RECORDED = "h200-smollm2-135m-campaign.json.gz"
rng = np.random.default_rng(20)


@pytest.fixture(scope="module")
def recorded() -> Bundle:
    """One recorded run of 120 items, with the baselines of its session."""
    bundle: Bundle = json.loads(gzip.decompress((FOLDER / RECORDED).read_bytes()))
    run = next(run for run in bundle["runs"] if run["task"] == "arith" and run["concurrency"] == 4)
    return {**bundle, "runs": [run]}


def copied(bundle: Bundle) -> Bundle:
    again: Bundle = json.loads(json.dumps(bundle))
    return again


def send(account, bundle: Bundle) -> Run:
    return services.submission_ingest(account=account, raw=json.dumps(bundle).encode()).runs[0].run


def held_by(run: Run) -> set[str]:
    return {gate["code"] for gate in run.gates if gate["passed"] is False and gate["severity"] == "quarantine"}


def scale(column: list[float | None], factor: float) -> list[float | None]:
    return [None if value is None else value * factor for value in column]


def milliwatts(bundle: Bundle, run: dict[str, Any]) -> None:
    run["trace"]["gpu_power_w"] = scale(run["trace"]["gpu_power_w"], 1000)
    run["trace"]["gpu_energy_mj"] = scale(run["trace"]["gpu_energy_mj"], 1000)


def kilowatts(bundle: Bundle, run: dict[str, Any]) -> None:
    run["trace"]["gpu_power_w"] = scale(run["trace"]["gpu_power_w"], 0.001)
    run["trace"]["gpu_energy_mj"] = scale(run["trace"]["gpu_energy_mj"], 0.001)
    bundle["baselines"] = []
    run.update(gpu_stock_power_limit_w=None, ledger=[])


def counter_in_joules(bundle: Bundle, run: dict[str, Any]) -> None:
    run["trace"]["gpu_energy_mj"] = scale(run["trace"]["gpu_energy_mj"], 0.001)


def claimed_twice(bundle: Bundle, run: dict[str, Any]) -> None:
    """The row was posted twice and added up: energy of two, items of one."""
    run.update(total_joules_gpu_best=2 * 2000.0, n_items=240)


def items_twice(bundle: Bundle, run: dict[str, Any]) -> None:
    run["items"] = {name: column + column for name, column in run["items"].items() if column is not None}


def only_right_ones(bundle: Bundle, run: dict[str, Any]) -> None:
    keep = [i for i, score in enumerate(run["items"]["correct"]) if score]
    run["items"] = {name: [column[i] for i in keep] for name, column in run["items"].items() if column is not None}


def renumbered_right_ones(bundle: Bundle, run: dict[str, Any]) -> None:
    only_right_ones(bundle, run)
    run["items"].pop("answer", None)
    run["items"]["index"] = list(range(len(run["items"]["index"])))
    run["task"] = "gsm8k"


def on_the_processor(bundle: Bundle, run: dict[str, Any]) -> None:
    """The engine fell back to the CPU: the card idled and held no model."""
    n = len(run["trace"]["t_s"])
    bundle["baselines"] = [{"node_hash": run["node_hash"], "kind": "empty", "gpu_mem_used_mib": 600.0}]
    run["ledger"] = []
    run["trace"].update(gpu_util_pct=[0.0] * n, gpu_mem_used_mib=[600.0] * n)


def slept(bundle: Bundle, run: dict[str, Any]) -> None:
    """The lid was shut for ten minutes in the middle of an item; the counter stood still."""
    times = run["trace"]["t_s"]
    at = times[len(times) // 2]
    run["trace"]["t_s"] = [t if t <= at else t + 600 for t in times]
    for name in ("t_start_s", "t_end_s"):
        run["items"][name] = [t if t <= at else t + 600 for t in run["items"][name]]
    run["ledger"] = []


def too_fast(bundle: Bundle, run: dict[str, Any]) -> None:
    run["items"]["completion_tokens"] = [10_000 * n for n in run["items"]["completion_tokens"]]


def far_from_its_peers(bundle: Bundle, run: dict[str, Any]) -> None:
    run["items"]["completion_tokens"] = [max(1, n // 40) for n in run["items"]["completion_tokens"]]


def answers_that_are_not_right(bundle: Bundle, run: dict[str, Any]) -> None:
    run["items"]["correct"] = [1.0] * len(run["items"]["correct"])


def from_tomorrow(bundle: Bundle, run: dict[str, Any]) -> None:
    bundle["generated_at"] = "2199-01-01T00:00:00+00:00"


def hardly_any_tokens(bundle: Bundle, run: dict[str, Any]) -> None:
    """Pieces of a stream were counted, and most answers came in none."""
    run["items"]["completion_tokens"] = [int(i % 3 == 0) for i in range(len(run["items"]["index"]))]


def a_sample_of_another_unit(bundle: Bundle, run: dict[str, Any]) -> None:
    power = run["trace"]["gpu_power_w"]
    power[len(power) // 2] *= 20


def nothing_read(bundle: Bundle, run: dict[str, Any]) -> None:
    n = len(run["trace"]["t_s"])
    run["trace"].update(gpu_power_w=[0.0] * n, gpu_energy_mj=[0.0] * n)


def sampled_now_and_then(bundle: Bundle, run: dict[str, Any]) -> None:
    """A laptop that dozed again and again: four samples in five are not there."""
    last = len(run["trace"]["t_s"]) - 1
    keep = [i for i in range(last + 1) if i < 20 or i > last - 20 or i % 50 < 10]
    run["trace"] = {
        name: [column[i] for i in keep] if isinstance(column, list) else column for name, column in run["trace"].items()
    }


def wall_of_another_socket(bundle: Bundle, run: dict[str, Any]) -> None:
    run["trace"]["wall_power_w"] = scale(run["trace"]["gpu_power_w"], 0.4)


def all_right_on_a_hard_task(bundle: Bundle, run: dict[str, Any]) -> None:
    run["items"].pop("answer")
    run["items"]["correct"] = [1.0] * len(run["items"]["index"])
    run["task"] = "mmlu_redux"


FAULTS: dict[str, tuple[Change, str]] = {
    "milliwatts for watts": (milliwatts, "mean_power"),
    "kilowatts for watts, and nothing to compare with": (kilowatts, "mean_power"),
    "a counter in joules": (counter_in_joules, "drift"),
    "totals of two posts": (claimed_twice, "recomputed_differs"),
    "items that stand twice": (items_twice, "repeated_items"),
    "only the items that were right": (only_right_ones, "items_missing"),
    "the right ones, numbered anew": (renumbered_right_ones, "items_missing"),
    "a run on the processor": (on_the_processor, "gpu_not_used"),
    "a laptop that slept": (slept, "hole"),
    "tokens beyond the memory's speed": (too_fast, "speed"),
    "wrong answers called right": (answers_that_are_not_right, "recomputed_differs"),
    "a bundle from the future": (from_tomorrow, "clock_ahead"),
    "pieces counted for tokens": (hardly_any_tokens, "joules_per_token"),
    "one sample in another unit": (a_sample_of_another_unit, "sample_power"),
    "a meter that reads nothing": (nothing_read, "energy_present"),
    "a laptop that dozed": (sampled_now_and_then, "coverage"),
    "the plug of another machine": (wall_of_another_socket, "wall_energy"),
    "everything right on a hard task": (all_right_on_a_hard_task, "too_good"),
}
BESIDE_OTHERS = {"peers", "same_trace", "node_seen_elsewhere"}  # further below: they need a second bundle


def test_every_gate_that_holds_a_run_has_its_bundle():
    assert {code for _, code in FAULTS.values()} | BESIDE_OTHERS == {gate.code for gate in QUARANTINE}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_waits_for_a_person_and_never_reaches_the_board(submitter, recorded, fault):
    change, code = FAULTS[fault]
    bundle = copied(recorded)
    change(bundle, bundle["runs"][0])
    run = send(submitter, bundle)
    assert run.status == "quarantined"
    assert code in held_by(run), held_by(run)
    services.board_rebuild()
    assert selectors.board_rows(BoardQuery()) == []


def test_the_recorded_run_itself_is_held_by_nothing(submitter, recorded):
    run = send(submitter, recorded)
    assert (run.status, held_by(run)) == ("pending", set())


def test_an_outlier_against_its_configuration_is_held(submitter, other_submitter, maintainer, recorded):
    services.run_publish(run=send(submitter, recorded), by=maintainer)
    services.board_rebuild()
    bundle = copied(recorded)
    far_from_its_peers(bundle, bundle["runs"][0])
    bundle["runs"][0]["trace"]["gpu_power_w"] = scale(bundle["runs"][0]["trace"]["gpu_power_w"], 1.01)
    assert "peers" in held_by(send(other_submitter, bundle))


def test_a_machine_of_another_account_is_held(submitter, other_submitter, recorded):
    send(submitter, recorded)
    bundle = copied(recorded)
    noisy(bundle["runs"][0], 0.2)
    assert "node_seen_elsewhere" in held_by(send(other_submitter, bundle))


# What is public with a mark


def cut_off(bundle: Bundle, run: dict[str, Any]) -> None:
    n = len(run["items"]["index"])
    run["items"]["finish_reason"] = ["length" if i % 2 else "stop" for i in range(n)]


def hot(bundle: Bundle, run: dict[str, Any]) -> None:
    run["trace"]["throttle_mask"] = [0x40 if i > 50 else 0 for i in range(len(run["trace"]["t_s"]))]


def in_step(bundle: Bundle, run: dict[str, Any]) -> None:
    """Every item starts as the counter moves."""
    run["sensor"] = {"counter_period_s": 0.1}
    run["items"]["t_start_s"] = [round(t, 1) for t in run["items"]["t_start_s"]]


def warming(bundle: Bundle, run: dict[str, Any]) -> None:
    n = len(run["trace"]["t_s"])
    run["trace"]["gpu_temp_c"] = [30.0 + 40 * i / n for i in range(n)]


def a_game_beside_it(bundle: Bundle, run: dict[str, Any]) -> None:
    run["trace"]["other_processes"] = [1] * len(run["trace"]["t_s"])


def a_clock_ahead(bundle: Bundle, run: dict[str, Any]) -> None:
    bundle["generated_at"] = (clock.now() + timedelta(minutes=3)).isoformat()


def driver_reloaded(bundle: Bundle, run: dict[str, Any]) -> None:
    counter = run["trace"]["gpu_energy_mj"]
    middle = next(i for i in range(len(counter) // 2, len(counter)) if counter[i] is not None)
    afterwards = [None if value is None else value - counter[middle] for value in counter[middle:]]
    run["trace"]["gpu_energy_mj"] = counter[:middle] + afterwards


def without_answers(bundle: Bundle, run: dict[str, Any]) -> None:
    run["items"].pop("answer")


MARKED: dict[str, Change] = {
    "truncated": cut_off,
    "throttled": hot,
    "phase_locked": in_step,
    "temperature_drift": warming,
    "shared_gpu": a_game_beside_it,
    "clock_skew": a_clock_ahead,
    "counter_reset": driver_reloaded,
    "submitters_word": without_answers,
}


def marks_of(run: Run) -> set[str]:
    return {gate["code"] for gate in run.gates if gate["passed"] is False and gate["severity"] == "flag"}


@pytest.mark.parametrize("code", MARKED)
def test_what_readers_should_know_is_a_mark_that_the_honest_run_lacks(submitter, other_submitter, recorded, code):
    bundle = copied(recorded)
    MARKED[code](bundle, bundle["runs"][0])
    assert code in marks_of(send(submitter, bundle))
    assert code not in marks_of(send(other_submitter, recorded))


def test_a_first_answer_that_waits_for_the_model_is_a_mark(submitter):
    items = make_items()
    assert "first_item" not in marks_of(send(submitter, make_bundle(make_run(items=items))))
    items["completion_tokens"][0] = 4
    assert "first_item" in marks_of(send(submitter, make_bundle(make_run(items=items, trace=make_trace(watts=90.0)))))


def test_totals_and_simulations_are_marked_as_such(submitter, settings, recorded):
    assert "not_rederivable" in marks_of(send(submitter, make_v2_bundle()))
    settings.DEMO = True
    bundle = copied(recorded)
    bundle["runs"][0]["energy_source"] = "simulated"
    assert marks_of(send(submitter, bundle)) >= {"simulated"}


def test_every_mark_has_its_bundle():
    assert MARKED.keys() | {"first_item", "not_rederivable", "simulated"} == {gate.code for gate in FLAGS}


# Replays


def trimmed(run: dict[str, Any], first: float, last: float) -> None:
    times = run["trace"]["t_s"]
    start, end = times[int(first * len(times))], times[int(last * len(times)) - 1]
    samples = [i for i, t in enumerate(times) if start <= t <= end]
    ends = run["items"]["t_end_s"]
    items = [i for i, t in enumerate(run["items"]["t_start_s"]) if t >= start + 1 and ends[i] <= end - 1]
    for table, keep in (("trace", samples), ("items", items)):
        run[table] = {
            name: [column[i] for i in keep] if isinstance(column, list) else column
            for name, column in run[table].items()
        }
    run["trace"]["t_s"] = [t - start for t in run["trace"]["t_s"]]
    for name in ("t_start_s", "t_end_s"):
        run["items"][name] = [t - start for t in run["items"][name]]
    run["ledger"] = []


def noisy(run: dict[str, Any], share: float) -> None:
    """Noise on the power, and a counter made to fit it."""
    trace = run["trace"]
    power = np.asarray(trace["gpu_power_w"], dtype=float)
    power *= 1 + share * rng.standard_normal(power.size)
    steps = np.diff(np.asarray(trace["t_s"])) * (power[1:] + power[:-1]) / 2
    trace["gpu_power_w"] = power.tolist()
    trace["gpu_energy_mj"] = np.concatenate(([0.0], np.cumsum(1000 * steps))).tolist()


def cut_and_noisy(run: dict[str, Any]) -> None:
    trimmed(run, 0.1, 0.9)
    noisy(run, 0.01)


REPLAYS: dict[str, Callable[[dict[str, Any]], None]] = {
    "under another model's name": lambda run: run.update(model="SmolLM2-1.7B"),
    "cut to its middle": lambda run: trimmed(run, 0.2, 0.8),
    "cut to its second half": lambda run: trimmed(run, 0.5, 1.0),
    "with noise of 1 %": lambda run: noisy(run, 0.01),
    "cut and with noise": cut_and_noisy,
    "ten percent thriftier": lambda run: run["trace"].update(
        gpu_power_w=scale(run["trace"]["gpu_power_w"], 0.9), gpu_energy_mj=scale(run["trace"]["gpu_energy_mj"], 0.9)
    ),
    "with other answers": lambda run: run["items"].update(correct=[1.0] * len(run["items"]["correct"])),
}


@pytest.mark.parametrize("replay", REPLAYS)
def test_a_replay_is_seen_from_another_account_and_machine(submitter, recorded, replay):
    send(submitter, recorded)
    bundle = copied(recorded)
    run = bundle["runs"][0]
    run["node_hash"] = "another-machine"
    bundle["nodes"], bundle["baselines"] = [], []
    run["items"].pop("answer", None)
    run["task"] = "gsm8k"
    REPLAYS[replay](run)
    found = send(make_user("liar@example.org"), bundle)
    assert found.status == "quarantined"
    assert "same_trace" in held_by(found), [g["sentence"] for g in found.gates if g["code"] == "same_trace"]
    assert submitter.email not in json.dumps(found.gates)


def test_a_doubled_post_is_one_run(submitter, recorded):
    raw = json.dumps(recorded).encode()
    first, second = (services.submission_ingest(account=submitter, raw=raw) for _ in range(2))
    assert (first.created, second.created, Run.objects.count()) == (True, False, 1)


def test_all_recorded_runs_differ_from_each_other(submitter):
    """Sixteen honest runs of one model on one card, each workload twice."""
    result = services.submission_ingest(account=submitter, raw=gzip.decompress((FOLDER / RECORDED).read_bytes()))
    assert [run.run.status for run in result.runs] == ["pending"] * 16
