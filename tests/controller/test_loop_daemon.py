"""The loop against a server on loopback, with real commands."""

import logging
import sqlite3
import subprocess
import threading
import time
from contextlib import closing

import pytest
from asyncenergy_controller import clock
from asyncenergy_controller.identity import machine_salt
from asyncenergy_controller.loop import recovery
from asyncenergy_controller.loop.assembly import AlreadyRunning, assembled
from asyncenergy_controller.loop.history import History, HistoryUnreadable
from asyncenergy_controller.loop.running import about
from asyncenergy_controller.loop.slots import slots_of
from asyncenergy_controller.server import decode_schedule

from tests.controller.loop_box import LoopBox, in_s, planned, until
from tests.controller.loop_plans import OCCURRENCE, OTHER, WORKFLOW, body, entry
from tests.controller.loop_server import UNAUTHORISED, loop_server

AWAY = (503, {"detail": "The server is being moved."})


@pytest.fixture
def box(tmp_path):
    with loop_server() as server:
        yield LoopBox(tmp_path, server)


@pytest.fixture
def hundredfold(monkeypatch):
    """A minute passes in 0.6 s."""
    monkeypatch.setenv(clock.TEST_CLOCK, f"{time.time()},100")


@pytest.fixture
def at_noon(monkeypatch):
    """The clock goes on from noon of today, as people here call it: no day ends meanwhile."""
    now, begun = clock.now, clock.now().astimezone()
    until_noon = begun.replace(hour=12) - begun
    monkeypatch.setattr(clock, "now", lambda: now() + until_noon)


def test_what_is_due_is_run_and_reported(box):
    box.has()
    box.plan(planned())
    box.once()
    assert box.marks() == 1
    (record,) = box.records()
    assert (record["exit_status"], record["workflow_id"], record["occurrence_id"]) == ("success", WORKFLOW, OCCURRENCE)
    assert box.server.body["placements"][0]["start"].startswith(record["scheduled_start"].removesuffix("+00:00"))
    assert (record["controller_id"], record["schedule_version"]) == ("box", 1)
    assert record["duration_s"] > 0
    assert "energy_wh" not in record  # not measured, which is never 0
    assert box.events() == ["started", "finished"]
    assert box.server.acks[0]["occurrence_id"] == OCCURRENCE


def test_a_restart_never_runs_an_occurrence_again_however_long_the_server_lists_it(box):
    box.has()
    box.plan(planned())
    for _ in range(3):
        box.once()
    box.plan(planned(start_s=-0.5))  # moved by a plan that did not know yet
    box.once()
    assert box.marks() == 1
    assert len(box.records()) == 1


def test_two_jobs_that_are_due_run_one_after_the_other(box):
    box.has(*box.marking(f"test $(wc -l < {box.path}/marks) = 1 -o -e {box.path}/first && touch {box.path}/first"))
    box.plan(planned(), planned(occurrence_id="second"))
    box.once()
    assert box.marks() == 2
    assert box.events() == ["started", "finished", "started", "finished"]


def test_a_job_that_fails_is_told_and_tried_again_only_where_the_server_plans_that(box):
    box.has(*box.marking("exit 3"))
    box.plan(planned())
    _, code = box.once()
    box.once()
    assert (box.marks(), code) == (1, 1)
    assert box.records()[0]["exit_status"] == "error"
    assert box.events() == ["started", "failed"]
    box.plan(planned(attempt=2))
    box.once()
    assert box.marks() == 2


def test_what_is_not_due_yet_is_left_and_said(box):
    box.has()
    box.plan(planned(start_s=3600))
    line, code = box.once()
    assert (box.marks(), code) == (0, 0)
    assert line.startswith("idle until ")
    assert "(night-batch)" in line


def test_an_id_that_is_unknown_here_is_skipped_with_one_warning(box, caplog):
    box.has()
    box.plan(planned(workflow_id=OTHER), planned(workflow_id=OTHER, occurrence_id="tomorrow"))
    line, _ = box.once()
    assert box.records() == box.server.acks == []
    assert line.startswith(f"nothing will ever run: the catalog has no entry for {OTHER}")
    assert len([r for r in caplog.records if f"Workflow {OTHER} is skipped" in r.getMessage()]) == 1


