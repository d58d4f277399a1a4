"""What is to be done about each slot at one moment."""

import pytest
from asyncenergy_controller.loop.due import PastRun, State, first_due, next_start, others_begin_by, standings
from asyncenergy_controller.loop.slots import LATE_GRACE

from tests.controller.loop_plans import OCCURRENCE, OTHER, TWO, WORKFLOW, at, placement, slots

NIGHT = [(at(1), at(2)), (at(3), at(4)), (at(5), at(5, 30))]


def look(found, now, *, past=(), refusal=lambda slot: None, known=(WORKFLOW,)):
    return standings(found, known=set(known).__contains__, past=past, refusal=refusal, now=now)


def state(now, *, plan=None, **more):
    (one,) = look(slots(plan or placement()), now, **more)
    return one.state


def ran(status, *, attempt=1, piece=TWO, occurrence=OCCURRENCE, workflow_id=WORKFLOW):
    return PastRun(workflow_id, occurrence, attempt, piece.isoformat(timespec="seconds"), status, piece)


def test_before_its_start_it_waits_and_at_its_start_it_is_due():
    assert state(at(1, 59, 59)) is State.LATER
    assert state(at(2)) is State.DUE


def test_a_late_start_is_allowed_while_the_deadline_can_be_met():
    assert state(at(6)) is State.DUE
    assert state(at(6, 1, 1)) is State.MISSED


def test_what_has_no_entry_here_is_never_run():
    assert state(at(2), known=()) is State.UNKNOWN


@pytest.mark.parametrize("status", ["running", "success", "error", "preempted", "missed"])
def test_an_attempt_is_begun_once_whatever_came_of_it(status):
    assert state(at(2), past=[ran(status)]) is State.OVER
    assert state(at(2), past=[ran(status, piece=at(1))]) is State.OVER  # its start was moved meanwhile


@pytest.mark.parametrize("status", ["error", "preempted", "missed"])
def test_a_new_attempt_that_the_server_planned_is_due(status):
    assert state(at(2), plan=placement(attempt=2), past=[ran(status)]) is State.DUE


def test_after_a_success_no_attempt_is_due_any_more():
    assert state(at(2), plan=placement(attempt=2), past=[ran("success")]) is State.OVER


def test_an_older_plan_never_brings_back_an_older_attempt():
    assert state(at(2), past=[ran("error", attempt=2)]) is State.OVER


def test_runs_of_other_work_change_nothing():
    assert state(at(2), past=[ran("success", occurrence="tomorrow"), ran("success", workflow_id=OTHER)]) is State.DUE


def test_without_an_id_an_occurrence_is_known_by_its_start_as_written():
    plan = placement(occurrence_id=None)
    assert state(at(2), plan=plan, past=[ran("success", occurrence=plan["start"])]) is State.OVER


def test_what_the_owner_does_not_allow_waits_and_is_missed_with_that_reason():
    refusal = {"refusal": lambda slot: "outside its allowed_hours"}
    (held,) = look(slots(placement()), at(2), **refusal)
    (missed,) = look(slots(placement()), at(6, 30), **refusal)
    assert (held.state, held.reason) == (State.HELD, "outside its allowed_hours")
    assert (missed.state, missed.reason) == (State.MISSED, "outside its allowed_hours")


def test_after_a_paused_piece_the_next_one_is_due():
    found = look(slots(placement(pieces=NIGHT)), at(3), past=[ran("paused", piece=at(1))])
    assert [one.state for one in found] == [State.OVER, State.DUE, State.LATER]


def test_a_job_that_finished_in_an_early_piece_runs_no_other():
    found = look(slots(placement(pieces=NIGHT)), at(3), past=[ran("success", piece=at(1))])
    assert {one.state for one in found} == {State.OVER}


def test_a_piece_that_was_slept_through_is_over_and_only_the_last_one_counts_as_missed():
    found = look(slots(placement(pieces=NIGHT, deadline=at(6))), at(6, 30))
    assert [one.state for one in found] == [State.OVER, State.OVER, State.MISSED]


def test_what_can_wait_least_is_begun_first():
    tight, loose = placement(at(2), at(3), deadline=at(4)), placement(at(1), at(2), occurrence_id="b")
    found = look(slots(loose, tight), at(2))
    assert first_due(found).placement.occurrence_id == OCCURRENCE


def test_the_next_start_is_the_earliest_ahead():
    found = look(slots(placement(at(5), at(6)), placement(at(3), at(4), occurrence_id="b")), at(2))
    assert first_due(found) is None
    assert next_start(found).start == at(3)


def test_with_nothing_ahead_there_is_no_next_start():
    assert next_start(look(slots(placement()), at(2), past=[ran("success")])) is None


def test_other_work_has_to_begin_by_its_own_latest_start():
    own, other = placement(at(2), at(3)), placement(at(3), at(4), deadline=at(6), occurrence_id="b")
    found = look(slots(own, other), at(2))
    (later,) = [one.slot for one in found if one.state is State.LATER]
    assert others_begin_by(found, first_due(found)) == later.latest == at(5) + LATE_GRACE
    assert others_begin_by(look(slots(own), at(2)), first_due(found)) is None
    over = look(slots(own, other), at(2), past=[ran("success", occurrence="b")])
    assert others_begin_by(over, first_due(over)) is None
