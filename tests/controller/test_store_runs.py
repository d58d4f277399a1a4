"""Runs on disk: kept as they happen, found again, never deleted."""

import json
import os
import stat
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from asyncenergy_controller.bench.plan import Plan, Unit
from asyncenergy_controller.bench.store import ItemRow, RunBusy, RunDir, RunNotFound, RunStore
from asyncenergy_controller.files import (
    FileUnreadable,
    LineWriter,
    lock,
    read_json,
    read_lines,
    write_atomically,
    write_json,
)
from asyncenergy_controller.meters.base import Reading
from hypothesis import example, given
from hypothesis import strategies as st

PLAN = Plan(suite="smoke", units=(Unit(task="arith", n_items=3),))


@pytest.fixture
def store(tmp_path):
    """A store whose runs are released at the end of the test."""
    store, created = RunStore(tmp_path), []
    store.create = lambda plan, create=store.create: created.append(create(plan)) or created[-1]
    yield store
    for run in created:
        run.release()


def make_item(index, **changes):
    return ItemRow(
        **{"index": index, "t_start_s": 1.0, "t_end_s": 2.0, "correct": 1.0, "finish_reason": "stop"} | changes
    )


def write_part(run, *, unit_index=0, items=(), phases=(), label="arith", metered_until_s=9.0):
    part = run.new_part(unit_index, label, {"task": {"name": "arith"}})
    for phase in phases:
        part.enter_phase(phase)
    for item in items:
        part.add_item(item)
    part.add_reading(Reading(t_s=metered_until_s))
    part.close()
    return part


def test_every_line_is_on_disk_before_the_part_is_closed(store):
    run = store.create(PLAN)
    with closing(run.new_part(0, "arith", {})) as part:
        part.add_item(make_item(7))
        part.add_reading(Reading(t_s=2.5, gpu_power_w=300.0))
        (read,) = RunDir(run.path).parts()
    assert [row.index for row in read.items] == [7]
    assert read.readings == (Reading(t_s=2.5, gpu_power_w=300.0),)


def test_an_item_that_ended_after_the_last_reading_was_not_measured_and_is_asked_again(store):
    run = store.create(PLAN)
    write_part(run, items=[make_item(1, t_end_s=2.0), make_item(2, t_end_s=3.0)], metered_until_s=2.5)
    assert run.answered(0) == {1}


def test_a_line_that_a_crash_cut_off_is_passed_over_and_the_lines_before_it_count(store):
    run = store.create(PLAN)
    part = write_part(run, items=[make_item(1), make_item(2)])
    with (part.path / "items.jsonl").open("a") as file:
        file.write('{"index": 3, "t_sta')
    assert run.answered(0) == {1, 2}


def test_a_line_that_was_cut_off_within_a_letter_is_passed_over(tmp_path):
    path = tmp_path / "items.jsonl"
    path.write_bytes('{"answer":"a"}\n{"answer":"ö'.encode()[:-1])
    assert list(read_lines(path)) == [{"answer": "a"}]


def test_lines_with_every_kind_of_line_break_in_them_are_read_whole(tmp_path):
    path = tmp_path / "items.jsonl"
    row = {"answer": "a\u2028b\u2029c\x85d\x0be\x1cf\r\n"}
    path.write_text((json.dumps(row, ensure_ascii=False) + "\n") * 2, encoding="utf-8")
    assert list(read_lines(path)) == [row, row]


ANY_TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates too: an engine's JSON may hold them


@given(st.lists(st.dictionaries(ANY_TEXT, ANY_TEXT)))
@example([{"answer": "\ud83d"}, {"answer": "\u2028"}])
def test_whatever_a_model_says_is_read_back_from_the_lines_as_it_was(rows):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "items.jsonl"
        with closing(LineWriter(path)) as writer:
            for row in rows:
                writer.add(row)
        assert list(read_lines(path)) == rows


@given(st.dictionaries(ANY_TEXT, ANY_TEXT))
@example({"note": "\ud83d"})
def test_whatever_a_model_says_is_read_back_from_a_document_as_it_was(value):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.json"
        write_json(path, value)
        assert read_json(path) == value
        assert json.loads(path.read_text(encoding="utf-8")) == value


def test_a_broken_line_in_the_middle_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "trace.jsonl"
    path.write_text('{"t_s": 1}\n{"t_s":\n{"t_s": 2}\n')
    with pytest.raises(FileUnreadable, match=r"trace.jsonl line 2"):
        list(read_lines(path))


def test_a_phase_ends_where_the_next_begins_and_the_last_stays_open(store):
    run = store.create(PLAN)
    write_part(run, phases=["warmup", "items"])
    first, second = run.parts()[0].phases
    assert (first.phase, second.phase) == ("warmup", "items")
    assert first.t_end_s == second.t_start_s
    assert second.t_end_s is None


