"""A workflow that is switched off and on again: what its owner said meanwhile counts."""

import pytest

from scheduling.models import Occurrence
from scheduling.services.account import account_update
from scheduling.services.workflows import workflow_run_now, workflow_update
from tests.scheduling.people import at, make_market, make_workflow, placement_of, plan

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("market")]


@pytest.fixture
def market():
    return make_market(*[0.3] * 72)


def switched_off(account, **fields):
    """Work that had its place in a plan, and was switched off at half past twelve."""
    workflow = make_workflow(account, deadline="by 9am", **fields)
    plan(account)
    return workflow_update(workflow=workflow, enabled=False, now=at(12.5))


def deadlines(workflow):
    rows = Occurrence.objects.filter(workflow=workflow, status="open").order_by("deadline")
    return list(rows.values_list("deadline", flat=True))


DAILY = {"daily": 3, "none": 1}


@pytest.mark.parametrize("recurrence", DAILY)
@pytest.mark.parametrize("together", [True, False], ids=["in one change", "before"])
def test_a_deadline_said_while_it_was_off_holds_when_it_is_on(submitter, recurrence, together):
    workflow = switched_off(submitter, recurrence=recurrence)
    changes = [{"enabled": True, "deadline": "by 5am"}] if together else [{"deadline": "by 5am"}, {"enabled": True}]
    for change in changes:
        workflow = workflow_update(workflow=workflow, now=at(13), **change)
    assert deadlines(workflow) == [at(5, 21 + n) for n in range(DAILY[recurrence])]
    placed = placement_of(plan(submitter, at(13)), workflow)
    assert (placed.deadline, placed.end <= at(5, 21)) == (at(5, 21), True)


@pytest.mark.parametrize("recurrence", DAILY)
def test_a_deadline_said_in_the_change_that_switches_off_holds_when_it_is_on(submitter, recurrence):
    workflow = make_workflow(submitter, deadline="by 9am", recurrence=recurrence)
    workflow = workflow_update(workflow=workflow, enabled=False, deadline="by 5am", now=at(12.5))
    workflow = workflow_update(workflow=workflow, enabled=True, now=at(13))
    assert deadlines(workflow) == [at(5, 21 + n) for n in range(DAILY[recurrence])]


@pytest.mark.parametrize("recurrence", DAILY)
def test_without_new_words_the_same_times_are_taken_up_again(submitter, recurrence):
    workflow = switched_off(submitter, recurrence=recurrence)
    workflow_update(workflow=workflow, enabled=True, now=at(13))
    assert deadlines(workflow) == [at(9, 21 + n) for n in range(DAILY[recurrence])]
    assert placement_of(plan(submitter, at(13)), workflow).attempt == 2, "a box may have read its old place"


def test_work_that_was_told_in_hours_keeps_its_instant(submitter):
    workflow = make_workflow(submitter, deadline="in 6 h", recurrence="none")
    workflow = workflow_update(workflow=workflow, enabled=False, now=at(12.5))
    workflow_update(workflow=workflow, enabled=True, now=at(13))
    assert deadlines(workflow) == [at(18)]


def test_in_a_new_timezone_it_keeps_its_wall_time_also_where_it_was_off(submitter):
    workflow = switched_off(submitter)
    account_update(account=submitter, timezone="Asia/Tokyo", now=at(12.75))
    workflow.refresh_from_db()
    workflow_update(workflow=workflow, enabled=True, now=at(13))
    assert deadlines(workflow)[0] == at(0, 21), "nine in the morning in Tokyo"


def test_in_a_new_timezone_what_is_done_once_keeps_its_instant(submitter):
    workflow = switched_off(submitter, recurrence="none")
    account_update(account=submitter, timezone="Asia/Tokyo", now=at(12.75))
    workflow.refresh_from_db()
    workflow_update(workflow=workflow, enabled=True, now=at(13))
    assert deadlines(workflow) == [at(9, 21)]


@pytest.mark.parametrize("change", [{}, {"deadline": "by 5am"}])
def test_what_was_told_to_run_now_is_taken_up_with_the_rest(submitter, change):
    workflow = make_workflow(submitter, deadline="by 9am")
    workflow_run_now(workflow=workflow, now=at(12.25))
    workflow = workflow_update(workflow=workflow, enabled=False, now=at(12.5))
    workflow = workflow_update(workflow=workflow, enabled=True, now=at(13), **change)
    assert placement_of(plan(submitter, at(13)), workflow).start == at(13)
