"""A schedule is read tolerantly: whatever comes, one odd placement hides no other and nothing crashes."""

import json
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from asyncenergy_controller.server import Piece, Placement, ScheduleUnreadable, Unplaced, decode_schedule
from hypothesis import given, settings
from hypothesis import strategies as st

WORKFLOW, OCCURRENCE = "6c1f0e9a-0000-4000-8000-000000000001", "6c1f0e9a-0000-4000-8000-0000000000aa"
PLACEMENT: dict[str, Any] = {
    "workflow_id": WORKFLOW,
    "start": "2026-12-01T23:15:00+00:00",
    "end": "2026-12-02T02:15:00+00:00",
    "predicted_wh": 820.5,
    "feasible": True,
    "reason": "",
    "occurrence_id": OCCURRENCE,
    "attempt": 2,
    "deadline": "2026-12-02T07:00:00+01:00",
    "latest_start": "2026-12-02T03:00:00+00:00",
    "pieces": [
        {"start": "2026-12-01T23:15:00+00:00", "end": "2026-12-02T00:15:00+00:00"},
        {"start": "2026-12-02T01:15:00+00:00", "end": "2026-12-02T02:15:00+00:00"},
    ],
    "machine": "box",
    "smallest_change": None,
    "cap_w": 220.0,
    "cost": 0.11,
    "prediction_method": "history",
}
UNPLACED = PLACEMENT | {
    "occurrence_id": "6c1f0e9a-0000-4000-8000-0000000000bb",
    "start": None,
    "end": None,
    "pieces": [],
    "feasible": False,
    "reason": "duration 5h > window 3h30",
    "smallest_change": "a deadline of 08:30",
}
SCHEDULE = {
    "id": "6c1f0e9a-0000-4000-8000-0000000000cc",
    "version": 7,
    "valid_until": "2026-12-02T23:00:00+00:00",
    "placements": [PLACEMENT, UNPLACED],
    "forecast_snapshot": {"market": "DE-LU", "prices": []},
    "fallback_policy": "deadline_latest_start",
    "degraded": False,
    "price_coverage": 1.0,
}
fast = settings(max_examples=150, deadline=None)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.datetimes().map(str),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=12), inside, max_size=4),
    max_leaves=12,
)


def changed(**values):
    return decode_schedule(SCHEDULE | {"placements": [PLACEMENT | values]})


def test_a_placement_is_read_as_it_stands():
    schedule = decode_schedule(SCHEDULE)
    assert (schedule.version, schedule.fallback_policy, schedule.degraded) == (7, "deadline_latest_start", False)
    assert schedule.valid_until == datetime(2026, 12, 2, 23, tzinfo=UTC)
    assert schedule.placements == (
        Placement(
            workflow_id=WORKFLOW,
            occurrence_id=OCCURRENCE,
            start=datetime(2026, 12, 1, 23, 15, tzinfo=UTC),
            start_text="2026-12-01T23:15:00+00:00",
            end=datetime(2026, 12, 2, 2, 15, tzinfo=UTC),
            deadline=datetime(2026, 12, 2, 6, tzinfo=UTC),
            latest_start=datetime(2026, 12, 2, 3, tzinfo=UTC),
            pieces=(
                Piece(datetime(2026, 12, 1, 23, 15, tzinfo=UTC), datetime(2026, 12, 2, 0, 15, tzinfo=UTC)),
                Piece(datetime(2026, 12, 2, 1, 15, tzinfo=UTC), datetime(2026, 12, 2, 2, 15, tzinfo=UTC)),
            ),
            reason="",
            predicted_wh=820.5,
            attempt=2,
            machine="box",
            cap_w=220.0,
        ),
    )


def test_what_has_no_time_is_told_apart_with_its_reason():
    (unplaced,) = decode_schedule(SCHEDULE).unplaced
    assert unplaced == Unplaced(
        workflow_id=WORKFLOW,
        occurrence_id="6c1f0e9a-0000-4000-8000-0000000000bb",
        deadline=datetime(2026, 12, 2, 6, tzinfo=UTC),
        reason="duration 5h > window 3h30",
        smallest_change="a deadline of 08:30",
    )


def test_an_infeasible_placement_with_a_time_is_still_not_placed():
    assert changed(feasible=False).placements == ()


