"""The conversation of deployed clients with a real server, over HTTP."""

import itertools
import time
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from tests.contract.old_client import OldClient

pytestmark = pytest.mark.campaign
NUMBERS = itertools.count()
FAR_AWAY = "00000000-0000-0000-0000-000000000000"
WORKFLOW = {
    "name": "nightly",
    "framework": "command",
    "est_duration_s": 60,
    "deadline": "in 3 h",
    "earliest_start": None,
    "recurrence": "none",
    "nameplate_watts": 300,
}
RUN_V2 = {
    "node_hash": "7" * 64,
    "schema_version": "4",
    "engine": "llama.cpp",
    "engine_version": "b4000",
    "driver_version": "550.54",
    "gpu_name": "NVIDIA GeForce RTX 4090",
    "power_limit_w": 450.0,
    "model": "qwen2.5-7b-instruct",
    "quantization": "Q4_K_M",
    "measurement_tier": "A",
    "run_duration_s": 310.5,
    "repeat_index": 0,
    "created_at": "2026-08-01T10:00:00+00:00",
    "task": "gsm8k",
    "temperature": 0.0,
    "max_tokens": 512,
    "seed": 1234,
    "n_shot": 4,
    "is_canary": False,
    "n_items": 100,
    "n_correct": 81,
    "accuracy": 0.81,
    "joules_per_token": 3.1,
    "joules_per_item": 620.0,
    "joules_per_correct_answer": 765.432,
    "total_joules_gpu": 62000.0,
    "total_joules_gpu_counter": 62100.0,
    "energy_source": "counter",
    "mean_tokens_per_second": 64.0,
    "pooled_tokens_per_second": 64.4,
    "total_completion_tokens": 20000,
    "streaming_used": True,
    "mean_gpu_w": 200.0,
    "peak_gpu_w": 310.0,
}
BUNDLE_V2 = {
    "schema_version": "2",
    "generated_at": "2026-08-01T10:10:00+00:00",
    "nodes": [{"node_hash": "7" * 64, "cpu_model": "AMD Ryzen 9 5950X", "ram_gb": 64}],
    "runs": [RUN_V2],
    "grades": [],
    "load_profiles": [],
    "baselines": [],
}


@pytest.fixture
def client(server):
    """A new account that has signed up."""
    client = OldClient(server.url, f"field-{next(NUMBERS)}@example.org")
    assert client.signup().status == 201
    return client


@pytest.fixture
def scheduled(client):
    """A workflow, and the schedule that was made for it."""
    workflow = client.call("POST", "/api/v1/workflows", WORKFLOW)
    assert workflow.status == 201, workflow.body
    return workflow.body, pulled(client)


def pulled(client, after=-1, limit_s=20):
    """Poll as the field does until there is a schedule."""
    deadline = time.monotonic() + limit_s
    while (answer := client.call("GET", f"/api/v1/schedule?after={after}")).status == 204:
        assert answer.body is None
        assert time.monotonic() < deadline, "nothing was ever planned"
        time.sleep(0.1)
    assert answer.status == 200, answer.body
    return answer.body


def record(placement=None, **fields):
    now = datetime.now(UTC).replace(microsecond=0)
    known = {"workflow_id": placement["workflow_id"], "scheduled_start": placement["start"]} if placement else {}
    return {
        "controller_id": "old-box",
        "run_id": str(uuid.uuid4()),
        "framework": "command",
        "exit_status": "success",
        "actual_start": (now - timedelta(seconds=60)).isoformat(),
        "ts": now.isoformat(),
        "duration_s": 60.0,
        "energy_wh": 4.5,
        "energy_source": "counter",
        "avg_w": 270.0,
        "peak_w": 301.0,
        "gpu_mem_mb": 8000,
        **known,
        **fields,
    }


def samples(n=60, watts=270.0):
    start = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=n)
    other = {"util_gpu": 97, "util_mem": 40, "mem_used_mb": 8000, "temp_c": 61, "sm_clock_mhz": 1900}
    rest = {"throttle_reasons": "none", "cpu_rapl_uj": None}
    return [{"ts": (start + timedelta(seconds=i)).isoformat(), "power_w": watts, **other, **rest} for i in range(n)]


def run_list(client):
    answer = client.call("GET", "/api/v1/runs?limit=500")
    assert answer.status == 200
    return answer.body["results"]


