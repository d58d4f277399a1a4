"""Honest money: measured energy at the published prices of the real minutes, against frozen baselines, losses shown."""

from datetime import timedelta
from decimal import Decimal

import pytest

from scheduling.models import Occurrence, SavingsEntry
from scheduling.selectors.savings import savings_by_month
from scheduling.services.account import account_update
from scheduling.services.runs import runs_ingest, runs_roll_up, samples_append
from scheduling.services.savings import savings_settle_due
from tests.people import key_client
from tests.scheduling.people import NOON, at, make_market, make_workflow, placement_of, plan, publish

pytestmark = pytest.mark.django_db
WAVE = [0.30] * 6 + [0.10] * 2 + [0.30] * 16
DAYS_LATER = at(12, 24)


def report(account, placement, *, now=DAYS_LATER, start=None, run_id="1", **fields):
    body = {
        "controller_id": "box",
        "run_id": run_id,
        "workflow_id": str(placement.workflow_id),
        "exit_status": "success",
        "scheduled_start": placement.start.isoformat(),
        "actual_start": (start or placement.start).isoformat(),
        "ts": placement.end.isoformat(),
        "duration_s": 3600.0,
        "energy_wh": 300.0,
        "energy_source": "counter",
        **fields,
    }
    return runs_ingest(account=account, body=body, now=now)[0].run


@pytest.fixture
def placed(submitter):
    make_market(*WAVE * 4)
    workflow = make_workflow(submitter, deadline="by 9am", recurrence="none")
    return placement_of(plan(submitter), workflow)


def test_a_run_in_the_cheap_hours_saved_what_starting_at_once_would_have_cost_more(submitter, placed):
    report(submitter, placed)
    assert savings_settle_due(now=DAYS_LATER) == 1
    entry = SavingsEntry.objects.get()
    assert (entry.cost, entry.earliest_cost) == (Decimal("0.03"), Decimal("0.09"))
    assert Decimal("0.03") < entry.random_cost < Decimal("0.09")
    assert (entry.is_measured, entry.energy_wh, entry.currency) == (True, 300, "EUR")
    assert entry.earliest_cost == placed.earliest_cost
    assert float(entry.random_cost) == pytest.approx(float(placed.random_cost))


def test_a_run_that_used_less_energy_is_no_saving_by_that(submitter, placed):
    report(submitter, placed, energy_wh=150.0)
    savings_settle_due(now=DAYS_LATER)
    entry = SavingsEntry.objects.get()
    assert (entry.cost, entry.earliest_cost) == (Decimal("0.015"), Decimal("0.045")), "both for the energy it took"
    assert entry.predicted_wh == 300


def test_a_loss_is_shown_as_a_loss(submitter, placed):
    report(submitter, placed, start=at(9, 21))
    publish_dear = make_market(0.90, start=at(9, 21))
    assert publish_dear
    savings_settle_due(now=DAYS_LATER)
    month = savings_by_month(submitter)[0]
    assert month.saved_against_earliest == Decimal("-0.18")
    assert month.saved_against_random < 0


def test_without_measured_energy_the_money_is_marked_predicted(submitter, placed):
    report(submitter, placed, energy_wh=None, energy_source=None)
    savings_settle_due(now=DAYS_LATER)
    entry = SavingsEntry.objects.get()
    assert (entry.is_measured, entry.energy_wh, entry.cost) == (False, 300, Decimal("0.03"))
    month = savings_by_month(submitter)[0]
    assert (month.predicted_runs, month.energy_wh) == (1, 0)


def test_a_simulated_meter_measures_nothing(submitter, placed, settings):
    settings.DEMO = False
    report(submitter, placed, energy_source="simulated", energy_wh=5000.0)
    assert SavingsEntry.objects.get().is_measured is False


def test_the_baseline_is_frozen_when_the_window_opens_and_new_plans_do_not_move_it(submitter):
    make_market(*WAVE * 4)
    workflow = make_workflow(submitter, deadline="by 9am", earliest_start="2pm", recurrence="none")
    plan(submitter)
    before = Occurrence.objects.get().baseline
    assert before["pieces"][0][0] == at(14).isoformat()
    plan(submitter, at(18))
    assert Occurrence.objects.get().baseline == before
    placed = placement_of(plan(submitter, at(20)), workflow)
    report(submitter, placed)
    savings_settle_due(now=DAYS_LATER)
    assert SavingsEntry.objects.get().earliest_cost == Decimal("0.09")