def test_what_could_not_be_begun_in_time_is_told_once_and_never_begun(box):
    box.has()
    box.plan(planned(start_s=-7200, length_s=3600, deadline_s=600))
    box.once()
    box.once()
    assert box.marks() == 0
    assert box.records() == []
    assert box.events() == ["failed"]


def test_what_its_owner_does_not_allow_is_held_back_and_said(box, at_noon):
    box.has(max_runs_per_day=1)
    box.plan(planned(), planned(occurrence_id="second"))
    line, _ = box.once()
    assert box.marks() == 1
    assert line.startswith("holding night-batch back: it has run 1 times today, and max_runs_per_day is 1")


def test_a_job_that_the_catalog_does_not_call_interruptible_is_never_interrupted(box):
    box.has()
    pieces = [(in_s(-1), in_s(100)), (in_s(200), in_s(300))]
    box.plan(planned(pieces=pieces))
    line, _ = box.once()
    assert box.marks() == 0
    assert "the catalog doesn't call it interruptible" in line


def test_without_a_server_work_goes_on_by_the_last_plan_and_is_reported_later(box):
    box.plan(planned(start_s=3600), planned(occurrence_id="due"))
    box.once()  # with no catalog yet
    box.has()
    box.server.always = AWAY
    line, code = box.once()
    assert (box.marks(), code) == (1, 4)
    assert "the server can't be asked (The server is being moved), going on with schedule 1" in line
    assert "reports wait for the server" in line
    assert box.records() == []
    box.server.always = None
    line, code = box.once()
    assert (box.marks(), code) == (1, 0)
    assert [record["occurrence_id"] for record in box.records()] == ["due"]
    assert box.events() == ["started", "finished"]


def test_a_refused_key_is_told_in_the_servers_words(box):
    box.has()
    box.server.always = UNAUTHORISED
    line, code = box.once()
    assert code == 4
    assert "the server can't be asked (This key is not valid)" in line


def test_one_box_has_one_loop(box):
    with assembled(box.settings), pytest.raises(AlreadyRunning, match="twice"), assembled(box.settings):
        pass


def claimed(box):
    """What a controller leaves that dies right after it has claimed a run."""
    (slot,) = slots_of(decode_schedule(box.server.body), "box")
    history = History(box.settings.history_path)
    claim = history.claim(slot, about(slot, entry(), machine_salt(box.settings.config_dir)), clock.now())
    history.close()
    return claim


def test_a_run_that_was_cut_off_is_ended_told_once_and_not_repeated(box):
    box.has()
    box.plan(planned())
    claim = claimed(box)
    left = subprocess.Popen(["sleep", "60"], env={"ASYNCENERGY_RUN_ID": claim.run_id}, start_new_session=True)
    foreign = subprocess.Popen(["sleep", "60"], start_new_session=True)
    box.once()
    box.once()
    assert left.wait(5) != 0
    assert foreign.poll() is None
    foreign.kill()
    foreign.wait()
    assert box.marks() == 0
    assert [(record["run_id"], record["exit_status"]) for record in box.records()] == [(claim.run_id, "preempted")]
    assert box.events() == ["failed"]


@pytest.mark.parametrize(("code", "status", "event"), [("0", "success", "finished"), ("13", "preempted", "failed")])
def test_work_that_went_on_alone_to_its_end_counts_as_done_only_where_it_ended_well(box, code, status, event):
    box.has()
    box.plan(planned())
    claim = claimed(box)
    box.settings.job_log_dir.mkdir()
    (box.settings.job_log_dir / f"{claim.run_id}.exit").write_text(code)
    box.once()
    assert [record["exit_status"] for record in box.records()] == [status]
    assert box.events() == [event]
    assert box.marks() == 0


@pytest.mark.parametrize(("leftovers", "status"), [(0, "success"), (1, "preempted")])
def test_work_that_ends_while_it_is_looked_for_counts_as_done_unless_it_was_asked_to_end(
    box, monkeypatch, leftovers, status
):
    box.has()
    box.plan(planned())
    claim = claimed(box)
    box.settings.job_log_dir.mkdir()

    def ends_meanwhile(run_id):
        (box.settings.job_log_dir / f"{run_id}.exit").write_text("0")
        return leftovers

    monkeypatch.setattr(recovery, "end_run", ends_meanwhile)
    box.once()
    assert [(record["run_id"], record["exit_status"]) for record in box.records()] == [(claim.run_id, status)]