def test_signup_and_login_answer_alike_and_a_known_address_is_told(client):
    body = client.login().body
    assert (body["token_type"], body["user"]["email"], body["expires_in"] > 0) == ("bearer", client.email, True)
    again = client.signup()
    assert (again.status, again.body["code"]) == (400, "email_taken")
    wrong = client.send("POST", "/auth/login", {"email": client.email, "password": "wrong"})
    assert (wrong.status, bool(wrong.body["detail"])) == (401, True)


def test_a_401_is_answered_by_a_refresh_and_the_call_goes_through(client):
    client.access += "x"
    assert client.call("GET", "/api/v1/schedule?after=-1").status == 204
    assert client.refreshed == 1


def test_a_spent_refresh_token_is_refused_and_ends_its_login(client):
    spent = client.refresh
    client.access += "x"
    client.call("GET", "/api/v1/schedule?after=-1")
    assert client.send("POST", "/auth/refresh", {"refresh_token": spent}).status == 401
    assert client.send("POST", "/auth/refresh", {"refresh_token": client.refresh}).status == 401
    assert client.login().status == 200


def test_an_api_key_stands_for_the_login(client):
    minted = client.call("POST", "/api/v1/keys", {"name": "box", "scope": "all"})
    assert minted.status == 201, minted.body
    with_key = OldClient(client.url, "", key=minted.body["key"])
    assert with_key.call("GET", "/api/v1/schedule?after=-1").status == 204
    wrong = OldClient(client.url, "", key=minted.body["key"] + "x").call("GET", "/api/v1/schedule?after=-1")
    assert wrong.status == 401


def test_the_schedule_comes_once_and_then_204(scheduled, client):
    workflow, schedule = scheduled
    assert set(workflow["next_window"]) >= {"earliest_start", "deadline"}
    assert schedule["fallback_policy"] == "deadline_latest_start"
    placement = next(p for p in schedule["placements"] if p["workflow_id"] == workflow["id"])
    assert placement["feasible"] is True
    start, end = (datetime.fromisoformat(placement[name]) for name in ("start", "end"))
    assert (start.utcoffset(), end - start >= timedelta(seconds=60)) == (timedelta(0), True)
    assert placement["start"].endswith("+00:00")
    assert client.call("GET", f"/api/v1/schedule?after={schedule['version']}").status == 204
    assert client.call("GET", "/api/v1/schedule?after=-1").body["version"] == schedule["version"]


def test_a_run_is_acknowledged_reported_and_over(scheduled, client):
    workflow, schedule = scheduled
    placement = schedule["placements"][0]
    for event in ("started", "finished", "finished"):
        body = {"schedule_version": schedule["version"], "event": event, "workflow_id": workflow["id"]}
        answer = client.call("POST", "/api/v1/schedule/ack", body)
        assert (answer.status, answer.body["status"], answer.body["event"]) == (200, "ok", event)
    assert client.report(record(placement), samples()) == 1
    newer = pulled(client, after=schedule["version"])
    assert placement["start"] not in {p["start"] for p in newer["placements"]}


def test_a_list_of_runs_is_taken_once_however_often_it_is_pushed(client):
    runs = [record(run_id=f"push-{i}") for i in range(20)]
    first = client.call("POST", "/api/v1/runs", runs)
    assert (first.status, first.body["accepted"], first.body["duplicates"]) == (200, 20, 0)
    again = client.call("POST", "/api/v1/runs", [*runs, record(run_id="push-20")])
    assert (again.body["accepted"], again.body["duplicates"]) == (1, 20)
    ids = {run["run_id"]: run["id"] for run in again.body["runs"]}
    assert all(ids[run["run_id"]] == run["id"] for run in first.body["runs"])
    assert len(run_list(client)) == 21


def test_samples_go_with_their_run_and_are_stored_once(client):
    run = client.call("POST", "/api/v1/runs", record()).body["runs"][0]
    sent = samples(90)
    path = f"/api/v1/runs/{run['id']}/samples"
    parts = [client.call("POST", path, {"samples": part}) for part in (sent[:60], sent[50:], sent)]
    assert [(part.status, part.body["accepted"]) for part in parts] == [(201, 60), (201, 30), (201, 0)]
    assert client.call("POST", f"/api/v1/runs/{FAR_AWAY}/samples", {"samples": sent}).status == 404


