"""The dashboard: prices with the placements on them, sums, what does not fit, the proof."""

from datetime import timedelta
from decimal import Decimal

import pytest

from scheduling.models import ScheduleVersion
from scheduling.services.account import account_update
from scheduling.services.workflows import workflow_skip_next
from tests.bench.pages_html import read
from tests.scheduling.people import at, make_market, make_workflow, placement_of, plan

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("noon")]
DAY = [0.25, 0.20, 0.10, 0.12, 0.20, 0.28] + [0.40] * 6 + [0.30] * 12


@pytest.fixture
def own(client, submitter):
    make_market(*DAY * 4)
    client.force_login(submitter)
    return client


def look(client, address="/schedule/"):
    return read(client.get(address))


def drawn(page, name):
    return [attributes for tag, attributes in page.elements if tag == "tr" and name in attributes]


def test_strangers_are_asked_to_sign_in(client):
    assert client.get("/schedule/").url == "/accounts/login/?next=/schedule/"


def test_a_new_account_sees_prices_and_what_to_do(own):
    page = look(own)
    assert "Nothing is planned" in page.text
    assert "/quickstart/" in page.values("href")
    assert len(drawn(page, "data-price")) == 12
    assert page.faults == []


def test_a_job_stands_on_the_curve_where_the_plan_has_it(own, submitter):
    workflow = make_workflow(submitter)
    version = plan(submitter)
    placement = placement_of(version, workflow)
    page = look(own)
    (lane,) = drawn(page, "data-runs")
    assert lane["data-runs"] == "50400-54900", "02:00 to 03:15, in seconds from noon"
    assert (lane["data-opens"], lane["data-closes"]) == ("0", str(19 * 3600))
    assert placement.start == at(2, 21)
    assert [row["data-price"] for row in drawn(page, "data-price") if "data-busy" in row] == ["10.0", "12.0"]
    assert "Fri 02:00–03:15" in page.text
    assert page.faults == []


def test_the_sums_are_those_of_the_plan_and_marked_as_predicted(own, submitter):
    make_workflow(submitter, recurrence="none")
    version = plan(submitter)
    text = look(own).text
    assert f"Planned cost{100 * float(version.cost):.1f} ct" in text.replace(" Planned", "Planned")
    assert "300 Wh 1 job, predicted" in text
    assert "+6.0 ct predicted, 66.7 % less than 9.0 ct" in text
    assert f"no plan of its jobs costs less than {100 * float(version.lower_bound):.1f} ct" in text


def test_what_the_owner_pays_is_the_curve(own, submitter):
    account_update(account=submitter, tariff={"supplier_fee": Decimal("0.1"), "vat": Decimal("0.2")})
    make_workflow(submitter)
    plan(submitter)
    rows = drawn(look(own), "data-price")
    assert rows[0]["data-price"] == "48.0", "(0.30 + 0.10) x 1.2"


def test_a_job_that_does_not_fit_says_why_and_what_would_help(own, submitter):
    make_workflow(submitter, name="archive", est_duration_s=3 * 3600.0, earliest_start="04:00", deadline="by 7am")
    plan(submitter)
    page = look(own)
    assert "A, archive, does not fit. It takes up to 3 h 45 min, and its window has 3 h." in page.text
    assert "deadline 45 min later" in page.text
    (lane,) = drawn(page, "data-runs")
    assert lane["data-runs"] == ""


def test_a_watt_limit_that_leaves_no_room_leads_to_the_limit(own, submitter):
    account_update(account=submitter, watt_limit=250.0)
    make_workflow(submitter)
    plan(submitter)
    page = look(own)
    assert "Your watt limit leaves no room for it beside the others." in page.text
    assert "The smallest change that helps: watt limit 50 W higher." in page.text
    assert page.values("href").count("/schedule/settings/") == 2


def test_a_machine_that_is_taken_throughout_is_said_so(own, submitter):
    for name in ("one", "two"):
        make_workflow(submitter, name=name, est_duration_s=1.8 * 3600, earliest_start="04:00", recurrence="none")
    plan(submitter)
    page = look(own)
    assert "Its machine is taken by other jobs in the whole window." in page.text
    assert "We never move a deadline ourselves." in page.text


def test_a_plan_on_a_forecast_says_so(own, submitter):
    market = make_market()
    market.points.filter(start__gte=at(0, 21)).update(is_forecast=True)
    make_workflow(submitter)
    plan(submitter)
    page = look(own)
    assert "in part from a forecast of prices" in page.text
    assert {row.get("data-forecast") for row in drawn(page, "data-price")[12:]} == {"yes"}
    assert "dashed where it is a forecast" in page.text


def test_tonight_is_a_day_and_the_rest_of_the_plan_a_press_away(own, submitter):
    make_workflow(submitter)
    assert plan(submitter).placements.count() == 2
    page = look(own)
    assert len(drawn(page, "data-runs")) == 1
    assert "1 more job after the next 24 hours" in page.text
    assert len(drawn(look(own, "/schedule/?whole"), "data-runs")) == 2


def test_what_is_over_is_not_shown_and_the_bound_stays_that_of_its_plan(own, submitter, noon):
    make_workflow(submitter, name="late", deadline="by 9am", recurrence="none", earliest_start="2026-08-21T07:30")
    make_workflow(submitter, name="early", recurrence="none")
    first = plan(submitter)
    noon.move_to(at(4, 21))
    page = look(own)
    assert [row["data-name"] for row in drawn(page, "data-runs")] == ["late"]
    assert f"all of plan {first.number} costs" in page.text


def test_a_change_that_is_not_planned_yet_is_announced(own, submitter):
    make_workflow(submitter)
    page = look(own)
    assert "A new plan is being made" in page.text
    assert page.values("hx-select") == ["#due"]
    plan(submitter)
    assert "A new plan is being made" not in look(own).text
    asked_by_htmx = own.get("/schedule/", headers={"hx-request": "true"})
    assert "The new plan is made" in asked_by_htmx.text
    assert "hx-trigger" not in asked_by_htmx.text


def test_a_paused_account_is_told_that_it_is_paused(own, submitter):
    account_update(account=submitter, paused=True)
    assert "Nothing new begins" in look(own).text


def test_names_are_text_and_nothing_else(own, submitter):
    make_workflow(submitter, name="<script>alert(1)</script>")
    plan(submitter)
    page = look(own)
    assert "<script>alert" not in page.html
    assert page.faults == []


def test_nobody_elses_plan_is_shown(own, other_submitter):
    make_workflow(other_submitter, name="secret")
    plan(other_submitter)
    assert "secret" not in look(own).text


def test_the_page_asks_the_database_little(own, submitter, django_assert_num_queries):
    for number in range(5):
        make_workflow(submitter, name=f"job {number}")
    plan(submitter)
    with django_assert_num_queries(15):
        own.get("/schedule/")


def test_times_are_by_the_owners_clock(own, submitter):
    submitter.timezone = "America/New_York"
    submitter.save()
    make_workflow(submitter, deadline="by 7am")
    plan(submitter)
    page = look(own)
    assert "Thu 22:00–23:15" in page.text
    assert "America/New_York" in page.text


def test_a_new_version_without_a_new_plan_keeps_the_prices_of_its_plan(own, submitter, noon):
    make_workflow(submitter)
    second = make_workflow(submitter, name="other")
    plan(submitter)
    workflow_skip_next(workflow=second)
    version = ScheduleVersion.objects.first()
    assert version.based_on is not None
    noon.shift(timedelta(minutes=5))
    assert len(drawn(look(own), "data-price")) > 12
