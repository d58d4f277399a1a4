"""The conversation of controllers in the field, over the API, with nothing of ours on their side.

They know an occurrence by workflow and start, run whatever has begun, never resend an ack, and stop reporting for good
at the first answer that is no 2xx.
"""

from datetime import datetime, timedelta

import pytest
import time_machine

from asyncenergy.clock import now
from scheduling.models import Controller, Occurrence, RunRecord
from scheduling.services.planning import account_plan, accounts_due, work_over_close
from tests.people import api_client, key_client, make_user
from tests.scheduling.people import NOON, at, make_market, publish

pytestmark = pytest.mark.django_db
WAVE = [0.30] * 6 + [0.10] * 2 + [0.30] * 16
WORKFLOW = {
    "name": "nightly",
    "framework": "command",
    "est_duration_s": 3600,
    "deadline": "by 9am",
    "earliest_start": None,
    "recurrence": "daily",
    "nameplate_watts": 300,
}


@pytest.fixture(autouse=True)
def clock():
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def market():
    return make_market(*WAVE * 4)


@pytest.fixture
def box(submitter, market):
    return key_client(submitter, scope="schedule")


def register(box, **fields):
    answer = box.post("/api/v1/workflows", {**WORKFLOW, **fields})
    assert answer.status_code == 201, answer.json()
    return answer.json()


def tick(account, clock):
    """What the worker does within seconds."""
    work_over_close()
    if account.pk in accounts_due():
        account_plan(account=account)


def poll(box, after=-1, **query):
    answer = box.get("/api/v1/schedule", {"after": after, **query})
    assert answer.status_code in (200, 204), answer.content
    return answer.json() if answer.status_code == 200 else None


def record(placement, run_id="run-1", **fields):
    return {
        "controller_id": "old-box",
        "run_id": run_id,
        "workflow_id": placement["workflow_id"],
        "framework": "command",
        "exit_status": "success",
        "scheduled_start": placement["start"],
        "actual_start": placement["start"],
        "ts": placement["end"],
        "duration_s": 3500.0,
        "energy_wh": 280.5,
        "energy_source": "counter",
        **fields,
    }


def ack(box, schedule, event, placement):
    answer = box.post(
        "/api/v1/schedule/ack",
        {"schedule_version": schedule["version"], "event": event, "workflow_id": placement["workflow_id"]},
    )
    assert answer.status_code == 200, answer.json()
    return answer.json()


def test_a_night_as_the_field_knows_it(box, submitter, clock):
    workflow = register(box)
    assert workflow["next_window"] == {
        "earliest_start": "2026-08-20T12:00:00+00:00",
        "deadline": "2026-08-21T09:00:00+00:00",
    }
    assert poll(box) is None, "nothing is planned inside a request"
    tick(submitter, clock)
    schedule = poll(box)
    assert schedule["fallback_policy"] == "deadline_latest_start"
    placement = schedule["placements"][0]
    assert (placement["workflow_id"], placement["feasible"]) == (workflow["id"], True)
    assert (placement["start"], placement["end"]) == ("2026-08-21T06:00:00+00:00", "2026-08-21T07:15:00+00:00")
    assert poll(box, after=schedule["version"]) is None

    clock.move_to(at(6, 21))
    receipt = ack(box, schedule, "started", placement)
    assert receipt == {
        "status": "ok",
        "event": "started",
        "schedule_version": schedule["version"],
        "workflow_id": workflow["id"],
        "replanned": False,
    }
    clock.move_to(at(7, 21))
    ack(box, schedule, "finished", placement)
    newer = poll(box, after=schedule["version"])
    assert placement["occurrence_id"] not in {p["occurrence_id"] for p in newer["placements"]}

    answer = box.post("/api/v1/runs", [record(placement)])
    assert answer.status_code == 200
    assert (answer.json()["accepted"], answer.json()["duplicates"]) == (1, 0)
    run = answer.json()["runs"][0]
    assert (run["run_id"], run["controller_id"], run["status"]) == ("run-1", "old-box", "inserted")
    samples = [{"ts": (at(6, 21) + timedelta(seconds=s)).isoformat(), "power_w": 280.0} for s in range(60)]
    answer = box.post(f"/api/v1/runs/{run['id']}/samples", {"samples": samples})
    assert (answer.status_code, answer.json()) == (201, {"accepted": 60})
    assert Occurrence.objects.get(pk=placement["occurrence_id"]).status == "done"