def test_what_the_field_says_oddly_is_taken_with_a_warning(client):
    odd = record(exit_status="failed", work_units="many", energy_source="magic", workflow_id="gone", shoe_size=44)
    answer = client.call("POST", "/api/v1/runs", [odd])
    assert (answer.status, answer.body["accepted"]) == (200, 1)
    assert len(answer.body["runs"][0]["warnings"]) >= 3
    assert run_list(client)[0]["exit_status"] == "error"


def test_every_refusal_is_a_sentence_in_json(client):
    stranger = OldClient(client.url, "")
    for answer, status in [
        (stranger.send("GET", "/api/v1/schedule?after=-1"), 401),
        (client.call("POST", "/api/v1/runs", b"{nonsense"), 400),
        (client.call("POST", "/api/v1/runs", [{"run_id": "1"}]), 400),
        (client.call("POST", "/api/v1/workflows", WORKFLOW | {"deadline": "whenever"}), 400),
        (client.call("GET", "/api/v1/nothing-here"), 404),
    ]:
        assert answer.status == status, answer.body
        assert answer.headers["Content-Type"].startswith("application/json")
        assert isinstance(answer.body["detail"], str)
        assert answer.body["code"]


def test_a_bundle_of_version_2_is_taken_and_known_again(client):
    bundle = BUNDLE_V2 | {"runs": [RUN_V2 | {"seed": next(NUMBERS)}]}
    first = client.call("POST", "/api/v1/bench/submissions", bundle)
    assert first.status == 201, first.body
    assert first.body["status"] in ("accepted", "quarantined")
    assert {"id", "flags", "url", "runs"} <= set(first.body)
    again = client.call("POST", "/api/v1/bench/submissions", bundle)
    assert (again.status, again.body["status"], again.body["id"]) == (200, "duplicate", first.body["id"])
    mine = client.call("GET", "/api/v1/bench/submissions")
    assert [one["id"] for one in mine.body["results"]] == [first.body["id"]]


def test_workflows_of_one_name_are_two(client):
    registered = [client.call("POST", "/api/v1/workflows", WORKFLOW) for _ in range(2)]
    assert [answer.status for answer in registered] == [201, 201]
    listed = client.call("GET", "/api/v1/workflows").body["results"]
    assert {one["id"] for one in listed} == {answer.body["id"] for answer in registered}


def test_the_spool_drains_after_an_outage_and_nothing_is_there_twice(server, client):
    assert client.report(record(run_id="before"), samples()) == 1
    server.kill()
    for i in range(12):
        assert client.report(record(run_id=f"during-{i}"), samples()) == 0
    assert client.call("GET", "/api/v1/schedule?after=-1").status == 0
    server.start()
    assert client.drain() == 12
    assert client.spool == []
    runs = run_list(client)
    expected = {"before"} | {f"during-{i}" for i in range(12)}
    assert {run["run_id"] for run in runs} == expected
    assert len(runs) == len(expected)
    print(f"\ndrained 12 records and {12 * 60} samples after an outage; {len(runs)} stored, none twice")


def test_a_spool_whose_answers_were_lost_is_sent_again_without_harm(client):
    """The server stored the batch, the network lost its answer: the field sends the same once more."""
    batch = [(record(run_id=f"lost-{i}"), samples(30)) for i in range(5)]
    client.spool = list(batch)
    assert client.drain() == 5
    client.spool = list(batch)
    assert client.drain() == 5
    assert len(run_list(client)) == 5


def test_every_call_of_the_loop_answers_within_three_seconds(scheduled, client):
    workflow, schedule = scheduled
    run = client.call("POST", "/api/v1/runs", record()).body["runs"][0]
    ack = {"schedule_version": schedule["version"], "event": "failed", "workflow_id": workflow["id"]}
    calls = [
        ("GET", "/api/v1/schedule?after=-1", None),
        ("POST", "/api/v1/runs", [record() for _ in range(200)]),
        ("POST", f"/api/v1/runs/{run['id']}/samples", {"samples": samples(5000)}),
        ("POST", "/api/v1/schedule/ack", ack),
    ]
    for method, path, body in calls:
        started = time.monotonic()
        assert client.call(method, path, body).is_fine
        assert time.monotonic() - started < 3, path
