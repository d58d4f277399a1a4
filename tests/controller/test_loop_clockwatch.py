"""A clock that is set is noticed; one that is steered, or a machine that sleeps, is not taken for that."""

from datetime import UTC, datetime

import pytest
from asyncenergy_controller import clock
from asyncenergy_controller.loop.clockwatch import ClockWatch


class Clocks:
    """The time of day and the clock that nobody sets."""

    def __init__(self):
        self.wall_s, self.steady_s = 1_790_000_000.0, 500.0

    def pass_s(self, seconds):
        self.wall_s += seconds
        self.steady_s += seconds


@pytest.fixture
def clocks(monkeypatch):
    clocks = Clocks()
    monkeypatch.setattr(clock, "now", lambda: datetime.fromtimestamp(clocks.wall_s, UTC))
    monkeypatch.setattr(clock, "monotonic", lambda: clocks.steady_s)
    return clocks


def test_time_that_passes_is_no_jump(clocks):
    watch = ClockWatch()
    clocks.pass_s(86_400)
    assert watch.jump_s() is None


@pytest.mark.parametrize("set_by_s", [3600, -3600, 3, -3])
def test_a_clock_that_was_set_is_noticed_once_with_its_direction(clocks, set_by_s):
    watch = ClockWatch()
    clocks.pass_s(60)
    clocks.wall_s += set_by_s
    assert watch.jump_s() == pytest.approx(set_by_s)
    clocks.pass_s(60)
    assert watch.jump_s() is None


def test_a_clock_that_is_steered_is_not_told_of(clocks):
    watch = ClockWatch()
    for _ in range(100):
        clocks.pass_s(60)
        clocks.wall_s += 0.03  # 500 ppm, the most that a kernel steers by
        assert watch.jump_s() is None


def test_the_fast_clock_of_a_test_is_no_jump(monkeypatch):
    monkeypatch.setenv(clock.TEST_CLOCK, "1790000000,5000")
    watch = ClockWatch()
    assert all(watch.jump_s() is None for _ in range(200))