def test_a_start_that_did_not_move_is_byte_identical_in_every_version(box, submitter, clock, market):
    register(box)
    tick(submitter, clock)
    starts = {p["occurrence_id"]: p["start"] for p in poll(box)["placements"]}
    for i in range(1, 4):
        clock.shift(timedelta(minutes=31, seconds=i, microseconds=17))
        register(box, name=f"more {i}", controller_id=f"box-{i}")
        tick(submitter, clock)
        again = {p["occurrence_id"]: p["start"] for p in poll(box)["placements"]}
        assert {key: again[key] for key in starts} == starts
    assert poll(box)["version"] == 4


@pytest.mark.campaign
def test_no_poll_ever_shows_past_work(box, submitter, clock):
    """A restarted controller polls with -1 and runs whatever it reads whose start has passed."""
    register(box)
    tick(submitter, clock)
    seen = set()
    for _ in range(3 * 24):
        clock.shift(timedelta(hours=1))
        tick(submitter, clock)
        schedule = poll(box)
        for placement in schedule["placements"]:
            assert placement["end"] > now_text()
            if placement["start"] <= now_text():
                key = (placement["workflow_id"], placement["start"])
                assert key not in seen
                seen.add(key)
                box.post("/api/v1/runs", record(placement, run_id=placement["start"]))
                assert placement["start"] not in {p["start"] for p in poll(box)["placements"]}
    assert len(seen) == 3


def now_text() -> str:
    return now().isoformat(timespec="seconds")


def test_a_success_record_alone_ends_the_occurrence(box, submitter, clock):
    register(box, recurrence="none")
    tick(submitter, clock)
    schedule = poll(box)
    clock.move_to(at(7, 21))
    box.post("/api/v1/runs", record(schedule["placements"][0]))
    assert poll(box, after=schedule["version"])["placements"] == []
    assert Occurrence.objects.get().status == "done"


@pytest.mark.parametrize("how", ["ack", "record"])
def test_a_failure_is_planned_again_at_most_three_times(box, submitter, clock, how):
    register(box, recurrence="none", deadline="by 11pm")
    tick(submitter, clock)
    starts = []
    for attempt in range(1, 6):
        schedule = poll(box)
        if not schedule["placements"]:
            break
        placement = schedule["placements"][0]
        assert placement["attempt"] == attempt
        starts.append(placement["start"])
        clock.move_to(datetime.fromisoformat(placement["start"]) + timedelta(minutes=1))
        if how == "ack":
            ack(box, schedule, "failed", placement)
        else:
            box.post("/api/v1/runs", record(placement, run_id=str(attempt), exit_status="failed"))
        clock.shift(timedelta(seconds=30))
        tick(submitter, clock)
    assert len(starts) == 4, "once, and three times again"
    assert starts == sorted(set(starts))
    pauses = [datetime.fromisoformat(b) - datetime.fromisoformat(a) for a, b in zip(starts, starts[1:], strict=False)]
    assert pauses[0] >= timedelta(minutes=2)
    assert pauses[1] > pauses[0]
    one = Occurrence.objects.get()
    assert (one.status, "could not be repeated" in one.reason) == ("failed", True)


def test_a_failed_ack_is_answered_with_a_new_plan(box, submitter, clock):
    register(box, recurrence="none", deadline="by 11pm")
    tick(submitter, clock)
    schedule = poll(box)
    clock.move_to(datetime.fromisoformat(schedule["placements"][0]["start"]) + timedelta(minutes=5))
    first = ack(box, schedule, "failed", schedule["placements"][0])
    assert first["replanned"] is True
    newer = poll(box, after=schedule["version"])["placements"][0]
    assert (newer["attempt"], newer["start"] > schedule["placements"][0]["start"]) == (2, True)
    assert ack(box, schedule, "failed", schedule["placements"][0]) == first, "said again, it changes nothing"
    box.post("/api/v1/runs", record(schedule["placements"][0], exit_status="error"))
    assert poll(box)["placements"][0]["attempt"] == 2, "the record of the same attempt fails nothing more"


def test_a_failure_too_late_to_repeat_is_not_placed_late(box, submitter, clock):
    register(box, recurrence="none", deadline="in 75 min")
    tick(submitter, clock)
    schedule = poll(box)
    clock.shift(timedelta(minutes=10))
    assert ack(box, schedule, "failed", schedule["placements"][0])["replanned"] is False
    tick(submitter, clock)
    assert poll(box)["placements"] == []
    assert Occurrence.objects.get().status == "failed"


