"""What has run is on disk before it runs, and stays there."""

import threading
from datetime import timedelta

import pytest
from asyncenergy_controller.loop.history import KEPT, About, History, HistoryUnreadable

from tests.controller.loop_plans import TWO, WORKFLOW, at, placement, slots

ABOUT = About(schedule_version=7, scheduled_start=at(2).isoformat(), occurrence_id="o")
NIGHT = [(at(1), at(2)), (at(3), at(4)), (at(5), at(5, 30))]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "history.sqlite3"


@pytest.fixture
def history(path):
    history = History(path)
    yield history
    history.close()


def claim(history, plan=None, now=TWO, **more):
    slot = plan if plan is not None else slots(placement())[0]
    return history.claim(slot, ABOUT, now, **more)


def test_a_slot_is_claimed_once(history):
    assert claim(history) is not None
    assert claim(history) is None


def test_a_claim_outlives_the_process_that_made_it(history, path):
    first = claim(history)
    after_the_crash = History(path)
    assert claim(after_the_crash) is None
    assert [one.run_id for one in after_the_crash.unsettled()] == [first.run_id]
    assert after_the_crash.unsettled()[0].about == ABOUT
    after_the_crash.close()


def test_a_settled_run_is_not_unsettled(history):
    history.settle(claim(history).run_id, "success", at(3))
    assert history.unsettled() == []


def test_of_many_that_claim_at_once_one_wins(path):
    won = []

    def contend():
        history = History(path)
        barrier.wait()
        won.append(claim(history) is not None)
        history.close()

    History(path).close()
    barrier = threading.Barrier(6)
    threads = [threading.Thread(target=contend) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [False] * 5 + [True]


def test_the_next_attempt_can_be_claimed_after_a_failure_but_not_after_a_success(history):
    history.settle(claim(history).run_id, "error", at(2, 10))
    again = claim(history, slots(placement(attempt=2))[0])
    assert again is not None
    history.settle(again.run_id, "success", at(2, 20))
    assert claim(history, slots(placement(attempt=3))[0]) is None


def test_pieces_are_numbered_and_know_what_was_done_before_them(history):
    first, second, _ = slots(placement(pieces=NIGHT))
    begun = claim(history, first, at(1))
    assert (begun.number, begun.done) == (1, 0.0)
    history.settle(begun.run_id, "paused", at(2), done=3600.0)
    resumed = claim(history, second, at(3))
    assert (resumed.number, resumed.done) == (2, 3600.0)


def test_a_new_attempt_begins_from_nothing(history):
    first = slots(placement(pieces=NIGHT))[0]
    history.settle(claim(history, first, at(1)).run_id, "error", at(2), done=3600.0)
    again = claim(history, slots(placement(pieces=NIGHT, attempt=2))[1], at(3))
    assert (again.number, again.done) == (1, 0.0)


def test_a_missed_slot_is_neither_running_nor_counted_as_a_start(history):
    assert claim(history, status="missed") is not None
    assert history.unsettled() == []
    assert history.starts(WORKFLOW, at(0), but_for=slots(placement(occurrence_id="other"))[0]) == []


def test_starts_are_those_of_attempts_and_not_of_pieces(history):
    for piece, now in zip(slots(placement(pieces=NIGHT)), (at(1), at(3), at(5)), strict=True):
        history.settle(claim(history, piece, now).run_id, "paused", now)
    tomorrow = slots(placement(occurrence_id="tomorrow"))[0]
    assert history.starts(WORKFLOW, at(0), but_for=tomorrow) == [at(1)]
    assert history.starts(WORKFLOW, at(2), but_for=tomorrow) == []


def test_an_attempt_that_goes_on_is_no_other_start(history):
    first, second, _ = slots(placement(pieces=NIGHT))
    history.settle(claim(history, first, at(1)).run_id, "paused", at(2))
    assert history.starts(WORKFLOW, at(0), but_for=second) == []


def test_old_runs_are_forgotten_and_those_under_way_are_not(history):
    history.settle(claim(history).run_id, "success", at(3))
    claim(history, slots(placement(occurrence_id="under-way"))[0])
    history.forget_old(at(3) + KEPT + timedelta(hours=1))
    assert history.past_of(slots(placement())) == []
    assert len(history.unsettled()) == 1


def test_every_claim_waits_for_the_disk(history):
    assert history._db.execute("PRAGMA synchronous").fetchone() == (2,)
    assert history._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_damaged_file_stops_everything_and_says_what_to_do(path):
    path.parent.mkdir()
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(HistoryUnreadable, match="move it away"):
        History(path)


def claim_many(history):
    for number in range(1000):
        claim(history, slots(placement(occurrence_id=f"n{number}"))[0])


def test_a_full_disk_is_told_and_nothing_is_half_claimed(history):
    history._db.execute("PRAGMA max_page_count = 1")
    with pytest.raises(HistoryUnreadable, match="full"):
        claim_many(history)
    claimed = len(history.unsettled())
    history._db.execute("PRAGMA max_page_count = 100000")
    assert claim(history, slots(placement(occurrence_id=f"n{claimed}"))[0]) is not None


def test_a_claim_that_fails_leaves_nothing_half_done(history):
    with pytest.raises(TypeError):
        history.claim(slots(placement())[0], None, at(2))
    assert claim(history) is not None