def test_voided_items_are_asked_again_and_stay_in_the_file(store):
    run = store.create(PLAN)
    with closing(run.new_part(0, "arith", {})) as part:
        part.add_item(make_item(1))
        part.add_item(make_item(2, finish_reason="error"))
        part.add_reading(Reading(t_s=9.0))
        part.void_items([2])
    assert run.answered(0) == {1}
    assert len((part.path / "items.jsonl").read_text().splitlines()) == 2


def test_a_second_start_of_a_unit_gets_its_own_directory(store):
    run = store.create(PLAN)
    paths = [write_part(run, items=[make_item(i)]).path for i in (1, 2)]
    assert len(set(paths)) == 2
    assert run.answered(0) == {1, 2}
    assert run.answered(1) == set()


def test_a_start_that_was_killed_before_it_wrote_anything_stops_no_other(store):
    run = store.create(PLAN)
    write_part(run, items=[make_item(1)])
    (run.path / "parts" / "000-arith.1").mkdir()
    write_part(run, items=[make_item(2)])
    assert run.answered(0) == {1, 2}


def test_a_plan_of_a_newer_version_is_named(store):
    run = store.create(PLAN)
    (run.path / "plan.json").write_text(json.dumps(PLAN.model_dump(mode="json") | {"novel": 1}))
    with pytest.raises(FileUnreadable, match=r"plan\.json is no plan that this version knows"):
        RunDir(run.path).plan  # noqa: B018 - reading it is what fails
    run.release()


def test_a_rerun_never_deletes_an_earlier_run(store):
    first, second = store.create(PLAN), store.create(PLAN)
    assert first.id != second.id
    assert {run.id for run in store.all()} == {first.id, second.id}


def test_the_newest_run_comes_first_and_is_called_last(store, monkeypatch):
    monkeypatch.setenv("ASYNCENERGY_TEST_CLOCK", "0,1.5")
    older = store.create(PLAN)
    monkeypatch.setenv("ASYNCENERGY_TEST_CLOCK", "0,1.6")
    newer = store.create(PLAN)
    assert [run.id for run in store.all()] == [newer.id, older.id]
    assert store.find("last").id == newer.id


def test_runs_of_one_second_are_told_apart(store, monkeypatch):
    monkeypatch.setenv("ASYNCENERGY_TEST_CLOCK", "0,0")
    created = [store.create(PLAN).id for _ in range(6)]
    assert [run.id for run in store.all()] == created[::-1]


def test_a_run_is_found_by_the_end_of_its_id(store):
    run = store.create(PLAN)
    assert store.find(run.id[-6:]).id == run.id


def test_an_unknown_run_is_refused_with_the_ones_there_are(store):
    run = store.create(PLAN)
    with pytest.raises(RunNotFound, match=run.id):
        store.find("nonsense")


def test_a_running_run_whose_process_is_gone_was_interrupted(store):
    run = store.create(PLAN)
    assert RunDir(run.path).status[0] == "running"
    run.release()
    state, reason = RunDir(run.path).status
    assert state == "interrupted"
    assert "ended before the run did" in reason


def test_two_processes_never_work_in_one_run(store):
    run = store.create(PLAN)
    with pytest.raises(RunBusy, match=run.id):
        RunDir(run.path).hold()


def test_the_plan_is_read_back_as_it_was_written(store):
    plan = Plan(suite="run", seed=7, units=(Unit(task="arith", n_items=3, settings={"kv_cache": "q8", "x": 1.5}),))
    assert store.create(plan).plan == plan


def test_only_a_run_that_did_not_finish_can_be_resumed(store):
    run = store.create(PLAN)
    run.set_status("finished")
    assert store.latest_unfinished("smoke") is None
    run.set_status("stopped", "time limit")
    assert store.latest_unfinished("smoke").id == run.id
    assert store.latest_unfinished("quick") is None


def test_an_atomic_write_leaves_the_old_file_when_it_fails(tmp_path, monkeypatch):
    path = tmp_path / "bundle.json"
    write_atomically(path, b"old")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"


def test_a_secret_file_is_for_its_owner_alone(tmp_path):
    write_atomically(tmp_path / "salt", b"x", mode=0o600)
    assert stat.S_IMODE((tmp_path / "salt").stat().st_mode) == 0o600


def test_a_lock_is_free_again_when_its_holder_closes(tmp_path):
    held = lock(tmp_path / ".lock")
    assert lock(tmp_path / ".lock") is None
    held.close()
    with lock(tmp_path / ".lock") as again:
        assert again is not None


def test_a_channel_without_a_value_takes_no_space_in_the_trace(store):
    with closing(store.create(PLAN).new_part(0, "arith", {})) as part:
        part.add_reading(Reading(t_s=1.0))
    assert json.loads((part.path / "trace.jsonl").read_text()) == {"t_s": 1.0}