def test_acks_are_hints(box, submitter, clock):
    workflow = register(box, recurrence="none")
    tick(submitter, clock)
    for version in (0, 7, 10**6):
        answer = box.post(
            "/api/v1/schedule/ack",
            {"schedule_version": version, "event": "finished", "workflow_id": workflow["id"], "at": None},
        )
        assert answer.status_code == 200
    assert Occurrence.objects.get().status == "open", "no version of these numbers had it"
    box.delete(f"/api/v1/workflows/{workflow['id']}")
    answer = box.post(
        "/api/v1/schedule/ack", {"schedule_version": 1, "event": "finished", "workflow_id": workflow["id"]}
    )
    assert answer.status_code == 200, "a deleted workflow may still finish"
    for unknown in ("nonsense", "00000000-0000-0000-0000-000000000000"):
        answer = box.post("/api/v1/schedule/ack", {"schedule_version": 1, "event": "finished", "workflow_id": unknown})
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


ODD = {
    "workflow_id": ["no-such", "00000000-0000-0000-0000-000000000000", 7, None],
    "energy_source": ["magic", 3, {"a": 1}],
    "work_units": ["many", True, -1, [1]],
    "scheduled_start": ["yesterday", "2026-08-21T06:00:00", 1790000000],
    "exit_status": ["weird", 0],
    "duration_s": ["3500", -1, 1e300],
    "energy_wh": ["280", False, -5],
    "fingerprint": ["", "x" * 201, 9],
    "framework": [None, 5],
    "occurrence_id": ["nope", 4],
    "schedule_version": ["1", -1, 1.5],
}


@pytest.mark.parametrize(("field", "values"), list(ODD.items()))
def test_odd_fields_are_null_with_a_warning_and_2xx(box, submitter, field, values):
    for i, value in enumerate(values):
        raw = {"controller_id": "b", "run_id": f"{field}-{i}", "ts": NOON.isoformat(), field: value, "unknown": {}}
        answer = box.post("/api/v1/runs", raw)
        assert answer.status_code == 200, (value, answer.json())
        run = answer.json()["runs"][0]
        assert run["status"] == "inserted"
        if value is not None:
            assert run["warnings"][0].startswith(field)
        stored = RunRecord.objects.get(pk=run["id"])
        name = {"workflow_id": "workflow", "occurrence_id": "occurrence"}.get(field, field)
        assert getattr(stored, name) is None


def test_an_estimated_energy_is_not_measured_and_never_zero(box):
    raw = {"controller_id": "b", "run_id": "1", "ts": NOON.isoformat(), "energy_wh": 300, "energy_source": "estimated"}
    run = box.post("/api/v1/runs", raw).json()["runs"][0]
    assert RunRecord.objects.get(pk=run["id"]).energy_wh is None
    assert any("estimated, not measured" in warning for warning in run["warnings"])


@pytest.mark.parametrize("foreign", ["workflow_id", "occurrence_id"])
def test_what_belongs_to_another_account_is_null_with_a_warning(box, submitter, clock, foreign):
    other = make_user("elsewhere@example.org")
    theirs = register(key_client(other))
    account_plan(account=other)
    placement = poll(key_client(other))["placements"][0]
    value = {"workflow_id": theirs["id"], "occurrence_id": placement["occurrence_id"]}[foreign]
    raw = {"controller_id": "b", "run_id": "1", "ts": NOON.isoformat(), foreign: value, "exit_status": "success"}
    run = box.post("/api/v1/runs", raw | {"scheduled_start": placement["start"]}).json()["runs"][0]
    assert run["warnings"][0].startswith(foreign)
    assert Occurrence.objects.get(pk=placement["occurrence_id"]).status == "open"


@pytest.mark.parametrize(
    ("raw", "attr"),
    [
        ({"run_id": "1", "ts": "2026-08-20T12:00:00Z"}, "controller_id"),
        ({"controller_id": "b", "ts": "2026-08-20T12:00:00Z"}, "run_id"),
        ({"controller_id": "b", "run_id": 7, "ts": "2026-08-20T12:00:00Z"}, "run_id"),
        ({"controller_id": "b", "run_id": "1"}, "ts"),
        ({"controller_id": "b", "run_id": "1", "ts": "2026-08-20T12:00:00"}, "ts"),
        ([{"controller_id": "b", "run_id": "1", "ts": "2026-08-20T12:00:00Z"}, {"run_id": "2"}], "1.controller_id"),
        ([7], "0"),
    ],
)
def test_without_readable_ids_and_time_nothing_is_stored_and_the_place_is_named(box, raw, attr):
    answer = box.post("/api/v1/runs", raw)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["attr"] == attr
    assert not RunRecord.objects.exists()


