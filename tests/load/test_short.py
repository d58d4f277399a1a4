"""The short form of the load campaign: 2,000 runs through the services, one rebuild, and every read."""

import time

import pytest

from bench import selectors, services
from bench.models import DirtyMark, Run, StoredAnswer
from bench.selectors import BoardQuery
from tests.load.corpus import CONFIGURATIONS, make_corpus

pytestmark = [pytest.mark.campaign, pytest.mark.django_db]
READS = ("leaderboard", "recommend", "routing-table", "sweeps", "facets")
MOST_REBUILD_S = 20.0


def test_2000_runs_are_taken_in_published_pooled_and_read(client):
    made = make_corpus(98, v3_runs=40)
    assert made.runs == Run.objects.filter(status="published").count() == 2000
    started = time.perf_counter()
    assert services.board_rebuild() == CONFIGURATIONS + 1
    assert time.perf_counter() - started < MOST_REBUILD_S
    assert not DirtyMark.objects.exists()
    rows = selectors.board_rows(BoardQuery(limit=1000))
    assert len(rows) == CONFIGURATIONS + 1
    assert sum(row["n_runs"] for row in rows) == 2000
    assert StoredAnswer.objects.filter(name="leaderboard").count() > 30
    for read in READS:
        assert client.get(f"/api/v1/bench/{read}").status_code == 200
    assert services.board_rebuild() == 0