def test_what_only_newer_servers_say_is_ignored_and_what_older_ones_leave_out_has_a_meaning():
    old = {"workflow_id": WORKFLOW, "start": PLACEMENT["start"], "end": PLACEMENT["end"], "colour": "blue"}
    (placement,) = decode_schedule(SCHEDULE | {"placements": [old], "news": 1}).placements
    assert (placement.occurrence_id, placement.deadline, placement.attempt) == (None, None, 1)
    assert (placement.machine, placement.cap_w, placement.reason) == ("shared", None, "")
    assert placement.pieces == (Piece(placement.start, placement.end),)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"workflow_id": 7}, "workflow_id 7 is no id"),
        ({"workflow_id": "../../etc/passwd"}, "is no id"),
        ({"occurrence_id": "a\nb"}, "is no id"),
        ({"start": "2026-12-01T23:15:00"}, "start '2026-12-01T23:15:00' is no time with an offset"),
        ({"start": None}, "start None is no time"),
        ({"end": PLACEMENT["start"]}, "is not after its start"),
        ({"end": "0001-01-01T00:00:00+23:59"}, "is no time with an offset"),
        ({"latest_start": "soon"}, "latest_start 'soon' is no time"),
        ({"pieces": "two"}, "its pieces 'two' can't be read"),
        ({"pieces": PLACEMENT["pieces"][::-1]}, "are not in order"),
        ({"pieces": [{"start": "2026-12-01T22:00:00+00:00", "end": PLACEMENT["end"]}]}, "are not in order within it"),
    ],
)
def test_a_placement_that_can_not_be_read_is_passed_over_and_named(values, named):
    schedule = decode_schedule(SCHEDULE | {"placements": [PLACEMENT | values, PLACEMENT]})
    assert len(schedule.placements) == 1
    (warning,) = schedule.warnings
    assert warning.startswith("placement 0 is passed over: ")
    assert named in warning


@pytest.mark.parametrize("number", [True, "220", float("nan"), float("inf"), 10**400, [220]])
def test_a_number_that_is_none_is_not_known(number):
    (placement,) = changed(predicted_wh=number, cap_w=number, attempt=-1).placements
    assert (placement.predicted_wh, placement.cap_w, placement.attempt) == (None, None, 1)


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        SCHEDULE | {"version": "7"},
        SCHEDULE | {"version": True},
        SCHEDULE | {"valid_until": None},
        SCHEDULE | {"placements": {}},
    ],
)
def test_what_is_no_schedule_is_refused_in_words(body):
    with pytest.raises(ScheduleUnreadable, match="schedule"):
        decode_schedule(body)


@fast
@given(anything)
def test_no_json_makes_it_crash(body):
    with pytest.raises(ScheduleUnreadable):
        decode_schedule(body)


@fast
@given(st.lists(anything | st.just(PLACEMENT), max_size=5), anything)
def test_no_list_of_placements_makes_it_crash_or_hides_a_good_one(rows, other):
    schedule = decode_schedule(
        SCHEDULE | {"placements": rows, "fallback_policy": other, "id": other, "degraded": other}
    )
    assert len(schedule.placements) == sum(row == PLACEMENT for row in rows)
    assert len(schedule.placements) + len(schedule.unplaced) + len(schedule.warnings) == len(rows)


@fast
@given(st.dictionaries(st.sampled_from(sorted(PLACEMENT)), anything, max_size=4))
def test_no_change_of_a_placement_makes_it_crash_and_what_is_placed_can_be_run(values):
    schedule = changed(**values)
    for placement in schedule.placements:
        edges = [edge for piece in placement.pieces for edge in (piece.start, piece.end)]
        assert placement.start <= edges[0]
        assert edges[-1] <= placement.end
        assert edges == sorted(edges)
        assert {at.tzinfo for at in edges} == {UTC}
        assert datetime.fromisoformat(placement.start_text) == placement.start


@fast
@given(st.sampled_from(sorted(SCHEDULE)), anything)
def test_no_change_of_a_schedule_makes_it_crash(name, value):
    body = json.loads(json.dumps(SCHEDULE | {name: value}))
    must_be_readable = name not in ("version", "valid_until", "placements")
    with nullcontext() if must_be_readable else suppress(ScheduleUnreadable):
        assert decode_schedule(body).version == body["version"]
