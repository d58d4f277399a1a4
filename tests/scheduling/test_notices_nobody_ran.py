""" "Nobody ran it": told of work whose controller is in touch and doesn't run it, and of nothing that was tried."""

from datetime import timedelta

import pytest

from scheduling.models import Notice, Occurrence
from scheduling.services.account import account_update, controller_contact
from scheduling.services.notices import notices_collect
from scheduling.services.occurrences import occurrence_fail
from scheduling.services.planning import account_plan, work_over_close
from scheduling.services.workflows import workflow_update
from tests.scheduling.people import NOON, at, make_market, make_workflow, placement_of, plan

pytestmark = pytest.mark.django_db
ALL = {"failed_runs": True, "unmatched_workflows": True, "quiet_controllers": True}
WAVE = [0.30] * 6 + [0.10] * 2 + [0.30] * 12 + [0.20] * 4  # cheap 06-08, less so 20-24


@pytest.fixture
def owner(submitter):
    """An account that wants to be told everything."""
    make_market(*WAVE * 3)
    account_update(account=submitter, notices=ALL, now=NOON - timedelta(hours=1))
    return submitter


def told():
    return sorted(Notice.objects.values_list("kind", "subject"))


def pass_the_night(owner, *, until, box=None, since=NOON):
    """What the worker does every ten minutes, with a controller that asks for its schedule."""
    now = since
    while now <= until:
        if box:
            controller_contact(account=owner, controller_id=box, version=1, now=now)
        work_over_close(now=now)
        account_plan(account=owner, now=now)
        notices_collect(now=now)
        now += timedelta(minutes=10)


def test_of_a_controller_in_touch_it_is_told_two_hours_after_the_first_place(owner):
    workflow = make_workflow(owner, recurrence="none", deadline="by 11am", controller_id="box")
    end = placement_of(plan(owner), workflow).end
    assert end == at(7.25, 21)
    pass_the_night(owner, until=end + timedelta(hours=1), box="box")
    assert told() == []
    assert Occurrence.objects.get().attempt > 1, "it has had another place"
    pass_the_night(owner, since=end + timedelta(hours=1), until=end + timedelta(hours=2, minutes=10), box="box")
    assert told() == [("unmatched_workflows", "Nobody ran nightly")]
    assert Notice.objects.get().happened_at == end


def test_it_stays_the_only_notice_when_the_deadline_passes(owner):
    make_workflow(owner, recurrence="none", deadline="by 9am", controller_id="box")
    pass_the_night(owner, until=at(12, 21), box="box")
    assert told() == [("unmatched_workflows", "Nobody ran nightly")]


def test_a_place_that_ends_at_the_deadline_is_told_too(owner):
    make_workflow(owner, recurrence="none", deadline="in 75 min", controller_id="box")
    pass_the_night(owner, until=at(16), box="box")
    assert Occurrence.objects.get().status == "missed"
    assert told() == [("unmatched_workflows", "Nobody ran nightly")]


def test_switching_off_and_on_makes_no_failure_of_it(owner):
    workflow = make_workflow(owner, recurrence="none", deadline="by 9am")
    workflow = workflow_update(workflow=workflow, enabled=False, now=at(12.1))
    workflow_update(workflow=workflow, enabled=True, now=at(12.2))
    pass_the_night(owner, since=at(12.3), until=at(12, 21))
    assert told() == [("unmatched_workflows", "Nobody ran nightly")]


def test_what_failed_once_and_was_not_tried_again_is_told_as_undone(owner):
    workflow = make_workflow(owner, recurrence="none", deadline="by 11am")
    placement = placement_of(plan(owner), workflow)
    occurrence_fail(placement=placement, now=placement.start + timedelta(minutes=5))
    pass_the_night(owner, since=placement.start + timedelta(minutes=5), until=at(13, 21))
    assert told() == [("failed_runs", "nightly was not done by its deadline")]
