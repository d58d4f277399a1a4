"""What an operator asks for: workflows that are made, changed, skipped, run now and deleted."""

from datetime import timedelta

import pytest

from scheduling.models import Occurrence, Workflow
from scheduling.services.planning import account_plan
from tests.people import key_client
from tests.scheduling.operator_calls import JOB, create
from tests.scheduling.people import make_market

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("noon")]


def test_a_workflow_comes_back_as_it_was_given(box):
    given = {
        **JOB,
        "request": {"model": "tiny", "prompt": "hello"},
        "deadline": "by 7am",
        "earliest_start": "22:00",
        "recurrence": "daily",
        "enabled": True,
        "bench_gpu_class": "RTX 3090",
        "bench_model_size_class": "8b",
        "bench_quant": "Q4_K_M",
        "controller_id": "box-1",
        "interruptible": True,
        "min_run_s": 600,
        "restart_wh": 2.5,
        "priority": 3,
    }
    made = create(box, **given)
    assert {name: made[name] for name in given} == given
    assert made["next_window"] == {
        "earliest_start": "2026-08-20T22:00:00+00:00",
        "deadline": "2026-08-21T07:00:00+00:00",
    }
    assert box.get(f"/api/v1/workflows/{made['id']}").json() == made
    assert box.get("/api/v1/workflows").json()["results"] == [made]


def test_names_need_not_be_unique_and_defaults_are_the_contracts(box):
    one, two = create(box), create(box)
    assert one["id"] != two["id"]
    assert (one["recurrence"], one["enabled"], one["interruptible"], one["priority"]) == ("none", True, False, 0)
    assert one["next_window"]["deadline"] == "2026-08-21T12:00:00+00:00", "24 h after the earliest start"


@pytest.mark.parametrize("field", ["deadline", "earliest_start"])
@pytest.mark.parametrize("words", ["whenever", "25:00", "by 7amm", "2026-13-01T00:00", "in -4 h"])
def test_a_time_that_can_not_be_read_names_the_field_and_gives_examples(box, field, words):
    answer = box.post("/api/v1/workflows", {**JOB, field: words})
    assert answer.status_code == 400
    (place,) = answer.json()["errors"]
    assert (place["attr"], place["code"]) == (field, "time_unreadable")
    assert words in place["detail"]
    assert "by 7am" in place["detail"]
    assert not Workflow.objects.exists()


