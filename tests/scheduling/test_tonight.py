"""The hours ahead of an account: prices as it pays them, with what is placed there."""

from datetime import timedelta

import pytest

from scheduling.selectors.planning import AHEAD
from scheduling.selectors.tonight import tonight
from scheduling.services.account import account_update
from scheduling.services.occurrences import occurrence_start
from tests.scheduling.people import NOON, at, make_market, make_workflow, placement_of, plan

pytestmark = pytest.mark.django_db
WAVE = [0.30] * 6 + [0.10] * 2 + [0.30] * 12 + [0.20] * 4


@pytest.fixture(autouse=True)
def market():
    return make_market(*WAVE * 3)


def test_an_account_without_a_plan_sees_the_prices_that_it_pays(submitter):
    account_update(account=submitter, now=NOON, tariff={"supplier_fee": "0.05", "vat": "0.2"})
    seen = tonight(submitter, NOON)
    assert (seen.version, seen.placements) == (None, ())
    assert (seen.begin, seen.end) == (NOON, NOON + AHEAD)
    assert float(seen.curve.points[0].price_per_kwh) == pytest.approx((0.30 + 0.05) * 1.2)


def test_placements_lie_on_the_curve_with_the_name_of_their_work(submitter):
    workflow = make_workflow(submitter, deadline="by 9am", recurrence="none")
    version = plan(submitter)
    seen = tonight(submitter, NOON)
    assert seen.version == version
    (placed,) = seen.placements
    assert (placed.workflow.name, placed.start) == (workflow.name, at(6, 21))
    assert any(p.start <= placed.start < p.end for p in seen.curve.points)


def test_what_has_begun_is_seen_from_its_start_on(submitter):
    workflow = make_workflow(submitter, est_duration_s=4 * 3600, deadline="by 9am", recurrence="none")
    placed = placement_of(plan(submitter), workflow)
    occurrence_start(placement=placed, at=placed.start, now=placed.start)
    seen = tonight(submitter, placed.start + timedelta(hours=2))
    assert seen.begin == placed.start
    assert seen.curve.points[0].start <= placed.start
    assert tonight(submitter, placed.end + timedelta(hours=2)).placements == ()


def test_reading_the_hours_ahead_takes_few_queries(submitter, django_assert_max_num_queries):
    for name in ("a", "b", "c"):
        make_workflow(submitter, name=name, deadline="by 9am", recurrence="none")
    plan(submitter)
    with django_assert_max_num_queries(8):
        assert {p.workflow.name for p in tonight(submitter, NOON).placements} == {"a", "b", "c"}
