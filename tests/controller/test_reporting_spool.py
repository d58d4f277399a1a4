"""The spool: what it has taken is never lost, reaches the server once in effect, and nothing blocks the rest."""

import random
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from asyncenergy_controller.meters.base import Reading
from asyncenergy_controller.reporting import Ack, Counts, Spool, open_spool
from asyncenergy_controller.reporting.backoff import Backoff
from asyncenergy_controller.reporting.records import samples_of
from asyncenergy_controller.server import ServerClient

from tests.controller.report_server import LOST_ANSWER, settings_for, slow
from tests.controller.spool_reports import AT, drained, run, trace

NOT_NOW = (503, {"detail": "busy", "code": "busy"})


def ack(event="started", **values):
    return Ack(schedule_version=3, event=event, workflow_id="w1", at=AT, **values)


def test_a_record_and_its_samples_reach_the_server_and_leave_the_spool(spool, server, client):
    spool.put_run(run(energy_wh=2.5, energy_source="counter"), trace(3))
    assert drained(spool, client) == (1, 0, None)
    assert server.runs["r1"] == {
        "controller_id": "box",
        "run_id": "r1",
        "ts": "2026-12-01T03:00:00+00:00",
        "exit_status": "success",
        "energy_wh": 2.5,
        "energy_source": "counter",
    }
    assert [sample["ts"] for sample in server.samples_of("r1")] == [
        f"2026-12-01T03:00:0{second}.000+00:00" for second in range(3)
    ]
    assert spool.counts() == Counts(runs=0, acks=0, samples=0, set_aside=0)


def test_reports_go_in_the_order_in_which_they_were_kept_records_before_samples(spool, server, client):
    spool.put_ack(ack())
    spool.put_run(run("r1"), trace(2))
    spool.put_run(run("r2"))
    spool.put_ack(ack("finished"))
    assert drained(spool, client) == (4, 0, None)
    samples = f"/api/v1/runs/{server.ids['r1']}/samples"
    assert server.calls == ["/api/v1/schedule/ack", "/api/v1/runs", "/api/v1/schedule/ack", samples]
    assert list(server.runs) == ["r1", "r2"]
    assert [one["event"] for one in server.acks] == ["started", "finished"]


