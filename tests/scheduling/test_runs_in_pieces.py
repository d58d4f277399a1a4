"""A run in pieces is reported piece by piece, and counts as the one run that it is: length, energy and money."""

from datetime import timedelta
from decimal import Decimal

import pytest

from scheduling.models import RunRecord, SavingsEntry
from scheduling.selectors.predictions import known_of
from scheduling.services.runs import runs_ingest, runs_roll_up, samples_append
from scheduling.services.savings import savings_settle_due
from tests.scheduling.people import at, make_market, make_workflow, placement_of, plan

pytestmark = pytest.mark.django_db
EVENING, MORNING = (at(20), at(23)), (at(6, 21), at(8, 21))
LATER = at(12, 24)


@pytest.fixture
def workflow(submitter):
    """300 W for four hours, five reserved; the cheapest are three in the evening and two in the morning."""
    make_market(*[0.30] * 20, *[0.20] * 3, *[0.30] * 7, *[0.10] * 2, *[0.30] * 64)
    return make_workflow(
        submitter,
        deadline="by 9am",
        recurrence="none",
        controller_id="box",
        interruptible=True,
        est_duration_s=14400.0,
    )


@pytest.fixture
def placed(submitter, workflow):
    placement = placement_of(plan(submitter), workflow)
    assert placement.pieces == [[begin.isoformat(), end.isoformat()] for begin, end in (EVENING, MORNING)]
    return placement


def piece(placement, span, exit_status, *, start=None, **fields):
    """A report as our controller makes it, at 300 W."""
    begin, end = span
    seconds = (end - begin).total_seconds()
    return {
        "controller_id": "box",
        "run_id": f"{exit_status} {begin.isoformat()}",
        "workflow_id": str(placement.workflow_id),
        "occurrence_id": str(placement.occurrence_id),
        "exit_status": exit_status,
        "scheduled_start": (start or placement.start).isoformat(),
        "actual_start": begin.isoformat(),
        "ts": end.isoformat(),
        "duration_s": seconds,
        "energy_wh": 300 * seconds / 3600,
        "energy_source": "counter",
        **fields,
    }


def report(account, *records):
    runs_ingest(account=account, body=list(records), now=MORNING[1])


def whole(placed, **of_the_first):
    return [piece(placed, EVENING, "preempted", **of_the_first), piece(placed, MORNING, "success")]


@pytest.mark.parametrize("order", [1, -1])
def test_the_next_night_is_planned_for_all_pieces_in_whatever_order_they_were_reported(
    submitter, workflow, placed, order
):
    report(submitter, *whole(placed)[::order])
    (run,) = known_of(workflow).runs
    assert (run.duration_s, run.energy_wh, run.shape) == (18000, 1500, ())
    again = make_workflow(
        submitter, deadline="by 9am", recurrence="none", controller_id="box", interruptible=True, now=at(12, 21)
    )
    RunRecord.objects.update(workflow=again)
    assert placement_of(plan(submitter, at(12, 21)), again).reserved_s == pytest.approx(18000 * 1.1)


def test_a_piece_whose_energy_was_not_measured_leaves_that_of_the_run_unknown(submitter, workflow, placed):
    report(submitter, *whole(placed, energy_wh=None, energy_source=None))
    (run,) = known_of(workflow).runs
    assert (run.duration_s, run.energy_wh) == (18000, None)


def test_a_piece_whose_length_is_not_known_leaves_the_run_out(submitter, workflow, placed):
    report(submitter, *whole(placed, duration_s=None))
    assert known_of(workflow).runs == ()


def test_pieces_of_an_attempt_that_was_begun_anew_do_not_count(submitter, workflow, placed):
    first = piece(placed, EVENING, "preempted")
    broken = piece(placed, (at(23.2), at(23.4)), "error")
    runs_ingest(account=submitter, body=[first, broken], now=at(23.4))
    second = placement_of(plan(submitter, at(23.5)), workflow)
    assert (second.attempt, second.start > placed.start) == (2, True)
    report(submitter, piece(second, MORNING, "success"))
    (run,) = known_of(workflow).runs
    assert (run.duration_s, run.energy_wh) == (7200, 600)
    assert SavingsEntry.objects.get().energy_wh == 600


