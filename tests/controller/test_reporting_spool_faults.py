"""A spool that is locked, full, damaged or newer loses no report; where nothing can be written the caller is told."""

import sqlite3

import pytest
from asyncenergy_controller.reporting import Spool, SpoolError
from asyncenergy_controller.reporting.outbox import Report

from tests.controller.spool_reports import drained, run, trace


def spool_report(name, **values):
    return Report("run", f"box/{name}", run(name, **values).as_json())


def full_disk(spool, monkeypatch):
    """SQLite's own words for a full disk, at the size the file has now."""
    original = type(spool._outbox)._open

    def bounded(outbox):
        db = original(outbox)
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages}")
        return db

    monkeypatch.setattr(type(spool._outbox), "_open", bounded)


def damage_in_the_middle(path):
    """Overwrite a page of the second half, as a failing disk would."""
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    content = bytearray(path.read_bytes())
    page = 4096
    middle = (len(content) // page // 2) * page
    content[middle : middle + 3 * page] = b"\xff" * (3 * page)
    path.write_bytes(content)


def test_a_locked_spool_leaves_the_report_beside_it_until_it_is_free(spool, server, client, monkeypatch):
    monkeypatch.setattr("asyncenergy_controller.reporting.outbox.BUSY_S", 0.05)
    spool.put_run(run("r1"))
    held = sqlite3.connect(spool.path, isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    spool.put_run(run("r2"), trace(2))
    with pytest.raises(SpoolError, match="locked"):
        spool.counts()
    assert "locked" in spool.drain(client, at_once=True).problem
    held.close()
    assert drained(spool, client) == (2, 0, None)
    assert len(server.samples_of("r2")) == 2


def test_a_full_disk_leaves_the_report_beside_the_spool_until_there_is_room(spool, server, client, monkeypatch, caplog):
    spool.put_run(run("r1"))
    with monkeypatch.context() as while_full:
        full_disk(spool, while_full)
        spool.put_run(run("r2"), trace(2000))
    assert "full" in caplog.text
    assert spool._beside.path.exists()
    assert drained(spool, client) == (2, 0, None)
    assert len(server.samples_of("r2")) == 2000
    assert not spool._beside.path.exists()


def test_where_nothing_can_be_written_the_caller_is_told_and_still_has_the_report(tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(SpoolError, match="make room there"):
        Spool(tmp_path / "file" / "spool.sqlite3").put_run(run())


def test_a_torn_line_beside_the_spool_spoils_no_other_and_stays(spool, server, client, caplog):
    spool._beside.path.write_bytes(b'{"kind": "run", "key": "to')
    spool._put_beside(spool_report("r1"), OSError("full"))
    assert drained(spool, client) == (1, 0, None)
    assert spool._beside.path.read_bytes() == b'{"kind": "run", "key": "to\n'
    assert "can't be read" in caplog.text


def test_a_file_that_is_no_database_is_kept_and_a_new_one_is_begun(spool, server, client, caplog):
    spool.path.write_bytes(b"this is no database, whatever it was before" * 100)
    spool.put_run(run("r1"))
    assert drained(spool, client) == (1, 0, None)
    assert "damaged" in caplog.text
    (kept,) = spool.path.parent.glob("spool.sqlite3.damaged-*")
    assert kept.read_bytes().startswith(b"this is no database")


def test_of_a_damaged_spool_goes_on_what_can_still_be_read(spool, server, client, caplog):
    spool._outbox.put([spool_report(f"r{number:03d}", fingerprint="x" * 150) for number in range(200)])
    damage_in_the_middle(spool.path)
    spool.put_run(run("last"), trace(2))
    spool.drain(client, at_once=True)
    spool.drain(client, at_once=True)
    assert "last" in server.runs
    assert {"r000", "r199"} <= set(server.runs)
    assert len(server.runs) > 100
    assert "could still be read" in caplog.text
    assert len(list(spool.path.parent.glob("spool.sqlite3.damaged-*"))) == 1


def test_a_spool_of_a_newer_controller_is_left_alone(spool, server, client):
    spool.put_run(run("r1"))
    with sqlite3.connect(spool.path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    spool.put_run(run("r2"))
    with pytest.raises(SpoolError, match="update the controller"):
        spool.counts()
    assert spool._beside.path.exists()
