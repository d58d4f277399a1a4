"""Occurrences in the optimizer's terms: what has begun is pinned, what shall begin at once goes first."""

from datetime import timedelta

import pytest

from scheduling.jobs import FREEZE, Cap, Placed, Work, arranged, cap_of, whole_second
from scheduling.optimizer import Piece, plan, verify
from scheduling.optimizer import PricePoint as P
from scheduling.predictor import Prediction
from tests.scheduling.people import NOON, at

HOUR = Prediction("nameplate", 3600.0, 4500.0, ((3600.0, 300.0),))
PRICES = [P(at(12 + i), at(13 + i), price) for i, price in enumerate([0.3, 0.1, 0.2, 0.3, 0.3, 0.3])]


def work(name="a", **fields):
    return Work(
        **{"id": name, "earliest_start": NOON, "deadline": at(18), "machine": "m", "prediction": HOUR, **fields}
    )


def placed(*spans, wh=300.0):
    pieces = tuple(Piece(a, b) for a, b in spans)
    return Placed(pieces, HOUR.profile, 4500.0, wh, 0.05)


def test_every_start_falls_on_a_whole_second():
    assert whole_second(NOON) == NOON
    assert whole_second(NOON + timedelta(microseconds=1)) == NOON + timedelta(seconds=1)
    (job,) = arranged([work()], now=NOON + timedelta(milliseconds=250), capacity={"m": 1}).jobs
    assert job.earliest_start == NOON + timedelta(seconds=1)


def test_what_begins_within_two_minutes_is_pinned_and_what_begins_later_is_not():
    soon, later = placed((NOON + FREEZE, at(14))), placed((NOON + FREEZE + timedelta(seconds=1), at(14)))
    assert [p.id for p in arranged([work(placed=soon)], now=NOON, capacity={}).pinned] == ["a"]
    assert [j.id for j in arranged([work(placed=later)], now=NOON, capacity={}).jobs] == ["a"]
    started = arranged([work(placed=later, is_started=True)], now=NOON, capacity={})
    assert [p.id for p in started.pinned] == ["a"]
    assert (started.jobs[0].earliest_start, started.jobs[0].deadline) == (later.pieces[0].start, at(14))


def test_the_rest_of_an_interruptible_run_is_what_it_still_needs():
    spans = ((at(11), NOON), (at(13), at(13.25)))
    one = work(interruptible=True, placed=placed(*spans))
    order = arranged([one], now=NOON, capacity={"m": 1})
    assert [p.id for p in order.pinned] == ["a/begun"]
    assert order.jobs[0].duration_s == 4500 - 3600
    assert order.pinned[0].energy_wh == pytest.approx(300 * 3600 / 4500)


def test_at_once_takes_the_first_gap_of_its_machine():
    running = work("r", placed=placed((at(11.5), at(12.5))), is_started=True)
    urgent = work("u", at_once=True)
    order = arranged([urgent, running], now=NOON, capacity={"m": 1})
    assert {p.id: p.pieces[0].start for p in order.pinned} == {"r": at(11.5), "u": at(12.5)}
    both = arranged([urgent, running], now=NOON, capacity={"m": 2})
    assert {p.id: p.pieces[0].start for p in both.pinned} == {"r": at(11.5), "u": NOON}


def test_at_once_forgets_the_place_it_had_and_what_was_predicted_there():
    old = placed((at(16), at(17)), wh=200.0)
    order = arranged([work(at_once=True, placed=old)], now=NOON, capacity={"m": 1})
    (one,) = order.pinned
    assert (one.pieces, one.energy_wh) == ((Piece(NOON, at(13.25)),), 300.0)
    assert (order.jobs[0].earliest_start, order.jobs[0].duration_s) == (NOON, 4500.0)


def test_at_once_that_can_not_end_in_time_is_planned_like_the_others():
    order = arranged([work(at_once=True, deadline=at(13))], now=NOON, capacity={"m": 1})
    assert [job.id for job in order.jobs] == ["a"]


def test_pinned_work_and_new_work_make_one_sound_plan():
    works = [
        work("r", placed=placed((at(11.5), at(12.75))), is_started=True),
        work("u", at_once=True),
        work("n"),
        work("i", interruptible=True, placed=placed((NOON, at(12.5)), (at(14), at(14.75))), machine="other"),
    ]
    order = arranged(works, now=NOON, capacity={"m": 1, "other": 1})
    prices = [P(at(11), at(12), 0.2), *PRICES]
    made = plan(prices, order.jobs, now=NOON, capacity={"m": 1, "other": 1}, pinned=order.pinned)
    assert made.infeasible == []
    assert verify(made, prices, order.jobs, now=NOON, capacity={"m": 1, "other": 1}) == []
    starts = {p.id: p.pieces[0].start for p in made.placements}
    assert (starts["r"], starts["u"], starts["i/begun"]) == (at(11.5), at(12.75), NOON)
    assert starts["n"] >= at(14)


def test_a_power_cap_is_chosen_where_the_window_lets_the_slower_run_pay():
    caps = (Cap(250.0, 1.2, 0.7),)
    for deadline, expected in ((at(18), 250.0), (at(13.3), None)):
        one = work(caps=caps, deadline=deadline)
        order = arranged([one], now=NOON, capacity={"m": 1})
        made = plan(PRICES, order.jobs, now=NOON, capacity={"m": 1})
        assert cap_of(one, made.placements[0].mode) == expected
    slower = order.jobs[0].modes[0]
    assert (slower.duration_s, slower.power_w) == (5400.0, ((4320.0, pytest.approx(210.0)),))


def test_under_a_watt_limit_an_interruptible_run_counts_with_its_power():
    one = work(interruptible=True)
    free, limited = (arranged([one], now=NOON, capacity={}, limited=yes).jobs[0] for yes in (False, True))
    assert limited.power_w == pytest.approx(300)
    assert free.power_w * free.duration_s == pytest.approx(300 * 3600)


def test_the_order_in_which_work_is_read_changes_nothing():
    works = [work(name, priority=i) for i, name in enumerate("cab")]
    one, two = (arranged(order, now=NOON, capacity={"m": 1}) for order in (works, works[::-1]))
    assert one == two
