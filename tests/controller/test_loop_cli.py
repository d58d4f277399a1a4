"""`run` from the command line, which is also what the bare command and the deployed name do."""

import json
import logging
import os
import signal
import threading
from importlib.metadata import entry_points

import pytest
from asyncenergy_controller.cli import app
from asyncenergy_controller.cli.until_signal import until_signal
from asyncenergy_controller.loop.assembly import assembled
from typer.testing import CliRunner

from tests.controller.loop_box import LoopBox, planned
from tests.controller.loop_plans import OTHER, WORKFLOW
from tests.controller.loop_server import loop_server


@pytest.fixture
def box(tmp_path, monkeypatch):
    ours = logging.getLogger("asyncenergy_controller")  # which the command sends to its own stderr
    for name in ("handlers", "level", "propagate"):
        monkeypatch.setattr(ours, name, getattr(ours, name))
    with loop_server() as server:
        box = LoopBox(tmp_path, server)
        settings = box.settings
        for name in ("api_url", "config_dir", "data_dir", "state_dir", "controller_id", "meter"):
            monkeypatch.setenv(f"ASYNCENERGY_{name.upper()}", str(getattr(settings, name)))
        monkeypatch.setenv("ASYNCENERGY_API_KEY", "ae_key")
        box.has()
        box.plan(planned())
        yield box


def called(*words):
    return CliRunner().invoke(app, list(words))


@pytest.mark.parametrize("words", [("run", "--once"), ("--once",), ("--api-url", None, "--once")])
def test_the_bare_command_is_run(box, words):
    ended = called(*(word or box.settings.api_url for word in words))
    assert ended.exit_code == 0, ended.output
    assert box.marks() == 1


def test_deployed_units_find_the_command_by_its_old_name():
    scripts = {script.name: script.value for script in entry_points(group="console_scripts")}
    assert scripts["hm-async-controller"] == scripts["async-energy-controller"]


def test_once_prints_what_is_left_and_nothing_else(box):
    box.plan()
    ended = called("--once")
    assert ended.stdout.startswith("idle: nothing is planned for night-batch")
    assert len(ended.stdout.splitlines()) == 1


def test_empty_catalog_mistyped_id_and_not_yet_are_three_answers(box):
    box.plan(planned(start_s=3600))
    not_yet = called("--once").stdout
    box.has(workflow_id=OTHER)
    mistyped = called("--once").stdout
    box.settings.job_catalog.write_text("{}")
    empty = called("--once").stdout
    assert not_yet.startswith("idle until ")
    assert mistyped.startswith(f"nothing will ever run: the catalog has no entry for {WORKFLOW}")
    assert empty.startswith("nothing will ever run: the catalog holds no job")


def test_a_round_of_cron_that_meets_another_leaves_it_alone(box):
    with assembled(box.settings):
        ended = called("--once")
        refused = called("run")
    assert (ended.exit_code, box.marks()) == (0, 0)
    assert "another controller works here" in ended.stdout
    assert refused.exit_code == 1
    assert "Two would run everything twice" in refused.stderr


def test_once_ends_with_2_where_the_catalog_is_wrong(box):
    box.settings.job_catalog.write_text("{")
    assert called("--once").exit_code == 2


def test_once_ends_with_1_where_a_job_failed_and_4_where_the_server_is_away(box):
    box.has("false")
    assert called("--once").exit_code == 1
    box.server.always = (503, {"detail": "The server is being moved."})
    assert called("--once").exit_code == 4


def test_check_prints_a_row_a_line_and_ends_with_its_code(box):
    box.server.workflows = [{"id": WORKFLOW, "name": "night-batch", "enabled": False}]
    ended = called("--check")
    assert ended.exit_code == 1
    assert "never   night-batch: it is switched off at the server\n        -> switch it on there" in ended.stdout
    assert box.marks() == 0


def test_check_as_json_is_the_same_rows(box):
    box.server.workflows = [{"id": WORKFLOW, "name": "night-batch"}]
    ended = called("--check", "--json")
    rows = json.loads(ended.stdout)
    assert [row["name"] for row in rows] == ["catalog", "credentials", "schedule", "night-batch"]
    assert {row["state"] for row in rows} == {"ok"}


@pytest.mark.parametrize("words", [("--once", "--check"), ("--json",), ("--poll-interval", "0"), ("--nonsense",)])
def test_what_does_not_go_together_is_wrong_usage(box, words):
    assert called(*words).exit_code == 2
    assert box.marks() == 0


def test_an_unknown_command_is_not_taken_for_the_loop(box):
    ended = called("rum")
    assert ended.exit_code == 2
    assert "No such command" in ended.output


def test_help_is_still_help(box):
    ended = called("--help")
    assert ended.exit_code == 0
    assert "bench" in ended.stdout
    assert box.marks() == 0


def test_a_signal_stops_the_work_and_its_number_is_told():
    stopped = threading.Event()

    def work():
        os.kill(os.getpid(), signal.SIGTERM)
        return stopped.wait(10)

    assert until_signal(work, stopped.set) == (True, signal.SIGTERM)


def test_work_that_ends_by_itself_needs_no_signal_and_gives_the_handlers_back():
    before = signal.getsignal(signal.SIGTERM)
    assert until_signal(lambda: "done", lambda: None) == ("done", None)
    assert signal.getsignal(signal.SIGTERM) is before


def test_work_that_breaks_breaks_the_caller():
    with pytest.raises(ZeroDivisionError):
        until_signal(lambda: 1 / 0, lambda: None)