@pytest.mark.parametrize(
    ("fields", "attr"),
    [
        ({"framework": "fortran"}, "framework"),
        ({"framework": None}, "framework"),
        ({"name": ""}, "name"),
        ({"name": 7}, "name"),
        ({"est_duration_s": "3600"}, "est_duration_s"),
        ({"est_duration_s": True}, "est_duration_s"),
        ({"est_duration_s": 0}, "est_duration_s"),
        ({"nameplate_watts": -5}, "nameplate_watts"),
        ({"recurrence": "hourly"}, "recurrence"),
        ({"deadline": 7}, "deadline"),
        ({"deadline": "in 4 h", "recurrence": "daily"}, "deadline"),
        ({"deadline": "by friday 7am", "recurrence": "daily"}, "deadline"),
        ({"deadline": "2020-01-01T09:00"}, "deadline"),
        ({"interruptible": True}, "interruptible"),
        ({"interruptible": "yes", "controller_id": "b"}, "interruptible"),
        ({"min_run_s": 7200}, "min_run_s"),
        ({"priority": 1.5}, "priority"),
        ({"request": "x" * 70_000}, "request"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_name(box, fields, attr):
    answer = box.post("/api/v1/workflows", {**JOB, **fields})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["attr"] == attr
    assert not Workflow.objects.exists()


def test_unknown_fields_are_ignored(box):
    assert "colour" not in create(box, colour="red")


def test_the_same_key_makes_the_workflow_once(box, other_submitter):
    headers = {"Idempotency-Key": "k1"}
    first = box.post("/api/v1/workflows", JOB, headers=headers)
    again = box.post("/api/v1/workflows", JOB, headers=headers)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    other = box.post("/api/v1/workflows", {**JOB, "name": "else"}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")
    assert (
        key_client(other_submitter).post("/api/v1/workflows", JOB, headers=headers).json()["id"] != first.json()["id"]
    )
    assert Workflow.objects.count() == 2
    assert box.post("/api/v1/workflows", JOB, headers={"Idempotency-Key": "x" * 201}).status_code == 400


def test_times_are_the_accounts_own(box, submitter):
    submitter.timezone = "America/New_York"
    submitter.save()
    assert create(box, deadline="by 7am")["next_window"]["deadline"] == "2026-08-21T11:00:00+00:00"


def test_a_change_changes_what_is_given_and_nothing_else(box):
    made = create(box, deadline="by 7am", recurrence="daily")
    path = f"/api/v1/workflows/{made['id']}"
    changed = box.patch(path, {"priority": 5}).json()
    assert changed == {**made, "priority": 5, "updated_at": changed["updated_at"]}
    changed = box.patch(path, {"deadline": "by 5am"}).json()
    assert changed["next_window"]["deadline"] == "2026-08-21T05:00:00+00:00"
    assert Occurrence.objects.filter(status="open").count() == 3, "the same dates, not more of them"
    assert box.patch(path, {"deadline": "never"}).status_code == 400
    assert box.patch(path, {"deadline": "by friday 5am"}).json()["errors"][0]["attr"] == "deadline"
    assert box.get(path).json()["deadline"] == "by 5am"
    assert box.patch(path, {"enabled": False}).json()["next_window"] is None
    assert box.patch(path, {"enabled": True}).json()["next_window"]["deadline"] == "2026-08-21T05:00:00+00:00"


def test_renaming_old_work_does_not_read_its_times_anew(box, noon):
    made = create(box, deadline="in 2 h")
    noon.shift(timedelta(days=3))
    answer = box.patch(f"/api/v1/workflows/{made['id']}", {"name": "renamed"})
    assert (answer.status_code, answer.json()["name"], answer.json()["next_window"]) == (200, "renamed", None)


def test_a_deleted_workflow_is_gone_for_everybody(box):
    made = create(box)
    path = f"/api/v1/workflows/{made['id']}"
    assert box.delete(path).status_code == 204
    for answer in (box.get(path), box.patch(path, {}), box.delete(path), box.post(f"{path}/run-now")):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert box.get("/api/v1/workflows").json()["count"] == 0


def test_skip_next_and_run_now_do_what_they_say(box, submitter):
    make_market(*[0.3] * 12, *[0.1] * 12, *[0.3] * 24)
    made = create(box, deadline="by 7am", recurrence="daily")
    path = f"/api/v1/workflows/{made['id']}"
    assert box.post(f"{path}/skip-next").json()["next_window"]["deadline"] == "2026-08-22T07:00:00+00:00"
    answer = box.post(f"{path}/run-now")
    assert answer.status_code == 200
    account_plan(account=submitter)
    first = box.get("/api/v1/schedule").json()["placements"][0]
    assert first["start"] == "2026-08-20T12:00:00+00:00"
    once = create(box, deadline="in 3 h")
    box.post(f"/api/v1/workflows/{once['id']}/skip-next")
    again = box.post(f"/api/v1/workflows/{once['id']}/skip-next")
    assert (again.status_code, again.json()["code"]) == (409, "nothing_to_skip")
    box.patch(path, {"enabled": False})
    assert box.post(f"{path}/run-now").json()["code"] == "workflow_disabled"


def test_recurring_work_keeps_its_wall_time_in_a_new_timezone(box):
    made = create(box, deadline="by 7am", recurrence="daily")
    once = create(box, deadline="by 7am")
    box.patch("/api/v1/account", {"timezone": "Asia/Tokyo"})
    path = "/api/v1/workflows/"
    assert box.get(path + made["id"]).json()["next_window"]["deadline"] == "2026-08-20T22:00:00+00:00"
    assert box.get(path + once["id"]).json()["next_window"]["deadline"] == "2026-08-21T07:00:00+00:00"