def test_what_is_kept_outlives_the_process(tmp_path, server, client):
    path = tmp_path / "spool.sqlite3"
    code = f"""
import os, signal
from datetime import UTC, datetime
from pathlib import Path
from asyncenergy_controller.reporting import RunRecord, Spool
Spool(Path({str(path)!r})).put_run(RunRecord(controller_id="box", run_id="r9", ts=datetime.now(UTC)))
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    assert drained(Spool(path), client) == (1, 0, None)
    assert list(server.runs) == ["r9"]


def test_each_commit_is_forced_to_the_disk_and_the_file_is_the_owners_alone(spool):
    spool.put_run(run())
    with spool._outbox._transaction() as db:
        assert db.execute("PRAGMA synchronous").fetchone() == (2,)
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert stat.S_IMODE(spool.path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "fault",
    [
        NOT_NOW,
        (500, b"<html>boom</html>"),
        (401, {"detail": "No such key.", "code": "not_authenticated"}),
        (403, {"detail": "This key may not.", "code": "permission_denied"}),
        (429, {"detail": "Too many.", "code": "throttled"}),
        (404, b"<html>another server</html>"),
        (200, b"<html>a login page of some network</html>"),
        LOST_ANSWER,
    ],
)
def test_an_outage_keeps_everything_and_says_what_is_wrong(spool, server, client, fault):
    spool.put_run(run(), trace(3))
    spool.put_ack(ack())
    server.always = fault
    sent, left, problem = drained(spool, client)
    assert (sent, left) == (0, 2)
    assert problem
    assert spool.counts().samples == 3
    server.always = None
    assert drained(spool, client) == (2, 0, None)
    assert len(server.runs) == len(server.acks) == 1
    assert len(server.samples_of("r1")) == 3


def test_an_answer_that_was_lost_is_repeated_without_a_second_effect(spool, server, client):
    spool.put_run(run(), trace(3))
    server.faults = [LOST_ANSWER, None, LOST_ANSWER]
    for _ in range(3):
        spool.drain(client, at_once=True)
    assert spool.counts().waiting == 0
    assert server.calls.count("/api/v1/runs") == 2
    assert len(server.runs) == 1
    assert len(server.samples_of("r1")) == 3


@pytest.mark.parametrize("content", ["{", "{}", "[1]", '{"api_url": 1}'])
def test_a_damaged_login_keeps_everything_and_says_which_file(server, tmp_path, spool, content):
    spool.put_run(run())
    settings = settings_for(server, tmp_path, api_key=None)
    settings.config_dir.mkdir()
    (settings.config_dir / "login.json").write_text(content)
    with ServerClient(settings, attempts=1) as client:
        sent, left, problem = drained(spool, client)
    assert (sent, left) == (0, 1)
    assert "login.json" in problem


def test_a_slow_answer_is_given_up_and_asked_for_again(server, tmp_path, spool, client):
    spool.put_run(run())
    server.faults = [slow(0.4)]
    with ServerClient(settings_for(server, tmp_path, server_timeout_s=0.15), attempts=1) as hasty:
        assert "no answer within 0.15 s" in drained(spool, hasty)[2]
    with server.lock:
        assert list(server.runs) == ["r1"]
    assert drained(spool, client) == (1, 0, None)


def test_a_server_that_is_not_there_keeps_everything(spool, tmp_path):
    spool.put_run(run())
    with ServerClient(settings_for("http://127.0.0.1:9", tmp_path), attempts=1) as client:
        sent, left, problem = drained(spool, client)
    assert (sent, left) == (0, 1)
    assert "127.0.0.1:9" in problem


def test_a_record_that_is_refused_for_good_is_set_aside_with_the_words_and_blocks_nothing(spool, server, client):
    server.refuses = {"r2"}
    for name in ("r1", "r2", "r3"):
        spool.put_run(run(name), trace(2))
    assert drained(spool, client) == (2, 0, None)
    assert list(server.runs) == ["r1", "r3"]
    (aside,) = spool.set_aside()
    assert (aside.kind, aside.key, aside.reason) == ("run", "box/r2", "No good.")
    assert (spool.counts().set_aside, spool.counts().samples) == (1, 2)
    drained(spool, client)
    assert "r2" not in server.runs


def test_what_was_set_aside_can_be_sent_again(spool, server, client):
    server.refuses = {"r1"}
    spool.put_run(run("r1"), trace(2))
    drained(spool, client)
    server.refuses = set()
    assert spool.retry_set_aside() == 1
    assert drained(spool, client) == (1, 0, None)
    assert len(server.samples_of("r1")) == 2


def test_a_record_over_which_the_server_stumbles_lets_the_others_go_first(spool, server, client):
    server.breaks_on = {"r1"}
    for name in ("r1", "r2", "r3"):
        spool.put_run(run(name))
    assert drained(spool, client)[1:] == (3, f"{server.url}/api/v1/runs answered 500 without a reason.")
    assert drained(spool, client)[:2] == (2, 1)
    assert list(server.runs) == ["r2", "r3"]
    server.breaks_on = set()
    assert drained(spool, client) == (1, 0, None)


def test_a_run_that_the_server_has_lost_is_reported_again_once(spool, server, client):
    spool.put_run(run(), trace(2))
    server.faults = [None, (503, {"detail": "busy", "code": "busy"})]
    spool.drain(client, at_once=True)
    server.runs.clear()
    server.ids.clear()
    assert drained(spool, client) == (1, 0, None)
    assert len(server.samples_of("r1")) == 2


def test_samples_of_a_run_that_stays_unknown_are_set_aside(spool, server, client):
    spool.put_run(run(), trace(2))
    unknown = (404, {"detail": "You have no such run.", "code": "not_found"})
    server.faults = [None, unknown, None, unknown]
    assert drained(spool, client)[1:] == (0, None)
    assert [aside.reason for aside in spool.set_aside()] == ["You have no such run."]


def test_keeping_a_report_again_changes_nothing(spool, server, client):
    for _ in range(2):
        spool.put_run(run(), trace(2))
        spool.put_ack(ack())
    assert (spool.counts().runs, spool.counts().acks, spool.counts().samples) == (1, 1, 2)
    spool.drain(client)
    spool.put_run(run(), trace(2))
    assert drained(spool, client) == (1, 0, None)
    assert len(server.runs) == 1
    assert len(server.samples_of("r1")) == 2


def test_the_oldest_samples_are_thinned_first_and_no_record_goes(tmp_path):
    spool = Spool(tmp_path / "spool.sqlite3", samples_at_most=100)
    for number in range(4):
        spool.put_run(run(f"r{number}"), trace(40))
    with spool._outbox._transaction() as db:
        kept = dict(db.execute("SELECT key, count(*) FROM sample JOIN entry ON id = entry_id GROUP BY key"))
        ends = db.execute("SELECT min(ts), max(ts) FROM sample GROUP BY entry_id").fetchall()
    assert kept == {"box/r0": 11, "box/r1": 21, "box/r2": 21, "box/r3": 40}
    assert set(ends) == {("2026-12-01T03:00:00.000+00:00", "2026-12-01T03:00:39.000+00:00")}
    spool.put_run(run("r4"), trace(40))
    assert (spool.counts().runs, spool.counts().samples <= 100) == (5, True)


def test_many_runs_without_a_server_stay_within_bounds(tmp_path):
    spool = Spool(tmp_path / "spool.sqlite3", samples_at_most=50)
    for number in range(12):
        spool.put_run(run(f"r{number}"), trace(20))
    counts = spool.counts()
    assert counts.runs == 12
    assert counts.samples <= 50


def test_time_ends_a_drain_and_what_is_left_goes_next(spool, server, client):
    spool.put_run(run(), trace(2))
    assert spool.drain(client, within_s=0).left == 1
    assert server.calls == []
    assert drained(spool, client) == (1, 0, None)


def test_after_a_failure_the_server_is_left_in_peace_for_a_while(spool, server, client):
    now = [0.0]
    spool._backoff = Backoff(now_s=lambda: now[0], draw=lambda: 1.0)
    server.always = NOT_NOW
    spool.put_run(run())
    assert spool.drain(client).problem == "busy"
    server.always = None
    again = spool.drain(client)
    assert (again.problem, again.left, len(server.calls)) == ("busy", 1, 1)
    now[0] = 5.0
    assert spool.drain(client).left == 0


def test_pauses_double_up_to_a_quarter_of_an_hour_with_jitter():
    now = [0.0]
    draw = random.Random(1).random
    backoff = Backoff(now_s=lambda: now[0], draw=draw)
    for failures in range(12):
        backoff.failed()
        longest_s = min(900, 5 * 2**failures)
        assert longest_s / 2 <= backoff.left_s <= longest_s
        now[0] += backoff.left_s
        assert backoff.left_s == 0
    backoff.worked()
    backoff.failed()
    assert backoff.left_s <= 5


@pytest.mark.campaign
def test_two_processes_keep_and_send_at_once_without_losing_or_doubling(tmp_path, server):
    settings = settings_for(server, tmp_path)
    code = """