def test_a_run_that_is_not_interruptible_is_begun_anew_after_it_was_cut_off(submitter):
    make_market(*[0.30] * 96)
    workflow = make_workflow(submitter, deadline="by 9am", recurrence="none")
    placed = placement_of(plan(submitter), workflow)
    report(submitter, piece(placed, (at(12), at(13)), "preempted"), piece(placed, (at(14), at(15)), "success"))
    (run,) = known_of(workflow).runs
    assert (run.duration_s, run.energy_wh) == (3600, 300)


@pytest.mark.parametrize("order", [1, -1])
def test_the_savings_count_the_energy_of_all_pieces_at_the_prices_of_each(submitter, placed, order):
    for record in whole(placed)[::order] * 2:
        report(submitter, record)
    assert savings_settle_due(now=LATER) == 1
    entry = SavingsEntry.objects.get()
    assert (entry.is_measured, entry.energy_wh, entry.on) == (True, 1500, EVENING[0].date())
    assert (entry.cost, entry.earliest_cost) == (Decimal("0.24"), Decimal("0.45"))
    assert Decimal("0.24") < entry.random_cost < Decimal("0.45")


def test_the_pieces_weigh_by_the_energy_that_they_took(submitter, placed):
    report(submitter, *whole(placed, energy_wh=100.0))
    savings_settle_due(now=LATER)
    entry = SavingsEntry.objects.get()
    assert (entry.energy_wh, entry.cost) == (700, Decimal("0.08"))


def test_a_piece_that_comes_after_the_money_is_settled_changes_it_no_more(submitter, placed):
    first, last = whole(placed)
    report(submitter, last)
    assert savings_settle_due(now=LATER) == 1
    report(submitter, first)
    entry = SavingsEntry.objects.get()
    assert (entry.energy_wh, entry.cost) == (600, Decimal("0.06"))


def test_a_piece_that_comes_late_is_in_the_energy_at_once(submitter, placed):
    first, last = whole(placed)
    report(submitter, last)
    assert (SavingsEntry.objects.get().energy_wh, SavingsEntry.objects.get().on) == (600, MORNING[0].date())
    report(submitter, first)
    assert (SavingsEntry.objects.get().energy_wh, SavingsEntry.objects.get().on) == (1500, EVENING[0].date())


def test_a_piece_whose_energy_was_not_measured_withholds_the_saving_and_says_so(submitter, placed):
    report(submitter, *whole(placed, energy_wh=None, energy_source=None))
    assert savings_settle_due(now=LATER) == 1
    entry = SavingsEntry.objects.get()
    assert (entry.is_measured, entry.cost, entry.earliest_cost) == (False, None, None)
    assert entry.reason == "the energy of a part of it was not measured"


def test_pieces_without_a_meter_cost_what_was_predicted_spread_over_their_time(submitter, placed):
    report(submitter, *[{**record, "energy_wh": None, "energy_source": None} for record in whole(placed)])
    assert savings_settle_due(now=LATER) == 1
    entry = SavingsEntry.objects.get()
    assert (entry.is_measured, entry.energy_wh) == (False, 1200)
    assert entry.cost == Decimal("0.192"), "1.2 kWh, three fifths at 0.20 and two at 0.10"


def test_a_piece_without_its_times_leaves_the_money_unknown_and_says_so(submitter, placed):
    report(submitter, *whole(placed, duration_s=None))
    assert savings_settle_due(now=LATER) == 1
    entry = SavingsEntry.objects.get()
    assert (entry.cost, "no start or no duration" in entry.reason) == (None, True)


def test_the_money_waits_for_the_samples_of_every_piece(submitter, placed):
    report(submitter, *whole(placed))
    first = RunRecord.objects.get(exit_status="preempted")
    samples = [
        {"ts": (EVENING[0] + timedelta(minutes=minutes)).isoformat(), "power_w": 300.0} for minutes in range(0, 181, 5)
    ]
    samples_append(account=submitter, run_id=first.pk, samples=samples, now=LATER)
    assert savings_settle_due(now=LATER) == 0
    runs_roll_up(now=LATER)
    assert savings_settle_due(now=LATER) == 1
