"""What a power-cap sweep tells."""

import pytest
from asyncenergy_controller.metrics import SweepPoint, deepest_keeping, flexibility

STOCK = SweepPoint(None, 100, 340, 3.4)
CAPS = [SweepPoint(298, 99, 296, 2.99), SweepPoint(263, 96, 262, 2.73), SweepPoint(228, 80, 226, 2.83)]


def test_the_three_figures_of_a_sweep():
    found = flexibility([STOCK, *CAPS])
    assert found.flex_band_w == pytest.approx(340 - 262)
    assert found.knee_savings_pct == pytest.approx(100 * (1 - 2.73 / 3.4))
    assert found.turndown_ratio == pytest.approx(340 / 226)


def test_a_cap_that_keeps_nothing_leaves_the_card_at_stock():
    slow = [SweepPoint(cap, 40, 200, 5.0) for cap in (298, 263, 228)]
    found = flexibility([STOCK, *slow])
    assert (found.flex_band_w, found.knee_savings_pct, found.turndown_ratio) == (0, 0, 1)


def test_four_points_with_one_stock_point_are_needed():
    assert flexibility([STOCK, *CAPS[:2]]) is None
    assert flexibility([*CAPS, SweepPoint(200, 60, 198, 3.3)]) is None
    assert flexibility([STOCK, STOCK, *CAPS]) is None


@pytest.mark.parametrize(("share", "cap"), [(0.95, 263), (0.98, 298), (0.5, 228), (0.995, None)])
def test_the_deepest_cap_within_a_tolerance(share, cap):
    assert deepest_keeping([STOCK, *CAPS], STOCK, share).setting == cap
