"""A spool that is locked, full, damaged or newer loses no report; where nothing can be written the caller is told."""

import random
import shutil
import sqlite3

import pytest
from asyncenergy_controller.reporting import Spool, SpoolError
from asyncenergy_controller.reporting.outbox import Report

from tests.controller.spool_reports import drained, run, trace

SECTOR = 512


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


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE entry SET body = 'no JSON' WHERE id = 1",
        "UPDATE entry SET body = '{}' WHERE id = 1",
        'UPDATE entry SET body = \'{"run_id": "r1", "energy_wh": NaN}\' WHERE id = 1',
        "UPDATE entry SET key = CAST(x'ff' AS TEXT) WHERE id = 1",
        "UPDATE entry SET server_id = x'ff' WHERE id = 1",
    ],
)
def test_a_damaged_row_that_sqlite_takes_for_good_costs_only_itself(spool, server, client, damage):
    spool.put_run(run("r1"), trace(2))
    spool.put_run(run("r2"), trace(2))
    with sqlite3.connect(spool.path) as db:
        db.execute(damage)
    db.close()
    assert drained(spool, client) == (1, 0, None)
    assert set(server.runs) == {"r2"}
    assert len(list(spool.path.parent.glob("*.damaged-*"))) == 1


def test_a_damaged_sample_costs_only_itself(spool, server, client):
    spool.put_run(run("r1"), trace(3))
    with sqlite3.connect(spool.path) as db:
        db.execute("UPDATE sample SET body = '{}' WHERE ts LIKE '%:01.%'")
    db.close()
    assert drained(spool, client)[1:] == (0, None)
    assert len(server.samples_of("r1")) == 2


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """A spool of 25 runs with 20 samples each."""
    spool = Spool(tmp_path_factory.mktemp("full") / "spool.sqlite3")
    for number in range(25):
        spool.put_run(run(f"r{number:02d}"), trace(20))
    return spool.path


def overwrite_sectors(path, chance):
    """What a failing disk does: one to three sectors come back as zeros, as noise, or as another sector."""
    content = bytearray(path.read_bytes())
    for _ in range(chance.randint(1, 3)):
        at, other = (SECTOR * chance.randrange(len(content) // SECTOR) for _ in range(2))
        found = [bytes(SECTOR), chance.randbytes(SECTOR), bytes(content[other : other + SECTOR])]
        content[at : at + SECTOR] = chance.choice(found)
    path.write_bytes(content)


def lose_sectors_and_report(full, spool, server, client, seed):
    """Nothing raises, and the report in hand reaches the server, whatever the disk lost."""
    shutil.copy(full, spool.path)
    overwrite_sectors(spool.path, random.Random(seed))
    spool.put_run(run("in-hand"), trace(2))
    spool.counts()
    spool.drain(client, at_once=True)
    assert drained(spool, client)[1:] == (0, None)
    assert len(server.samples_of("in-hand")) == 2


@pytest.mark.parametrize("seed", range(4))
def test_lost_sectors_never_cost_the_report_in_hand(full, spool, server, client, seed):
    lose_sectors_and_report(full, spool, server, client, seed)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(100, 112))
def test_lost_sectors_never_cost_the_report_in_hand_whatever_they_held(full, spool, server, client, seed):
    lose_sectors_and_report(full, spool, server, client, seed)