def test_a_record_sent_again_is_the_same_row(box):
    raw = {"controller_id": "b", "run_id": "1", "ts": NOON.isoformat(), "energy_wh": 5.0}
    first = box.post("/api/v1/runs", raw).json()
    again = box.post("/api/v1/runs", [raw, raw | {"run_id": "2"}]).json()
    assert again["runs"][0] == {**first["runs"][0], "status": "duplicate"}
    assert (again["accepted"], again["duplicates"]) == (1, 1)
    assert RunRecord.objects.count() == 2


def test_samples_are_stored_once_however_often_and_in_whatever_parts_they_come(box, submitter):
    run = box.post("/api/v1/runs", {"controller_id": "b", "run_id": "1", "ts": NOON.isoformat()}).json()["runs"][0]
    path = f"/api/v1/runs/{run['id']}/samples"
    samples = [{"ts": (NOON + timedelta(seconds=i)).isoformat(), "power_w": 100 + i} for i in range(100)]
    assert box.post(path, {"samples": samples[:60]}).json() == {"accepted": 60}
    assert box.post(path, {"samples": samples[40:]}).json() == {"accepted": 40}
    assert box.post(path, {"samples": samples}).json() == {"accepted": 0}
    odd = [{"ts": "soon"}, {"ts": (NOON + timedelta(hours=1)).isoformat(), "power_w": "hot", "temp_c": -3}, 7]
    assert box.post(path, {"samples": odd}).json() == {
        "accepted": 1,
        "warnings": ["power_w: 1 could not be read", "ts: 2 could not be read"],
    }
    for body, code in (({"samples": [{}] * 10_001}, "too_many"), ({}, "unreadable"), ([], "unreadable")):
        answer = box.post(path, body)
        assert (answer.status_code, answer.json()["code"]) == (400, code)
    stranger = key_client(make_user("elsewhere@example.org"))
    assert stranger.post(path, {"samples": samples}).status_code == 404
    assert box.post("/api/v1/runs/00000000-0000-0000-0000-000000000000/samples", {"samples": []}).status_code == 404


def machines_of(schedule):
    return {p["machine"] for p in schedule["placements"]}


def test_a_box_of_ours_reads_its_own_work_and_the_shared_and_is_remembered(box, submitter, clock):
    register(box, name="mine", controller_id="box-1")
    register(box, name="theirs", controller_id="box-2")
    register(box, name="anybody's")
    tick(submitter, clock)
    assert machines_of(poll(box)) == {"box-1", "box-2", "shared"}
    assert not Controller.objects.exists(), "one that does not say who it is leaves no trace"
    assert machines_of(poll(box, controller_id="box-1")) == {"box-1", "shared"}
    answer = box.get("/api/v1/schedule?after=-1", headers={"x-controller-id": "box-2"})
    assert machines_of(answer.json()) == {"box-2", "shared"}
    row = Controller.objects.get(controller_id="box-1")
    assert (row.last_contact_at, row.last_version) == (NOON, 1)
    clock.shift(30)
    poll(box, after=1, controller_id="box-1")
    row.refresh_from_db()
    assert row.last_contact_at == NOON, "noted once a minute"
    clock.shift(31)
    poll(box, after=1, controller_id="box-1")
    row.refresh_from_db()
    assert row.last_contact_at == NOON + timedelta(seconds=61)


@pytest.mark.parametrize("after", ["", "x", "1.5", "--1", "²"])
def test_a_version_that_is_none_is_refused(box, after):
    assert box.get("/api/v1/schedule", {"after": after}).status_code == 400


def test_a_login_works_as_well_as_a_key_and_a_key_of_measurement_does_not(box, submitter, clock):
    register(box)
    tick(submitter, clock)
    assert poll(api_client(submitter))["version"] == 1
    assert key_client(submitter, scope="bench").get("/api/v1/schedule").status_code == 403
    assert key_client(make_user("elsewhere@example.org")).get("/api/v1/schedule").status_code == 204


def test_prices_that_land_change_the_schedule_only_by_a_new_version(box, submitter, clock, market):
    register(box, recurrence="none")
    tick(submitter, clock)
    before = poll(box)
    publish(market, 0.01, 0.01, start=at(1, 21), now=NOON)
    assert poll(box, after=before["version"]) is None
    tick(submitter, clock)
    after = poll(box, after=before["version"])
    assert after["version"] == before["version"] + 1
    assert after["placements"][0]["start"] == "2026-08-21T01:00:00+00:00"
    assert after["placements"][0]["occurrence_id"] == before["placements"][0]["occurrence_id"]
