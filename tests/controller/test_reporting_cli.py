"""`reports`: what waits, what was refused, and sending both."""

from datetime import UTC, datetime

import pytest
from asyncenergy_controller.errors import ExitCode
from asyncenergy_controller.reporting import RunRecord, open_spool
from asyncenergy_controller.settings import load_settings

from tests.controller.bench_cli import Box


@pytest.fixture
def box(tmp_path, server):
    return Box(tmp_path, api_url=server.url)


@pytest.fixture
def spool(box):
    return open_spool(load_settings(state_dir=box.home / "state", api_url=box.api_url))


def keep(spool, *names):
    for name in names:
        spool.put_run(RunRecord(controller_id="box", run_id=name, ts=datetime.now(UTC)))


def test_nothing_waits_on_a_fresh_machine(box):
    result = box.run("reports")
    assert result.exit_code == 0
    assert "Waiting: runs 0, messages 0, samples 0" in result.stdout


def test_looking_sends_nothing(box, spool, server):
    keep(spool, "r1", "r2")
    assert "Waiting: runs 2" in box.run("reports").stdout
    assert server.calls == []


def test_what_waits_is_sent_and_what_is_refused_is_shown_with_the_servers_words(box, spool, server):
    keep(spool, "r1", "r2")
    server.refuses = {"r2"}
    told = box.json("reports", "--send")
    assert (told["sent"], told["waiting"]["runs"], told["problem"]) == (1, 0, None)
    assert told["refused"] == [{"kind": "run", "key": "box/r2", "reason": "No good."}]
    assert "run box/r2: No good." in box.run("reports").stdout


def test_what_was_refused_is_sent_again_when_asked_for(box, spool, server):
    keep(spool, "r1")
    server.refuses = {"r1"}
    box.run("reports", "--send")
    server.refuses = set()
    result = box.run("reports", "--retry")
    assert "Refused, and sent again: 1" in result.stderr
    assert "Refused: 0" in result.stdout
    assert list(server.runs) == ["r1"]


def test_a_server_that_fails_is_said_so_by_words_and_exit_code(box, spool, server):
    keep(spool, "r1")
    server.always = (500, {"detail": "Something broke.", "code": "error"})
    result = box.run("reports", "--send")
    assert result.exit_code == ExitCode.SERVER
    assert "Something broke." in result.stderr
    assert "Waiting: runs 1" in result.stdout
