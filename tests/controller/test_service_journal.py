"""The log: plain lines, with the journal's priorities where the journal reads them."""

import logging
import os
import re

import pytest
from asyncenergy_controller.service.journal import configure_logging, is_journal

LOGGER = logging.getLogger("asyncenergy_controller.loop")


@pytest.fixture(autouse=True)
def quiet_afterwards():
    ours = logging.getLogger("asyncenergy_controller")
    before = ours.handlers, ours.level, ours.propagate
    yield
    ours.handlers, ours.level, ours.propagate = before


@pytest.fixture
def log(tmp_path):
    with (tmp_path / "log").open("w+") as file:
        yield file


def connect(monkeypatch, stream):
    status = os.fstat(stream.fileno())
    monkeypatch.setenv("JOURNAL_STREAM", f"{status.st_dev}:{status.st_ino}")


def written(log):
    log.flush()
    log.seek(0)
    return log.read().splitlines()


def test_the_journal_gets_one_priority_a_line(monkeypatch, log):
    connect(monkeypatch, log)
    configure_logging(log)
    LOGGER.info("idle until 00:10")
    LOGGER.warning("jobs.json is broken\nthe last good one holds")
    LOGGER.error("gone")
    assert written(log) == [
        "<6>idle until 00:10",
        "<4>jobs.json is broken",
        "<4>the last good one holds",
        "<3>gone",
    ]


def test_a_traceback_stays_at_its_priority(monkeypatch, log):
    connect(monkeypatch, log)
    configure_logging(log)
    try:
        raise ZeroDivisionError
    except ZeroDivisionError:
        LOGGER.exception("it broke")
    assert {line[:3] for line in written(log)} == {"<3>"}


def test_elsewhere_a_line_has_its_time_and_its_level_and_no_colours(monkeypatch, log):
    monkeypatch.setenv("FORCE_COLOR", "1")
    configure_logging(log)
    LOGGER.warning("the server can't be reached")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} WARNING the server can't be reached", *written(log))


def test_a_stream_that_is_not_the_journals_is_told_apart(monkeypatch, log, tmp_path):
    """JOURNAL_STREAM is inherited by children whose output goes elsewhere."""
    with (tmp_path / "other").open("w") as other:
        connect(monkeypatch, other)
        assert (is_journal(other), is_journal(log)) == (True, False)


def test_configuring_twice_says_each_line_once(log):
    configure_logging(log)
    configure_logging(log)
    LOGGER.info("once")
    assert len(written(log)) == 1
