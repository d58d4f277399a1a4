"""Money of a run at the prices of its minutes, against what it would have cost otherwise."""

from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.ledger import Baseline, earliest_price, money_of, price_of, random_price, steps_at
from tests.scheduling.people import at
from tests.scheduling.prices import START, hours

POINTS = hours(0.10, 0.20, 0.40, 0.05)


def baseline(start_h=0, window=(0, 4), profile=((3600.0, 100.0),), reserve_s=3600.0):
    begin = at(start_h)
    return Baseline(
        ((begin, begin + timedelta(seconds=reserve_s)),), (at(window[0]), at(window[1])), reserve_s, profile
    )


def test_energy_is_priced_where_it_was_drawn():
    assert price_of(POINTS, steps_at(at(0.5), ((3600.0, 1.0),))) == Decimal("0.15")
    uneven = steps_at(at(0.5), ((1800.0, 3.0), (1800.0, 1.0)))
    assert price_of(POINTS, uneven) == Decimal("0.125")


def test_a_minute_without_a_price_makes_the_money_unknown():
    assert price_of(POINTS, steps_at(at(3.5), ((3600.0, 1.0),))) is None
    assert price_of(POINTS[:1] + POINTS[2:], steps_at(at(0.5), ((3600.0, 1.0),))) is None
    assert money_of(None, 100) is None


def test_begun_at_once_and_at_random():
    assert earliest_price(POINTS, baseline(1)) == Decimal("0.2")
    assert float(random_price(POINTS, baseline(0, (0, 1)))) == pytest.approx(0.10), "no room to move"
    spread = random_price(POINTS, baseline())
    assert Decimal("0.05") < spread < Decimal("0.4")


@given(constant=st.integers(-50, 50))
def test_a_constant_on_every_price_is_a_constant_on_every_baseline(constant):
    raised = hours(*[0.1 + constant / 100, 0.2 + constant / 100, 0.4 + constant / 100, 0.05 + constant / 100])
    for of in (random_price, earliest_price):
        assert float(of(raised, baseline())) == pytest.approx(float(of(POINTS, baseline())) + constant / 100)


def test_the_random_start_is_the_mean_over_the_window_and_no_draw():
    """One hour in four hours of prices: each start up to 3 h is as likely as any other."""
    n = 3000
    starts = [START + timedelta(hours=3) * (i + 0.5) / n for i in range(n)]
    costs = [float(price_of(POINTS, steps_at(s, ((3600.0, 1.0),)))) for s in starts]
    assert float(random_price(POINTS, baseline())) == pytest.approx(sum(costs) / n, rel=1e-5)


def test_money_is_kept_to_a_billionth():
    assert money_of(Decimal("0.123456789"), 1) == Decimal("0.000123457")