def test_money_waits_for_the_prices_and_is_settled_when_they_come(submitter):
    market = make_market(*WAVE, start=at(0))
    workflow = make_workflow(submitter, deadline="in 16 h", earliest_start="6am", recurrence="none", now=at(22))
    publish(market, *WAVE, start=at(0, 19), now=NOON)
    version = plan(submitter, at(22))
    placed = placement_of(version, workflow)
    assert version.degraded
    report(submitter, placed, now=placed.end)
    assert savings_settle_due(now=placed.end) == 0
    entry = SavingsEntry.objects.get()
    assert (entry.cost, entry.settled_at) == (None, None)
    assert "not published" in entry.reason
    assert savings_by_month(submitter)[0].unsettled_runs == 1
    publish(market, *[0.5] * 24, start=at(0, 21), now=at(0, 22))
    assert savings_settle_due(now=at(0, 22)) == 1
    entry.refresh_from_db()
    assert (entry.cost, entry.earliest_cost, entry.reason) == (Decimal("0.15"), Decimal("0.15"), "")


def test_prices_that_never_come_leave_the_money_unknown_and_say_so(submitter):
    make_market(*WAVE, start=at(0))
    workflow = make_workflow(submitter, deadline="in 16 h", earliest_start="6am", recurrence="none", now=at(22))
    placed = placement_of(plan(submitter, at(22)), workflow)
    report(submitter, placed, now=placed.end)
    savings_settle_due(now=placed.end + timedelta(days=20))
    entry = SavingsEntry.objects.get()
    assert entry.settled_at is not None
    assert (entry.cost, entry.earliest_cost, "not published" in entry.reason) == (None, None, True)


def test_money_that_can_not_be_settled_holds_up_nobody_elses(submitter, other_submitter):
    market = make_market(*WAVE, start=at(0))
    stuck = make_workflow(submitter, deadline="in 16 h", earliest_start="6am", recurrence="none", now=at(22))
    without_prices = placement_of(plan(submitter, at(22)), stuck)
    for run in range(3):
        report(submitter, without_prices, run_id=f"stuck {run}", now=without_prices.end)
    publish(market, *WAVE, start=at(0, 22))
    ready = make_workflow(other_submitter, deadline="in 8 h", recurrence="none", now=at(0, 22))
    report(other_submitter, placement_of(plan(other_submitter, at(0, 22)), ready), now=at(12, 22))
    settled = [savings_settle_due(now=at(12 + minute / 60, 22), limit=2) for minute in (0, 5)]
    assert settled == [0, 1]
    assert SavingsEntry.objects.get(account=other_submitter).cost == Decimal("0.03")
    assert SavingsEntry.objects.filter(account=submitter, settled_at=None).count() == 3


def test_fees_and_vat_are_those_of_the_plan(submitter):
    make_market(*WAVE * 4)
    account_update(account=submitter, tariff={"levies": Decimal("0.05"), "vat": Decimal("0.2")}, now=NOON)
    workflow = make_workflow(submitter, deadline="by 9am", recurrence="none")
    placed = placement_of(plan(submitter), workflow)
    assert float(placed.cost) == pytest.approx(0.3 * 0.15 * 1.2)
    account_update(account=submitter, tariff={"levies": Decimal("0.5")}, now=at(13))
    report(submitter, placed)
    savings_settle_due(now=DAYS_LATER)
    assert SavingsEntry.objects.get().cost == Decimal("0.054")


def test_energy_is_priced_by_its_samples_where_there_are_any(submitter):
    make_market(*[0.10, 0.30] * 48)
    workflow = make_workflow(submitter, deadline="by 9am", earliest_start="8:30pm", recurrence="none")
    placed = placement_of(plan(submitter), workflow)
    start = placed.start
    run = report(submitter, placed, start=at(20.5))
    samples = [
        {"ts": (at(20.5) + timedelta(seconds=s)).isoformat(), "power_w": 600.0 if s < 1800 else 0.0}
        for s in range(0, 3601, 10)
    ]
    samples_append(account=submitter, run_id=run.pk, samples=samples, now=DAYS_LATER)
    assert savings_settle_due(now=DAYS_LATER) == 0, "its samples are not rolled up yet"
    assert runs_roll_up(now=DAYS_LATER) == 1
    assert savings_settle_due(now=DAYS_LATER) == 1
    assert float(SavingsEntry.objects.get().cost) == pytest.approx(0.3 * 0.10, rel=0.01), "all of it before 21:00"
    assert start.minute in (0, 30)


def test_a_failed_run_saves_nothing(submitter, placed):
    report(submitter, placed, exit_status="error")
    assert not SavingsEntry.objects.exists()


def test_the_months_are_summed_for_the_owner_alone(submitter, other_submitter, placed):
    report(submitter, placed)
    savings_settle_due(now=DAYS_LATER)
    answer = key_client(submitter).get("/api/v1/savings")
    assert answer.status_code == 200
    (month,) = answer.json()
    assert (month["month"], month["runs"], month["cost"]) == ("2026-08-01", 1, 0.03)
    assert month["saved_against_earliest"] == pytest.approx(0.06)
    assert key_client(other_submitter).get("/api/v1/savings").json() == []
