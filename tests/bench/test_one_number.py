"""Page, JSON, CSV, tools, snapshot and download show one number for one row: every row is walked."""

import csv
import inspect
import io
import json
import re
from typing import Any

import pytest

from api.mcp_tools import leaderboard, run_detail
from bench import services
from bench.presentation import percent, significant
from bench.services import corpus
from tests.bench.corpus import published, sent_totals
from tests.bench.test_api_aggregates import capped

pytestmark = [pytest.mark.campaign, pytest.mark.django_db]  # tools are unwrapped: a test keeps its connection
BENCH = "/api/v1/bench"
SHOWN = ("joules_per_correct_answer", "joules_per_token", "pooled_tokens_per_second")
Rows = dict[tuple[str, str], dict[str, Any]]


@pytest.fixture
def board(settings, tmp_path, submitter, other_submitter, maintainer) -> None:
    """The recorded reference rows, a sweep, a second machine, nothing right, and claimed totals."""
    settings.VAR_DIR = tmp_path
    services.reference_load()
    runs = [published(submitter, maintainer, watts=watts, **capped(watts)) for watts in (350.0, 300.0)]
    runs.append(published(other_submitter, maintainer, watts=333.0, node_hash="b" * 64, **capped(350.0)))
    runs.append(published(submitter, maintainer, right=0))
    totals = sent_totals(submitter)
    services.run_publish(run=totals, by=maintainer)
    services.alias_list_names(runs=[*runs, totals])
    services.board_rebuild()


def keyed(rows: list[dict[str, Any]]) -> Rows:
    return {(row["config_key"], row["task"]): row for row in rows}


def test_every_row_has_the_same_numbers_everywhere(board, client):
    rows = keyed(client.get(f"{BENCH}/leaderboard?limit=500").json()["results"])
    assert len(rows) > 8
    in_table = keyed(
        list(csv.DictReader(io.StringIO(client.get(f"{BENCH}/leaderboard?limit=500&format=csv").content.decode())))
    )
    in_snapshot = keyed(client.get("/bench-data.json").json()["rows"])
    folder = corpus.corpus_dir() / str(corpus.corpus_release_make().version)
    in_download = keyed([json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()])
    in_tools = keyed(inspect.unwrap(leaderboard)(limit=100)["rows"])
    assert rows.keys() == in_table.keys() == in_snapshot.keys() == in_download.keys() == in_tools.keys()
    assert in_snapshot == in_download == rows
    for key, row in rows.items():
        assert in_tools[key] == {name: row[name] for name in in_tools[key]}
        for name, text in in_table[key].items():
            assert text == as_cell(row, name), (key, name)


def as_cell(row: dict[str, Any], name: str) -> str:
    outer, _, inner = name.partition(".")
    value = row[outer].get(inner) if inner else row[outer]
    return "" if value is None else " ".join(map(str, value)) if isinstance(value, list) else str(value)


def test_every_row_stands_on_its_page_with_its_numbers(board, client):
    rows = client.get(f"{BENCH}/leaderboard?limit=500").json()["results"]
    pages: dict[str, str] = {}
    for row in rows:
        page = pages.setdefault(row["task"], client.get(f"/bench/leaderboard/?task={row['task']}").content.decode())
        (line,) = [part for part in re.split(r"<tr[ >]", page) if f"/bench/configs/{row['config_key']}/" in part]
        for name in SHOWN:
            if row[name] is not None:
                assert significant(row[name]) in line, (row["config_key"], name)
        assert percent(row["accuracy"]) in line


def test_the_headline_of_a_row_is_that_of_its_run_and_configuration(board, client):
    for row in client.get(f"{BENCH}/leaderboard?limit=500").json()["results"]:
        run = client.get(f"{BENCH}/runs/{row['run_id']}").json()
        config = client.get(f"{BENCH}/configs/{row['config_key']}").json()
        assert run["figures"]["joules_per_correct_answer"] == row["joules_per_correct_answer"]
        assert row in config["rows"]
        tool = inspect.unwrap(run_detail)(row["run_id"])
        assert tool["figures"]["joules_per_correct_answer"] == row["joules_per_correct_answer"]
        routed = keyed(client.get(f"{BENCH}/routing-table?limit=500").json()["results"])
        assert routed[row["config_key"], row["task"]]["cost_model"] == config["cost_model"]
