"""One configuration: its rows on one scale, its settings, and its runs."""

import pytest

from bench.models import BoardRow
from bench.services.board import board_rebuild
from tests.bench.corpus import published, sent_totals
from tests.bench.pages_corpus import make_config, make_row, publish_recorded_runs
from tests.bench.pages_html import read
from tests.bench.test_pages_picker import FIT

pytestmark = pytest.mark.django_db


def page_of(client, key):
    return read(client.get(f"/bench/configs/{key}/"))


def test_a_row_of_the_board_leads_to_its_configuration(client):
    publish_recorded_runs()
    board = read(client.get("/bench/leaderboard/"))
    links = [href for href in board.values("href") if href.startswith("/bench/configs/")]
    assert len(links) == 3
    assert all(client.get(link).status_code == 200 for link in links)


def test_it_shows_its_row_its_settings_and_its_run(client):
    run = publish_recorded_runs()["bfloat16", "arith_recorded", 16]
    page = page_of(client, run.config_key)
    for words in ("16 at a time", "134 J", "95.6–204", "16.9 %", "the GPU board", "27 of 160", run.config_key):
        assert words in page.text
    assert f"/bench/runs/{run.pk}/" in page.values("href")
    assert f"/api/v1/bench/configs/{run.config_key}" in page.values("href")
    assert any(href.startswith("/bench/data/?kind=concurrency") for href in page.values("href"))
    assert page.faults == []


def test_two_tasks_stand_on_one_scale(client):
    make_row("a", task="arith", joules_per_correct_answer=100.0)
    make_row("a", task="gsm8k", joules_per_correct_answer=900.0)
    page = page_of(client, "a".ljust(16, "0"))
    table = page.text.split("On each task")[1]
    assert table.index("arith") < table.index("gsm8k")
    assert len([svg for svg in page.all("svg") if svg.get("class") == "ruler"]) == 1


def test_a_fit_stands_with_its_errors_and_what_it_rests_on(client):
    make_config(make_row("a").payload, cost_model=FIT | {"alpha_se": None})
    text = page_of(client, "a".ljust(16, "0")).text
    assert "Each token of the answer 1.00 J 0.0200 J" in text
    assert "none at the bound 0" in text
    assert "Fitted on 40 items of 50–200 tokens asked and 10–100 answered, R² 0.97, on one machine." in text


def test_without_a_fit_the_reason_is_said(client):
    make_row("a")
    assert "No cost by length is shown. Too few items were measured." in page_of(client, "a".ljust(16, "0")).text


def test_figures_that_came_as_totals_are_marked(client, submitter, maintainer):
    from bench.services import run_publish

    run = sent_totals(submitter)
    run_publish(run=run, by=maintainer)
    board_rebuild(full=True)
    assert "Not re-derivable." in page_of(client, run.config_key).text


def test_a_task_of_the_controller_comes_with_its_command(client, submitter, maintainer):
    run = published(submitter, maintainer, max_tokens=64, concurrency=4, thinking_mode="off")
    board_rebuild(full=True)
    command = f"async-energy-controller bench run --task {run.task} --concurrency 4 --max-tokens 64"
    assert command in page_of(client, run.config_key).text
    make_row("b", task="arith_recorded")
    assert "there is no command to repeat it" in page_of(client, "b".ljust(16, "0")).text


def test_the_command_is_one_that_the_controller_takes(client, submitter, maintainer):
    from asyncenergy_controller.cli import app
    from typer.testing import CliRunner

    published(submitter, maintainer, task="arith", thinking_mode="on", settings={"reasoning_effort": "low"})
    board_rebuild(full=True)
    row = BoardRow.objects.get()
    line = page_of(client, row.config_key).html.split("async-energy-controller bench run ")[1].split("<")[0]
    assert "--thinking on --reasoning-effort low" in line
    found = CliRunner().invoke(app, ["bench", "run", *line.split(), "--engine-url", "http://127.0.0.1:1"])
    assert found.exit_code == 5, found.output  # no engine is there; the line itself was understood


@pytest.mark.parametrize("key", ["nothing", "0" * 16, "%F0%9F%A6%96"])
def test_an_unknown_configuration_is_not_found(client, key):
    assert client.get(f"/bench/configs/{key}/").status_code == 404


def test_the_page_asks_the_database_little(client, submitter, maintainer, django_assert_num_queries):
    run = published(submitter, maintainer)
    for _ in range(4):
        published(submitter, maintainer)
    board_rebuild(full=True)
    with django_assert_num_queries(6):
        client.get(f"/bench/configs/{run.config_key}/")
