"""When and for how long a placement may run on this box."""

from datetime import timedelta

import pytest
from asyncenergy_controller.loop.slots import LATE_GRACE, LEAST_RUN
from hypothesis import given
from hypothesis import strategies as st

from tests.controller.loop_plans import at, placement, slots


def test_a_slot_begins_as_planned_and_may_wait_until_the_latest_start():
    (slot,) = slots(placement())
    assert (slot.start, slot.latest) == (at(2), at(6) + LATE_GRACE)


def test_a_run_has_a_quarter_more_than_was_reserved_but_never_passes_the_deadline():
    """What is reserved is the time of nine runs of ten: ending the tenth a minute before it is done wastes it."""
    (slot,) = slots(placement())
    assert slot.ends(at(2)) == at(3, 15)
    assert slot.ends(at(4)) == at(5, 15)
    assert slot.ends(at(6, 30)) == at(7)


@pytest.mark.parametrize(
    ("others", "ends"), [(at(1), at(3)), (at(3, 5), at(3, 5)), (at(5), at(3, 15)), (None, at(3, 15))]
)
def test_a_run_takes_no_more_than_was_reserved_where_other_work_has_to_begin(others, ends):
    (slot,) = slots(placement())
    assert slot.ends(at(2), others) == ends


def test_a_run_of_a_second_has_a_minute_even_at_its_deadline():
    (slot,) = slots(placement(at(6, 59, 58), at(7)))
    assert slot.ends(at(6, 59, 59)) == at(6, 59, 59) + LEAST_RUN


def test_without_a_deadline_it_is_not_begun_after_its_end():
    (slot,) = slots(placement(deadline=None))
    assert slot.latest == at(3) + LATE_GRACE
    assert slot.ends(at(2, 30)) == at(3, 30)


def test_past_the_known_prices_work_starts_as_late_as_its_deadline_allows():
    (slot,) = slots(placement(), valid_until=at(1))
    assert slot.start == at(6)
    assert slot.ends(slot.start) == at(7)


def test_what_starts_before_the_prices_end_keeps_its_start():
    (slot,) = slots(placement(), valid_until=at(2, 30))
    assert slot.start == at(2)


def test_without_a_deadline_the_plan_is_all_there_is_past_the_known_prices():
    (slot,) = slots(placement(deadline=None), valid_until=at(1))
    assert slot.start == at(2)


def test_what_is_another_boxs_is_none_of_ours():
    assert slots(placement(machine="attic")) == []
    assert len(slots(placement(machine="shared"), placement(machine="box"))) == 2


NIGHT = [(at(1), at(2)), (at(3), at(4)), (at(5), at(5, 30))]


def test_each_piece_of_an_interruptible_job_ends_where_it_was_planned_to():
    first, second, last = slots(placement(pieces=NIGHT))
    assert [slot.start for slot in (first, second, last)] == [at(1), at(3), at(5)]
    assert first.ends(at(1, 50)) == at(2)
    assert [slot.is_last for slot in (first, second, last)] == [False, False, True]
    assert last.ends(at(5, 10)) == at(5, 47, 30)


def test_a_piece_is_not_begun_for_its_last_moments():
    assert slots(placement(pieces=NIGHT))[0].latest == at(2) - LEAST_RUN
    assert slots(placement(pieces=[(at(1), at(1, 0, 40)), *NIGHT[1:]]))[0].latest == at(1, 0, 20)


def test_pieces_past_the_known_prices_become_one_that_ends_at_the_deadline():
    first, rest = slots(placement(pieces=NIGHT), valid_until=at(2, 30))
    assert (first.start, first.is_last) == (at(1), False)
    assert (rest.start, rest.ends(rest.start), rest.is_last) == (at(5, 30), at(7), True)


def test_a_piece_keeps_its_name_when_others_move():
    before, after = slots(placement(pieces=NIGHT)), slots(placement(pieces=[NIGHT[0], (at(4), at(5, 30))]))
    assert before[0].piece == after[0].piece
    assert before[1].piece != after[1].piece


@given(
    start=st.integers(0, 600),
    length=st.integers(1, 240),
    spare=st.integers(0, 600),
    known=st.integers(0, 1440),
    late=st.integers(0, 900),
)
def test_no_run_passes_its_deadline_by_more_than_the_least_time_of_a_run(start, length, spare, known, late):
    begins, ends = at(0, start), at(0, start + length)
    deadline = ends + timedelta(minutes=spare)
    (slot,) = slots(placement(begins, ends, deadline=deadline), valid_until=at(0, known))
    begun = min(slot.start + timedelta(minutes=late), slot.latest)
    assert slot.start >= begins
    assert slot.ends(begun) <= max(deadline, begun + LEAST_RUN)
    assert slot.ends(slot.start) >= slot.start + slot.length


@pytest.mark.parametrize("valid_until", [at(0), at(2), at(24)])
def test_pieces_together_last_as_long_as_was_planned(valid_until):
    found = slots(placement(pieces=NIGHT), valid_until=valid_until)
    assert sum((slot.length for slot in found), timedelta()) == timedelta(hours=2, minutes=30)