def test_a_stopped_loop_ends_its_job_tells_that_and_does_not_begin_it_again(box):
    box.has(*box.marking("sleep 60"))
    box.plan(planned(), planned(occurrence_id="next"))
    with box.running():
        until(lambda: box.marks() == 1)
    assert [record["exit_status"] for record in box.records()] == ["preempted"]
    assert box.events() == ["started", "failed"]
    box.plan(planned())
    box.once()
    assert box.marks() == 1


def test_a_loop_that_breaks_takes_its_job_along_and_reports_it(box, hundredfold):
    box.polls_every(10)
    box.has(*box.marking("sleep 60"))
    box.plan(planned())
    threading.Thread(target=drop_history, args=(box,)).start()
    with assembled(box.settings) as daemon, pytest.raises(HistoryUnreadable, match="no such table"):
        daemon.run_forever()
    assert [record["exit_status"] for record in box.records()] == ["preempted"]


def drop_history(box):
    until(lambda: box.marks() == 1)
    with closing(sqlite3.connect(box.settings.history_path)) as db, db:
        db.execute("ALTER TABLE run RENAME TO gone")


def test_the_schedule_is_asked_for_while_a_job_runs(box, hundredfold):
    box.polls_every(10)
    box.has(*box.marking("sleep 0.5"))
    box.plan(planned())
    with box.running():
        until(lambda: box.marks() == 1)
        before = len(box.server.polls)
        until(lambda: "finished" in box.events())
    assert len(box.server.polls) > before


def test_a_job_that_was_called_off_a_moment_ago_is_not_begun(box, hundredfold):
    box.polls_every(3600)
    box.has()
    box.plan(planned(start_s=200))
    with box.running():
        until(lambda: len(box.server.polls) == 1)
        box.plan()
        until(lambda: len(box.server.polls) == 2)  # the one before the start
    assert box.marks() == 0


def test_an_interruptible_job_stops_with_its_piece_and_goes_on_in_the_next(box, hundredfold):
    box.has(*box.marking(f"test -e {box.path}/begun || {{ touch {box.path}/begun; sleep 60; }}"), interruptible=True)
    box.polls_every(10)
    with box.running():
        until(lambda: len(box.server.polls) == 1)
        box.plan(planned(pieces=[(in_s(-1), in_s(150)), (in_s(155), in_s(900))]))
        until(lambda: "finished" in box.events())
    assert box.marks() == 2
    assert [record["exit_status"] for record in box.records()] == ["preempted", "success"]
    assert len({record["scheduled_start"] for record in box.records()}) == 1  # the whole placement's
    assert box.events() == ["started", "finished"]


def test_a_job_without_a_limit_is_ended_with_its_window(box, hundredfold):
    box.has(*box.marking("sleep 60"))
    box.polls_every(10)
    with box.running():
        until(lambda: len(box.server.polls) == 1)
        box.plan(planned(length_s=100, deadline_s=130))
        until(lambda: "failed" in box.events())
    (record,) = box.records()
    assert record["exit_status"] == "error"
    assert 50 < record["duration_s"] < 3000  # of the 6000 that it would take


def test_a_half_saved_catalog_keeps_the_last_good_one_and_says_so(box, hundredfold, caplog):
    caplog.set_level(logging.INFO, "asyncenergy_controller.loop")
    box.polls_every(10)
    box.has()
    box.plan(planned(start_s=36_000))
    with box.running(watch_catalog=True):
        until(lambda: "idle until" in caplog.text)
        box.settings.job_catalog.write_text('{"half')
        until(lambda: "no readable JSON" in caplog.text)
        box.plan(planned())
        until(lambda: "finished" in box.events())
    assert box.marks() == 1
    assert "going on with the last good catalog" in caplog.text


def test_no_word_of_the_server_reaches_the_paths_of_a_run(box):
    box.has()
    box.plan(planned(occurrence_id="evil"), planned(occurrence_id="../../evil"))
    box.once()
    assert box.marks() == 1  # an id that could be a path is none
    logs = {path.stem for path in box.settings.job_log_dir.iterdir()}
    assert logs == {record["run_id"] for record in box.records()}


def test_a_schedule_without_placements_for_this_box_is_no_error(box):
    box.has()
    box.server.publish(body())
    line, code = box.once()
    assert (code, box.events()) == (0, [])
    assert line.startswith("idle: nothing is planned for night-batch")
