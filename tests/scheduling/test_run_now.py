"""Run now: at once where the machine is free, also where the work had its place in a plan already."""

from datetime import timedelta

import pytest

from scheduling.models import PlanClaim
from scheduling.services.occurrences import occurrence_fail, occurrence_finish, occurrence_start
from scheduling.services.planning import accounts_due
from scheduling.services.workflows import workflow_run_now, workflow_update
from tests.scheduling.people import NOON, at, make_market, make_workflow, placement_of, plan

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("market")]
WAVE = [0.30] * 6 + [0.10] * 2 + [0.30] * 12 + [0.20] * 4  # cheap 06-08, less so 20-24


@pytest.fixture
def market():
    return make_market(*WAVE * 3)


def planned(account, **fields):
    """Work that has its place in a plan."""
    workflow = make_workflow(account, deadline="by 9am", recurrence="none", **fields)
    plan(account)
    return workflow


def span(placement):
    return placement.start, placement.end


def test_work_that_is_planned_for_the_night_begins_now(submitter):
    workflow = planned(submitter)
    workflow_run_now(workflow=workflow, now=at(13))
    placed = placement_of(plan(submitter, at(13)), workflow)
    assert span(placed) == (at(13), at(14.25))
    assert float(placed.cost) == pytest.approx(0.09), "the price of now, not of the night"


def test_an_interruptible_run_that_is_planned_for_the_night_begins_now(submitter):
    workflow = planned(submitter, controller_id="box", interruptible=True)
    workflow_run_now(workflow=workflow, now=at(13))
    placed = placement_of(plan(submitter, at(13)), workflow)
    assert placed.pieces == [[at(13).isoformat(), at(14.25).isoformat()]]
    assert (placed.predicted_wh, float(placed.cost)) == (300, pytest.approx(0.09))


def test_the_place_that_it_leaves_is_free_for_other_work(submitter):
    urgent = planned(submitter)
    workflow_run_now(workflow=urgent, now=at(13))
    other = make_workflow(submitter, name="other", deadline="by 9am", recurrence="none", now=at(13))
    version = plan(submitter, at(13))
    assert span(placement_of(version, urgent)) == (at(13), at(14.25))
    assert span(placement_of(version, other)) == (at(6, 21), at(7.25, 21))


def test_an_estimate_that_changed_since_the_plan_counts(submitter):
    workflow = planned(submitter)
    workflow_update(workflow=workflow, est_duration_s=5400.0, now=at(12.5))
    workflow_run_now(workflow=workflow, now=at(12.75))
    placed = placement_of(plan(submitter, at(12.75)), workflow)
    assert span(placed) == (at(12.75), at(12.75) + timedelta(seconds=5400 * 1.25))
    assert placed.predicted_wh == 450
    assert PlanClaim.objects.get().failures == 0


def test_a_deadline_that_changed_after_it_was_told_to_run_now_is_published(submitter):
    make_workflow(submitter, name="busy", deadline="in 80 min", recurrence="none")
    urgent = planned(submitter)
    workflow_run_now(workflow=urgent, now=at(12.1))
    plan(submitter, at(12.1))
    urgent.occurrences.update(deadline=at(8, 21))
    placed = placement_of(plan(submitter, at(12.2)), urgent)
    assert (placed.start, placed.deadline) == (at(13.25), at(8, 21))


def test_it_moves_up_when_its_machine_is_free_earlier_than_planned(submitter):
    busy = make_workflow(submitter, name="busy", deadline="in 80 min", recurrence="none")
    running = placement_of(plan(submitter), busy)
    occurrence_start(placement=running, at=NOON, now=NOON)
    urgent = planned(submitter)
    workflow_run_now(workflow=urgent, now=at(12.1))
    assert placement_of(plan(submitter, at(12.1)), urgent).start == running.end
    occurrence_finish(occurrence_id=running.occurrence_id, now=at(12.5))
    assert accounts_due(now=at(12.5)) == [submitter.pk], "it does not wait for the next plan of its account"
    assert placement_of(plan(submitter, at(12.5)), urgent).start == at(12.5)


def test_it_moves_up_too_when_what_ran_before_it_failed_for_good(submitter):
    busy = make_workflow(submitter, name="busy", deadline="in 80 min", recurrence="none")
    running = placement_of(plan(submitter), busy)
    urgent = planned(submitter)
    workflow_run_now(workflow=urgent, now=at(12.1))
    plan(submitter, at(12.1))
    assert not occurrence_fail(placement=running, now=at(12.5)), "too late for another attempt"
    assert accounts_due(now=at(12.5)) == [submitter.pk]
    assert placement_of(plan(submitter, at(12.5)), urgent).start == at(12.5)


def test_the_end_of_a_run_that_nothing_waits_for_asks_for_no_plan(submitter):
    busy = make_workflow(submitter, name="busy", deadline="in 80 min", recurrence="none")
    running = placement_of(plan(submitter), busy)
    planned(submitter)
    occurrence_finish(occurrence_id=running.occurrence_id, now=at(12.5))
    assert accounts_due(now=at(12.5)) == []


def test_what_has_begun_at_once_stays_where_it_began(submitter):
    workflow = planned(submitter)
    workflow_run_now(workflow=workflow, now=at(13))
    placed = placement_of(plan(submitter, at(13)), workflow)
    occurrence_start(placement=placed, at=at(13), now=at(13))
    workflow_update(workflow=workflow, est_duration_s=5400.0, now=at(13.1))
    later = placement_of(plan(submitter, at(13.5)), workflow)
    assert (span(later), later.predicted_wh) == (span(placed), 300)
