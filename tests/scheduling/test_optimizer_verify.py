"""The second opinion finds every fault that a plan could have."""

from dataclasses import replace
from datetime import timedelta

import pytest

from scheduling.optimizer import Infeasible, Mode, Piece, Placement, Plan, PricePoint, plan, verify
from scheduling.optimizer.planner import UnsoundPlanError
from tests.scheduling.planning import NOON, job, minute, prices, sound_plan

POINTS = prices([0.3, 0.1, 0.2, 0.4])
JOBS = [job("a", 60, 0, 240, machine="x"), job("b", 90, 0, 240, 500.0, machine="y", interruptible=True, min_run_s=1800)]


def wrong(made: Plan, points: list[PricePoint] = POINTS, **limits) -> str:
    return "; ".join(verify(made, points, JOBS, now=NOON, **limits))


@pytest.fixture
def good() -> Plan:
    return sound_plan(POINTS, JOBS)


def with_first(made: Plan, **changes) -> Plan:
    first, *others = made.placements
    return replace(made, placements=(replace(first, **changes), *others))


def moved(placement: Placement, minutes: float) -> tuple[Piece, ...]:
    by = timedelta(minutes=minutes)
    return tuple(Piece(p.start + by, p.end + by) for p in placement.pieces)


def test_a_sound_plan_has_no_faults(good):
    assert wrong(good) == ""


def test_a_run_outside_its_window_or_in_the_past_is_found(good):
    assert "before its earliest start" in wrong(with_first(good, pieces=moved(good.placements[0], -90)))
    assert "after its deadline" in wrong(with_first(good, pieces=moved(good.placements[0], 150)))
    assert "starts in the past" in "; ".join(verify(good, POINTS, JOBS, now=minute(61)))


def test_a_run_of_the_wrong_length_mode_machine_or_shape_is_found(good):
    start = good.placements[0].start
    short = (Piece(start, start + timedelta(minutes=59)),)
    halves = (Piece(start, minute(90)), Piece(minute(91), minute(121)))
    assert "runs 3540.0 s of 3600 s" in wrong(with_first(good, pieces=short))
    assert "is interrupted" in wrong(with_first(good, pieces=halves))
    assert "has no mode" in wrong(with_first(good, mode=Mode(3600, 10.0)))
    assert "runs on 'y', not on 'x'" in wrong(with_first(good, machine="y"))


def test_pieces_that_are_too_short_or_overlap_are_found(good):
    a, b = good.placements
    crumbs = (Piece(minute(0), minute(10)), Piece(minute(60), minute(140)))
    assert "a piece is shorter than 1800 s" in wrong(replace(good, placements=(a, replace(b, pieces=crumbs))))
    folded = (Piece(minute(60), minute(120)), Piece(minute(110), minute(140)))
    assert "overlap or are out of order" in wrong(replace(good, placements=(a, replace(b, pieces=folded))))


def test_money_and_energy_that_were_not_counted_right_are_found(good):
    assert "costs 0.1" in wrong(with_first(good, cost=0.05))
    assert "its energy is 1000" in wrong(with_first(good, energy_wh=900.0))
    assert "the plan says 1.0" in wrong(replace(good, cost=1.0))
    assert "is above the cost" in wrong(replace(good, lower_bound=good.cost + 1e-6))


def test_a_run_without_a_known_price_is_found(good):
    assert "without a known price" in wrong(good, [POINTS[0], *POINTS[2:]])


def test_too_much_at_once_is_found(good):
    assert "at once, above the limit of 1400" in wrong(good, watt_limit=1400)
    assert "machine 'x' runs more than 0 at once" in wrong(good, capacity=0)
    both = [job("a", 60, 60, 120), job("b", 60, 60, 120)]
    apart = plan(POINTS, both, now=NOON, capacity=2)
    assert verify(apart, POINTS, both, now=NOON, capacity=1) == ["machine '' runs more than 1 at once"]


def test_missing_doubled_and_unknown_jobs_are_found(good):
    assert "job 'a' is missing" in wrong(replace(good, placements=good.placements[1:]))
    doubled = [Infeasible("a", "capacity", None, "solver")]
    assert "job 'a' appears 2 times" in wrong(replace(good, infeasible=doubled))
    assert "job 'c' is not among the jobs" in wrong(with_first(good, id="c"))


def test_a_plan_that_does_not_hold_is_never_returned(monkeypatch):
    monkeypatch.setattr("scheduling.optimizer.planner.verify", lambda *args, **kwargs: ["a fault"])
    with pytest.raises(UnsoundPlanError, match="a fault"):
        plan(POINTS, JOBS, now=NOON)


def test_a_solution_that_breaks_the_rules_is_thrown_away(monkeypatch):
    """milp has called a point optimal that violated its bounds: then what was found before stands."""
    from scheduling.optimizer import highs

    real = highs.milp

    def broken(cost, **question):
        result = real(cost, **question)
        if result.x is not None:
            result.x[:] = 1.0
        return result

    jobs = [job(f"j{n}", 50, 10 * n, 240, 300.0 + n) for n in range(4)]
    honest = sound_plan(POINTS, jobs)
    monkeypatch.setattr(highs, "milp", broken)
    assert len(sound_plan(POINTS, jobs).placements) == len(honest.placements)
