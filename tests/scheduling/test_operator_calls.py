"""What an operator asks for: advice, choices of the account, lists, the proof of a plan, and nobody else's rows."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from asyncenergy.clock import now
from scheduling.models import Controller, Market, Occurrence, ScheduleVersion, Workflow
from scheduling.services.planning import account_plan, accounts_due
from tests.people import key_client, make_user
from tests.scheduling.operator_calls import JOB, create
from tests.scheduling.people import NOON, at, make_market

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("noon")]
DOCUMENTATION = Path(__file__).resolve().parents[2] / "docs" / "certificate.md"
ADVICE = {"est_duration_s": 3600, "deadline": "by 7am", "nameplate_watts": 300}


def test_another_accounts_rows_are_not_there(box, submitter):
    make_market(*[0.1] * 48)
    made = create(box, deadline="by 7am")
    account_plan(account=submitter)
    stranger = key_client(make_user("elsewhere@example.org"))
    path = f"/api/v1/workflows/{made['id']}"
    for answer in (
        stranger.get(path),
        stranger.patch(path, {"name": "mine"}),
        stranger.delete(path),
        stranger.post(f"{path}/skip-next"),
        stranger.get("/api/v1/schedule/1/certificate"),
        stranger.post("/api/v1/schedule/ack", {"schedule_version": 1, "event": "started", "workflow_id": made["id"]}),
    ):
        assert answer.status_code == 404
    assert stranger.get("/api/v1/workflows").json()["results"] == []
    assert stranger.get("/api/v1/runs").json()["results"] == []


def test_advice_needs_no_plan_no_prices_and_leaves_no_trace(box):
    answer = box.post("/api/v1/advise", ADVICE)
    assert answer.status_code == 200
    said = answer.json()
    assert said == {
        "start": "2026-08-20T22:00:00+00:00",
        "end": "2026-08-20T23:15:00+00:00",
        "grid_cost": pytest.approx(0.066),
        "now_cost": pytest.approx(0.096),
        "savings": pytest.approx(0.03),
        "predicted_wh": 300,
        "feasible": True,
        "reason": "",
        "prediction_method": "nameplate",
        "degraded": False,
        "currency": "EUR",
        "smallest_change": None,
    }
    assert not Workflow.objects.exists()
    assert not Occurrence.objects.exists()
    assert not ScheduleVersion.objects.exists()
    assert accounts_due() == []


def test_advice_and_plan_agree(box, submitter):
    make_market(*[0.30] * 6, *[0.10] * 2, *[0.30] * 16, *[0.30] * 6, *[0.05, 0.10], *[0.30] * 16)
    said = box.post("/api/v1/advise", ADVICE).json()
    create(box, deadline="by 7am")
    account_plan(account=submitter)
    placed = box.get("/api/v1/schedule").json()["placements"][0]
    assert (placed["start"], placed["end"]) == (said["start"], said["end"])
    assert placed["cost"] == pytest.approx(said["grid_cost"])


def test_advice_that_does_not_fit_says_why_and_what_would_help(box):
    said = box.post("/api/v1/advise", {**ADVICE, "est_duration_s": 36000, "deadline": "in 4 h"}).json()
    assert (said["feasible"], said["start"], said["reason"]) == (False, None, "duration 12h30 > window 4h")
    assert "later" in said["smallest_change"]


def test_advice_does_not_guess_power(box, submitter):
    answer = box.post("/api/v1/advise", {"est_duration_s": 3600, "deadline": "by 7am"})
    assert (answer.status_code, answer.json()["code"]) == (400, "prediction_impossible")
    assert answer.json()["errors"][0]["attr"] == "nameplate_watts"
    run = {"controller_id": "b", "run_id": "1", "ts": NOON.isoformat(), "exit_status": "success", "fingerprint": "f"}
    box.post("/api/v1/runs", {**run, "duration_s": 1800, "energy_wh": 90, "energy_source": "counter"})
    said = box.post("/api/v1/advise", {"est_duration_s": 3600, "deadline": "by 7am", "fingerprint": "f"}).json()
    assert (said["prediction_method"], said["predicted_wh"]) == ("history", pytest.approx(90 * 1.1 * 1.1))


@pytest.mark.parametrize("field", ["est_duration_s", "deadline"])
def test_advice_without_what_it_needs_names_it(box, field):
    answer = box.post("/api/v1/advise", {name: value for name, value in ADVICE.items() if name != field})
    assert (answer.status_code, answer.json()["errors"][0]["attr"]) == (400, field)


def test_the_account_chooses_its_market_tariff_and_limits(box, submitter):
    before = box.get("/api/v1/account").json()
    assert (before["market"], before["currency"], before["timezone"]) == ("day-and-night", "EUR", "UTC")
    assert before["notices"] == dict.fromkeys(["failed_runs", "unmatched_workflows", "quiet_controllers"], False)
    change = {
        "timezone": "Europe/London",
        "market": "gb-agile-london",
        "currency": "GBP",
        "tariff": {
            "supplier_fee": "0.01",
            "vat": "0.05",
            "grid_periods": [{"from": "16:00", "to": "19:00", "price": "0.1"}],
        },
        "watt_limit": 3000,
        "notices": {"failed_runs": True},
    }
    after = box.patch("/api/v1/account", change).json()
    assert after == box.get("/api/v1/account").json()
    assert (after["market"], after["currency"], after["watt_limit"]) == ("gb-agile-london", "GBP", 3000)
    assert float(after["tariff"]["supplier_fee"]) == 0.01
    assert after["notices"]["failed_runs"] is True
    paused = box.patch("/api/v1/account", {"paused": True}).json()
    assert (paused["paused"], paused["paused_at"]) == (True, "2026-08-20T12:00:00+00:00")
    assert box.patch("/api/v1/account", {"watt_limit": None, "market": None}).json()["market"] == "day-and-night"


@pytest.mark.parametrize(
    ("change", "attr"),
    [
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"market": "atlantis"}, "market"),
        ({"currency": "USD"}, "currency"),
        ({"watt_limit": 0}, "watt_limit"),
        ({"watt_limit": "3000"}, "watt_limit"),
        ({"tariff": {"vat": "1.5"}}, "tariff.vat"),
        ({"tariff": {"grid_periods": [{"from": "x", "to": "y", "price": "z"}]}}, "tariff.grid_periods"),
        ({"tariff": {"grid_periods": [{"from": 22, "to": "06:00", "price": "0.1"}]}}, "tariff.grid_periods"),
        ({"tariff": {"grid_periods": [{"from": "22:00", "to": None, "price": "0.1"}]}}, "tariff.grid_periods"),
        ({"tariff": {"grid_periods": [{"from": "22:00", "to": "06:00", "price": "1e30"}]}}, "tariff.grid_periods"),
        ({"notices": {"failed_runs": "yes"}}, "notices.failed_runs"),
        ({"paused": 1}, "paused"),
    ],
)
def test_a_choice_that_can_not_be_is_refused_and_nothing_changes(box, change, attr):
    before = box.get("/api/v1/account").json()
    answer = box.patch(
        "/api/v1/account", {**change, "notices": {"quiet_controllers": True, **change.get("notices", {})}}
    )
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["attr"] == attr
    assert box.get("/api/v1/account").json() == before


def test_markets_are_listed(box):
    listed = box.get("/api/v1/markets", {"limit": 500}).json()
    assert listed["count"] == Market.objects.count()
    assert {"slug": "comed", "after_the_fact": True} in [
        {name: row[name] for name in ("slug", "after_the_fact")} for row in listed["results"]
    ]


def test_a_controller_may_run_more_than_one_job_at_once(box, submitter):
    make_market(*[0.3] * 24, *[0.1] * 2, *[0.3] * 22)
    for name in "ab":
        create(box, name=name, deadline="by 7am", controller_id="box-1")
    assert box.patch("/api/v1/controllers/box-1", {"capacity": 2}).status_code == 404, "it was never heard of"
    box.get("/api/v1/schedule", {"controller_id": "box-1"})
    assert box.patch("/api/v1/controllers/box-1", {"capacity": 2}).json()["capacity"] == 2
    account_plan(account=submitter)
    one, two = box.get("/api/v1/schedule").json()["placements"]
    assert one["start"] == two["start"]
    assert box.get("/api/v1/controllers").json()["results"][0]["last_contact_at"] == "2026-08-20T12:00:00+00:00"
    assert box.patch("/api/v1/controllers/box-1", {"capacity": 0}).status_code == 400
    assert Controller.objects.get().capacity == 2


def test_runs_are_listed_with_what_was_predicted_and_saved(box, submitter):
    run = {"controller_id": "b", "run_id": "1", "ts": NOON.isoformat(), "energy_wh": 5.5, "energy_source": "counter"}
    box.post("/api/v1/runs", run)
    (row,) = box.get("/api/v1/runs").json()["results"]
    assert (row["run_id"], row["energy_wh"], row["savings"], row["profile"]) == ("1", 5.5, None, None)


@pytest.mark.parametrize(
    ("path", "queries"),
    [("/api/v1/workflows", 6), ("/api/v1/runs", 4), ("/api/v1/controllers", 4), ("/api/v1/schedule", 5)],
)
def test_lists_take_as_many_queries_for_many_rows_as_for_one(
    box, submitter, path, queries, django_assert_max_num_queries
):
    make_market(*[0.1] * 48)
    for i in range(6):
        create(box, name=str(i), controller_id=f"box-{i}", deadline="by 7am")
        box.post("/api/v1/runs", {"controller_id": "b", "run_id": str(i), "ts": NOON.isoformat()})
        box.get("/api/v1/schedule", {"controller_id": f"box-{i}"})
    account_plan(account=submitter)
    with django_assert_max_num_queries(queries):
        assert box.get(path).status_code == 200


def test_the_certificate_is_checked_by_the_lines_in_the_documentation(box, submitter, tmp_path):
    make_market(*[0.30, 0.12, 0.25, 0.08] * 12)
    for i in range(3):
        create(box, name=str(i), est_duration_s=2000 + 700 * i, deadline="by 7am")
    account_plan(account=submitter)
    answer = box.get("/api/v1/schedule/1/certificate")
    assert answer.status_code == 200
    code = DOCUMENTATION.read_text().split("```python\n")[1].split("```")[0]
    file = tmp_path / "certificate.json"
    file.write_bytes(answer.content)
    (tmp_path / "check.py").write_text(code)
    check = [sys.executable, "check.py", file.name]
    said = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True).stdout
    assert said.strip()
    forged = answer.json() | {"lower_bound": answer.json()["lower_bound"] + 0.01}
    file.write_text(json.dumps(forged))
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, timeout=60, check=False).returncode != 0


def test_reading_writes_nothing(box, submitter, django_assert_num_queries):
    make_market(*[0.1] * 48)
    create(box)
    account_plan(account=submitter)
    before = list(Workflow.objects.values()), list(Occurrence.objects.values())
    for path in ("workflows", "schedule", "account", "markets", "savings", "controllers", "runs"):
        box.get(f"/api/v1/{path}")
    assert (list(Workflow.objects.values()), list(Occurrence.objects.values())) == before


@pytest.mark.campaign
def test_every_call_answers_within_three_seconds_with_forty_jobs(box, submitter):
    make_market(*[0.1, 0.3, 0.2, 0.25] * 24)
    for i in range(40):
        create(box, name=str(i), est_duration_s=1800 + 60 * i, controller_id=f"box-{i % 4}", deadline="by 11am")
    account_plan(account=submitter)
    schedule = box.get("/api/v1/schedule").json()
    placed = schedule["placements"][0]
    calls = [
        lambda: box.get("/api/v1/schedule"),
        lambda: box.post("/api/v1/advise", ADVICE),
        lambda: box.post("/api/v1/workflows", JOB),
        lambda: box.post(
            "/api/v1/schedule/ack",
            {"schedule_version": 1, "event": "failed", "workflow_id": placed["workflow_id"], "at": now().isoformat()},
        ),
        lambda: box.get("/api/v1/schedule/1/certificate"),
    ]
    for call in calls:
        began = time.perf_counter()
        assert call().status_code in (200, 201)
        assert time.perf_counter() - began < 3.0
    assert at(12) == now()
