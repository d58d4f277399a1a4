"""Asking questions: order, concurrency, failures, heat, and ends that lose nothing."""

import threading
import time

import pytest
from asyncenergy_controller.bench.asking import EngineGaveUp, ask_all, shippable
from asyncenergy_controller.bench.stop import StopFlag
from asyncenergy_controller.bench.store import ItemRow
from asyncenergy_controller.bench.thermal import ThermalGuard, TooHot
from asyncenergy_controller.meters.base import Reading
from asyncenergy_controller.tasks.base import Item


def make_items(n):
    return [Item(index=i, question=f"q{i}", answer=str(i), messages=[]) for i in range(n)]


def answered(item, finish_reason="stop"):
    return ItemRow(item.index, 0.0, 1.0, 1.0, finish_reason, error="engine down" if finish_reason == "error" else None)


def ask(items, ask_one=answered, *, concurrency=1, stop=None, before_each=lambda: None, rows=None):
    rows = [] if rows is None else rows
    ask_all(
        items,
        ask_one,
        concurrency=concurrency,
        stop=stop or StopFlag(),
        before_each=before_each,
        on_row=rows.append,
    )
    return [row.index for row in rows]


def test_items_are_asked_in_their_order():
    assert ask(make_items(20)) == list(range(20))


def test_as_many_are_in_flight_as_wanted_and_never_more():
    barrier = threading.Barrier(4, timeout=5)

    def together(item):
        barrier.wait()  # passes only when four ask at the same time
        return answered(item)

    assert sorted(ask(make_items(8), together, concurrency=4)) == list(range(8))


def test_a_failed_request_is_a_row_and_the_others_are_still_asked():
    asked = ask(make_items(9), lambda item: answered(item, "error" if item.index % 3 == 0 else "stop"))
    assert asked == list(range(9))


def test_an_engine_that_is_gone_ends_the_asking_after_five_failures_in_a_row():
    rows = []
    with pytest.raises(EngineGaveUp, match="engine down"):
        ask(make_items(50), lambda item: answered(item, "error" if item.index >= 10 else "stop"), rows=rows)
    assert [row.index for row in rows] == list(range(15))


def test_a_reason_to_stop_ends_the_asking_and_keeps_what_is_in_flight():
    stop = StopFlag()

    def stop_at_five(item):
        if item.index == 5:
            stop.set("enough")
        return answered(item)

    assert ask(make_items(50), stop_at_five, stop=stop) == list(range(6))


def test_an_error_in_a_worker_is_raised_after_the_other_workers_rows_came_in():
    rows, all_asked = [], threading.Barrier(3, timeout=5)

    def slow_or_broken(item):
        all_asked.wait()
        if item.index == 0:
            raise TooHot("too hot")
        time.sleep(0.3)  # long enough for the error to be noticed first
        return answered(item)

    with pytest.raises(TooHot):
        ask(make_items(50), slow_or_broken, concurrency=3, rows=rows)
    assert sorted(row.index for row in rows) == [1, 2]


def test_the_first_reason_to_stop_stays():
    stop = StopFlag()
    stop.set("time limit", "stopped")
    stop.set("interrupted")
    assert (stop.reason, stop.state) == ("time limit", "stopped")


@pytest.mark.parametrize(
    ("task", "answer", "shipped"),
    [
        ("arith", "42", "42"),
        ("arith", "4 2", None),
        ("arith", "9" * 33, None),
        ("ifeval", "42", None),
        ("arith", None, None),
    ],
)
def test_only_short_answers_of_known_tasks_may_leave_the_machine(task, answer, shipped):
    assert shippable(task, answer) == shipped


def hot(t_s):
    return Reading(t_s=t_s, throttle_mask=0x40 | 0x4)


def cool(t_s):
    return Reading(t_s=t_s, throttle_mask=0x4)


def test_a_short_slowdown_does_not_pause():
    guard, notes = ThermalGuard(), []
    for reading in (cool(0), hot(1), hot(9)):
        guard.watch(reading)
    guard.wait_until_cool(StopFlag(), notes.append)
    assert notes == []


def test_a_sustained_slowdown_pauses_until_the_card_is_cool():
    guard, notes = ThermalGuard(poll_s=0.01), []
    for reading in (hot(1), hot(11)):
        guard.watch(reading)
    threading.Timer(0.05, guard.watch, [cool(12)]).start()
    guard.wait_until_cool(StopFlag(), notes.append)
    assert notes[0].startswith("paused")
    assert notes[1].startswith("resumed")


def test_a_card_that_stays_hot_is_given_up_with_a_reason():
    guard = ThermalGuard(poll_s=0.01, give_up_s=0.05)
    for reading in (hot(1), hot(11)):
        guard.watch(reading)
    with pytest.raises(TooHot, match="still too hot"):
        guard.wait_until_cool(StopFlag(), lambda _: None)


def test_many_that_wait_for_a_hot_card_give_it_up_together():
    guard, notes = ThermalGuard(poll_s=0.001, give_up_s=0.003), []
    for reading in (hot(1), hot(11)):
        guard.watch(reading)
    with pytest.raises(TooHot):
        ask(make_items(50), concurrency=8, before_each=lambda: guard.wait_until_cool(StopFlag(), notes.append))
    assert len(notes) == 1


def test_a_reading_without_a_mask_says_nothing_about_heat():
    guard = ThermalGuard()
    for reading in (hot(1), Reading(t_s=5), hot(11)):
        guard.watch(reading)
    assert guard.hot_s == 10