import sys
from datetime import UTC, datetime
from asyncenergy_controller.reporting import RunRecord, open_spool
from asyncenergy_controller.server import ServerClient
from asyncenergy_controller.settings import load_settings
settings = load_settings()
spool = open_spool(settings)
with ServerClient(settings, attempts=1) as client:
    for number in range(5):
        record = RunRecord(controller_id="box", run_id=f"{sys.argv[1]}-{number}", ts=datetime.now(UTC))
        spool.put_run(record, [{"ts": f"2026-12-01T03:00:{n:02d}.000+00:00", "power_w": 1.0} for n in range(4)])
        spool.drain(client, at_once=True)
"""
    env = {
        "ASYNCENERGY_API_URL": server.url,
        "ASYNCENERGY_API_KEY": "ae_key",
        "ASYNCENERGY_STATE_DIR": str(settings.state_dir),
        "ASYNCENERGY_CONFIG_DIR": str(settings.config_dir),
        "PATH": "/usr/bin",
    }
    both = [subprocess.Popen([sys.executable, "-c", code, name], env=env) for name in ("a", "b")]
    assert [one.wait(timeout=30) for one in both] == [0, 0]
    with ServerClient(settings) as client:
        open_spool(settings).drain(client)
    assert len(server.runs) == 10
    assert all(len(server.samples_of(name)) == 4 for name in server.runs)
    assert open_spool(settings).counts().waiting == 0


def test_threads_keep_at_once(spool):
    threads = [threading.Thread(target=spool.put_run, args=(run(f"r{n}"), trace(5))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (spool.counts().runs, spool.counts().samples) == (8, 40)


def test_a_spool_belongs_to_one_server(tmp_path):
    one, other = (open_spool(settings_for(url, tmp_path)) for url in ("http://a.example", "http://b.example:81"))
    one.put_run(run())
    assert other.counts().waiting == 0
    assert other.path.name == "b.example_81.sqlite3"


def test_a_number_that_is_none_is_not_sent(spool, server, client):
    spool.put_run(run(work_units=float("nan"), avg_w=float("inf"), duration_s=1.5))
    spool.drain(client)
    assert server.runs["r1"].keys() == {"controller_id", "run_id", "ts", "exit_status", "duration_s"}


def test_times_are_sent_in_utc_and_whole_seconds(spool, server, client):
    elsewhere = AT.astimezone().replace(microsecond=700_000) + timedelta(seconds=1)
    spool.put_run(run(actual_start=elsewhere))
    spool.drain(client)
    assert server.runs["r1"]["actual_start"] == "2026-12-01T03:00:01+00:00"


def test_a_full_spool_takes_no_more_room_than_was_given_to_it(tmp_path):
    spool = open_spool(settings_for("http://a.example", tmp_path, spool_max_mb=1))
    second = Reading(t_s=0.0, gpu_power_w=412.6179, gpu_util_pct=99, gpu_mem_used_mib=70_123.0, throttle_mask=0x24)
    readings = [replace(second, t_s=float(t), cpu_energy_uj=t * 1e8 + 1 / 3) for t in range(500)]
    for number in range(12):
        spool.put_run(run(f"r{number:02d}"), samples_of(readings, AT))
    assert spool.counts().runs == 12
    assert 500 < spool.counts().samples < 12 * 500
    assert sum(file.stat().st_size for file in spool.path.parent.iterdir()) < 1e6
