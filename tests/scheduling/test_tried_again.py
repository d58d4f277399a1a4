"""What failed is tried again, three times and at its whole length; a place that passed in silence is no failure."""

from datetime import timedelta

import pytest

from scheduling.models import Occurrence
from scheduling.services.account import controller_contact
from scheduling.services.acks import Said, schedule_ack
from scheduling.services.occurrences import occurrence_fail, occurrence_start
from scheduling.services.planning import work_over_close
from scheduling.services.runs import runs_ingest
from scheduling.services.workflows import workflow_update
from tests.scheduling.people import NOON, at, make_market, make_workflow, placement_of, plan

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("market", "noon")]
WAVE = [0.30] * 6 + [0.10] * 2 + [0.30] * 12 + [0.20] * 4


@pytest.fixture
def market():
    return make_market(*WAVE * 3)


def reported(account, placement, exit_status, run_id="1", **fields):
    now = fields.pop("now")
    body = {
        "controller_id": "box",
        "run_id": run_id,
        "occurrence_id": str(placement.occurrence_id),
        "scheduled_start": placement.start.isoformat(),
        "ts": now.isoformat(),
        "exit_status": exit_status,
    }
    return runs_ingest(account=account, body=body | fields, now=now)


def in_silence(account, workflow, *, now):
    """Plan it, and let its place pass though its controller is in touch; return the placement and when that was."""
    placement = placement_of(plan(account, now), workflow)
    controller_contact(account=account, controller_id="box", version=1, now=placement.end + timedelta(minutes=4))
    for minutes in (1, 5):
        work_over_close(now=placement.end + timedelta(minutes=minutes))
    return placement, placement.end + timedelta(minutes=5)


def pieces(account):
    """An interruptible run of 2.5 h in two pieces, 13-14 and 16-17:30, that may begin until half past seven."""
    make_market(*[0.30, 0.10, 0.30, 0.30, 0.10, 0.20], *[0.30] * 20, start=at(12))
    fields = {"deadline": "by 10pm", "controller_id": "box", "interruptible": True, "est_duration_s": 7200.0}
    workflow = make_workflow(account, recurrence="none", **fields)
    placement = placement_of(plan(account), workflow)
    assert [one[0] for one in placement.pieces] == [at(13).isoformat(), at(16).isoformat()]
    return workflow, placement


def test_a_piece_that_failed_counts_for_nothing_however_late_that_is_told(submitter):
    workflow, placement = pieces(submitter)
    occurrence_start(placement=placement, at=at(13), now=at(13))
    said = Said(1, "failed", str(workflow.pk), at(13.1), str(placement.occurrence_id), "box")
    schedule_ack(account=submitter, said=said, now=at(18))
    again = placement_of(plan(submitter, at(18)), workflow)
    assert (again.attempt, again.reserved_s, again.predicted_wh) == (2, 9000, pytest.approx(600))
    assert again.end <= at(22)


def test_a_new_attempt_has_the_whole_length_also_after_pieces_that_were_done(submitter):
    workflow, placement = pieces(submitter)
    reported(submitter, placement, "preempted", "1", duration_s=3600.0, now=at(14))
    reported(submitter, placement, "error", "2", duration_s=60.0, now=at(16.1))
    again = placement_of(plan(submitter, at(16.1)), workflow)
    assert (again.attempt, again.reserved_s) == (2, 9000)


def test_too_late_for_the_whole_length_it_is_not_repeated_for_a_part(submitter):
    _, placement = pieces(submitter)
    reported(submitter, placement, "preempted", "1", duration_s=3600.0, now=at(14))
    reported(submitter, placement, "error", "2", duration_s=60.0, now=at(20))
    assert Occurrence.objects.get().status == "failed"


def test_places_that_passed_in_silence_use_up_no_retry(submitter):
    fields = {"deadline": "by 7pm", "est_duration_s": 900.0, "controller_id": "box"}
    workflow, now = make_workflow(submitter, recurrence="none", **fields), NOON
    for _ in range(4):
        _, now = in_silence(submitter, workflow, now=now)
    placement = placement_of(plan(submitter, now), workflow)
    assert placement.attempt == 5
    assert occurrence_fail(placement=placement, now=now)
    assert Occurrence.objects.get().status == "open"


def test_switching_off_and_on_uses_up_no_retry(submitter):
    workflow = make_workflow(submitter, recurrence="none", deadline="by 11pm")
    for minute in range(4):
        for enabled in (False, True):
            when = NOON + timedelta(minutes=minute, seconds=30 * enabled)
            workflow = workflow_update(workflow=workflow, enabled=enabled, now=when)
    placement = placement_of(plan(submitter, at(12.1)), workflow)
    assert placement.attempt == 5
    assert occurrence_fail(placement=placement, now=at(13))
    assert Occurrence.objects.get().not_before == at(13) + timedelta(minutes=2), "the pause after a first failure"


def closed(now):
    work_over_close(now=now)
    return Occurrence.objects.get()


def test_what_never_began_is_missed_however_often_it_had_a_place(submitter):
    workflow = make_workflow(submitter, recurrence="none", deadline="by 11am", controller_id="box")
    in_silence(submitter, workflow, now=NOON)
    one = closed(at(11, 21))
    assert (one.attempt, one.status) == (2, "missed")


def test_what_was_switched_off_and_on_and_never_began_is_missed(submitter):
    workflow = make_workflow(submitter, recurrence="none", deadline="by 9am")
    workflow = workflow_update(workflow=workflow, enabled=False, now=at(13))
    workflow_update(workflow=workflow, enabled=True, now=at(14))
    plan(submitter, at(14))
    assert closed(at(9, 21)).status == "missed"


def test_what_began_and_was_never_done_is_failed(submitter):
    workflow = make_workflow(submitter, recurrence="none", deadline="by 9am")
    placement = placement_of(plan(submitter), workflow)
    occurrence_start(placement=placement, at=None, now=placement.start)
    assert closed(at(9, 21)).status == "failed"


def test_what_failed_and_then_had_a_place_in_silence_is_failed(submitter):
    workflow = make_workflow(submitter, recurrence="none", deadline="by 11am", controller_id="box")
    placement = placement_of(plan(submitter), workflow)
    reported(submitter, placement, "error", now=placement.start + timedelta(minutes=1))
    in_silence(submitter, workflow, now=placement.start + timedelta(minutes=1))
    assert closed(at(11, 21)).status == "failed"


@pytest.mark.parametrize("how", ["record", "failed", "started"])
def test_a_report_that_comes_after_the_next_attempt_was_planned_says_that_it_began(submitter, how):
    workflow = make_workflow(submitter, recurrence="none", deadline="by 11am", controller_id="box")
    placement, now = in_silence(submitter, workflow, now=NOON)
    assert Occurrence.objects.get().attempt == 2
    if how == "record":
        reported(submitter, placement, "error", now=now)
    else:
        said = Said(1, how, str(workflow.pk), placement.start, str(placement.occurrence_id), "box")
        schedule_ack(account=submitter, said=said, now=now)
    assert closed(at(11, 21)).status == "failed"
