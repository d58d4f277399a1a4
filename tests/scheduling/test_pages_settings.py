"""What an account pays and where it is; its controllers; the file that proves a plan."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest

from scheduling.models import Controller, SchedulingAccount, Tariff
from scheduling.services.account import account_update, controller_contact
from tests.bench.pages_html import read
from tests.scheduling.people import NOON, make_workflow, plan

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("noon")]
PAGE = "/schedule/settings/"
SAID = {
    "timezone": "Europe/Prague",
    "market": "hourly",
    "watt_limit": "2000",
    "supplier_fee": "0.015",
    "levies": "0.02",
    "grid_fee": "0.06",
    "grid_periods": "mon-fri 22:00-06:00 0.04\nsat,sun 06:00-22:00 0.03",
    "vat": "21",
}


def test_what_is_saved_is_what_the_plan_reckons_with(own, submitter):
    assert own.post(PAGE, SAID).url == PAGE
    submitter.refresh_from_db()
    tariff, choices = Tariff.objects.get(), SchedulingAccount.objects.get()
    assert (submitter.timezone, choices.market.slug, choices.watt_limit) == ("Europe/Prague", "hourly", 2000)
    assert (tariff.supplier_fee, tariff.vat) == (Decimal("0.015"), Decimal("0.21"))
    assert tariff.grid_periods[0] == {"days": "mon-fri", "from": "22:00", "to": "06:00", "price": "0.04"}


def test_the_form_shows_what_was_saved_and_saving_it_again_changes_nothing(own):
    own.post(PAGE, SAID)
    before = Tariff.objects.values().get(), SchedulingAccount.objects.values().get()
    page = read(own.get(PAGE))
    fields = {field.get("name"): field.get("value") for field in page.all("input")}
    assert {name: fields[name] for name in ("watt_limit", "supplier_fee", "vat")} == {
        "watt_limit": "2000",
        "supplier_fee": "0.015",
        "vat": "21",
    }
    assert SAID["grid_periods"] in page.html.replace("&#x27;", "'")
    own.post(PAGE, SAID)
    assert (Tariff.objects.values().get(), SchedulingAccount.objects.values().get()) == before


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("timezone", "Mars/Base", "Select a valid choice"),
        ("market", "nowhere", "Select a valid choice"),
        ("watt_limit", "0", "greater than or equal to 1"),
        ("vat", "200", "less than or equal to 100"),
        ("supplier_fee", "NaN", "Enter a number"),
        ("grid_periods", "whenever cheap", "is no period"),
        ("grid_periods", "mon-fry 22:00-06:00 0.04", "is no period"),
        ("grid_periods", "all 22:00-06:00 0.04\nmon 23:00-24:00 0.1", "2 periods give a price"),
    ],
)
def test_what_can_not_be_taken_is_said_at_its_field_and_nothing_is_stored(own, field, value, words):
    page = read(own.post(PAGE, SAID | {field: value}))
    assert f"id_{field}_error" in page.values("id")
    assert words in page.text
    assert not SchedulingAccount.objects.exists()
    assert not Tariff.objects.exists()


def test_pausing_all_and_going_on(own, submitter):
    make_workflow(submitter)
    plan(submitter)
    own.post("/schedule/pause/")
    assert plan(submitter).placements.count() == 0
    assert "Paused since" in read(own.get(PAGE)).text
    own.post("/schedule/resume/")
    assert plan(submitter).placements.count() == 2


def test_a_controller_in_touch_and_a_quiet_one_are_told_apart(own, submitter):
    make_workflow(submitter, controller_id="box-2")
    version = plan(submitter)
    controller_contact(account=submitter, controller_id="box-1", version=version.number, now=NOON)
    controller_contact(account=submitter, controller_id="box-2", version=None, now=NOON - timedelta(hours=3))
    page = read(own.get("/schedule/controllers/"))
    assert "in touchbox-1. Last contact just now" in page.text
    assert f"Has plan {version.number}." in page.text
    assert "quietbox-2. Last contact 3 h ago" in page.text
    assert "nightly waits for it, until Fri 05:45 at the latest" in page.text
    assert "box-2" in read(own.get("/schedule/")).text


def test_a_controller_that_has_an_old_plan_says_which(own, submitter):
    make_workflow(submitter)
    controller_contact(account=submitter, controller_id="box", version=plan(submitter).number, now=NOON)
    make_workflow(submitter, name="another")
    plan(submitter)
    assert "Still has plan 1; the newest is 2." in read(own.get("/schedule/controllers/")).text


def test_work_for_a_controller_that_never_came_is_named(own, submitter):
    workflow = make_workflow(submitter, controller_id="box-9")
    page = read(own.get("/schedule/controllers/"))
    assert "nightly waits for box-9." in page.text
    assert f"/schedule/workflows/{workflow.pk}/edit/" in page.values("href")


def test_how_many_jobs_a_controller_runs_at_once_can_be_said(own, submitter):
    controller_contact(account=submitter, controller_id="box/1", version=None, now=NOON)
    own.post("/schedule/controllers/", {"controller_id": "box/1", "capacity": "3"})
    assert Controller.objects.get().capacity == 3
    answer = own.post("/schedule/controllers/", {"controller_id": "box/1", "capacity": "0"})
    assert "1 to 100 jobs at once, not '0'" in answer.text.replace("&#x27;", "'")
    assert own.post("/schedule/controllers/", {"controller_id": "else", "capacity": "2"}).status_code == 404
    assert Controller.objects.get().capacity == 3


def test_the_proof_of_a_plan_is_a_file_to_keep(own, submitter):
    make_workflow(submitter)
    version = plan(submitter)
    answer = own.get(f"/schedule/plans/{version.number}/certificate.json")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="async-energy-plan-{version.number}.json"'
    proof = json.loads(answer.content)
    assert proof["lower_bound"] == pytest.approx(float(version.lower_bound))
    assert own.get("/schedule/plans/99/certificate.json").status_code == 404


def test_the_proof_is_its_owners_alone(own, other_submitter):
    make_workflow(other_submitter)
    version = plan(other_submitter)
    assert own.get(f"/schedule/plans/{version.number}/certificate.json").status_code == 404


def test_the_pages_ask_the_database_little(own, submitter, django_assert_num_queries):
    for number in range(5):
        controller_contact(account=submitter, controller_id=f"box {number}", version=None, now=NOON)
    account_update(account=submitter, watt_limit=1000.0)
    with django_assert_num_queries(6):
        own.get("/schedule/controllers/")
    with django_assert_num_queries(6):
        own.get(PAGE)
