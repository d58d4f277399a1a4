"""Recurring jobs through fast days: each occurrence once, whatever is killed and whatever the network does.

The long forms live through the week of the clock change in October; the short ones through its night alone.
"""

from datetime import UTC, datetime

import pytest

from tests.loop.campaign import DAY, EARLY, NIGHT, SUNDAY, TWICE, Campaign
from tests.loop.proxy import STORM

THURSDAY = datetime(2026, 10, 22, 10, tzinfo=UTC)
NEXT_THURSDAY = datetime(2026, 10, 29, 10, 30, tzinfo=UTC)
EVENING = datetime(2026, 10, 24, 17, 30, tzinfo=UTC)
MORNING = datetime(2026, 10, 25, 9, 30, tzinfo=UTC)
ALL = (NIGHT, TWICE, EARLY, DAY, SUNDAY)


@pytest.mark.campaign
def test_the_night_of_the_clock_change_runs_each_job_once_through_kills_and_storm(tmp_path, empty_database):
    night = Campaign(
        tmp_path,
        empty_database,
        EVENING,
        MORNING,
        factor=2400,
        jobs=(NIGHT, TWICE, EARLY, SUNDAY),
        controller_kills=2,
        server_kills=1,
        weather=STORM,
    )
    night.run()
    print(f"\n{night.check()}")


@pytest.mark.slow
def test_a_week_over_the_clock_change_runs_each_occurrence_once(tmp_path, empty_database):
    week = Campaign(tmp_path, empty_database, THURSDAY, NEXT_THURSDAY, factor=2000, work_s=1.2, jobs=ALL)
    week.run()
    counts = week.check()
    print(f"\n{counts}")
    assert counts["cut off and repeated"] == 0


@pytest.mark.slow
def test_a_week_of_kills_and_storm_loses_nothing_and_does_nothing_twice(tmp_path, empty_database):
    week = Campaign(
        tmp_path,
        empty_database,
        THURSDAY,
        NEXT_THURSDAY,
        factor=1000,
        work_s=2.4,
        jobs=ALL,
        controller_kills=20,
        server_kills=10,
        weather=STORM,
    )
    week.run()
    print(f"\n{week.check()}")
