"""Recorded days replayed through the product: no deadline missed, every certificate accepted, close to foresight."""

from datetime import date

import pytest

from benchmarks.replay import first_days, recorded_days, replayed
from tests.people import make_user

pytestmark = pytest.mark.django_db
START = date(2025, 10, 1)


@pytest.fixture
def box(shared_data):
    return make_user("replay@example.org", timezone="Europe/Prague")


def holds(report):
    assert report.plans > 0
    assert (report.missed, report.late, report.overlaps, report.unsound_certificates) == (0, 0, 0, 0)


@pytest.mark.campaign
def test_the_days_around_the_clock_change(box):
    report = replayed(first_days(3, skip=(date(2025, 10, 25) - START).days), box)
    holds(report)
    assert report.alone <= report.cost < report.baseline
    assert report.ledger_cost == pytest.approx(report.cost), "the ledger counts the same money"


@pytest.mark.campaign
def test_an_outage_of_the_feed_is_lived_through(box):
    days = first_days(3, skip=(date(2026, 4, 26) - START).days)
    assert date(2026, 4, 27) not in days
    report = replayed(days, box)
    holds(report)
    assert report.runs > report.priced, "what ran on the missing day has no known money"


@pytest.mark.slow
def test_the_whole_record_is_within_half_a_percent_of_foresight(box):
    seer = make_user("seer@example.org", timezone="Europe/Prague")
    ours, best = replayed(recorded_days(), box), replayed(recorded_days(), seer, foresight=True)
    holds(ours)
    assert ours.priced == best.priced
    assert ours.distance(best) < 0.005
