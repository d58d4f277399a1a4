"""Whatever the server plans, the clock does and the box suffers: nothing is begun twice, late, or after its success."""

import tempfile
from datetime import timedelta
from pathlib import Path

from asyncenergy_controller.loop.due import State, first_due, standings
from asyncenergy_controller.loop.history import About, History
from asyncenergy_controller.loop.slots import LATE_GRACE, slots_of
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.controller.loop_plans import at, placement, schedule

ABOUT = About(schedule_version=1, scheduled_start=at(0).isoformat(), occurrence_id="o")
MINUTES = st.integers(0, 20).map(lambda halves: 30 * halves)
NAMES = ("a", "b")
SPLIT = st.sets(st.sampled_from(NAMES))
ENDS = ("success", "error", "preempted")


class OneBox(RuleBasedStateMachine):
    """A box, its history, and a server that moves, splits and repeats what it planned."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "history.sqlite3"
        self.open()
        self.now = at(0)
        self.plan = None
        self.attempts = dict.fromkeys(NAMES, 1)
        self.begun, self.over, self.done, self.running = set(), set(), set(), None

    def open(self):
        self.history = History(self.path)
        self.history._db.execute("PRAGMA synchronous = OFF")  # no power cut in here, and hundreds of claims

    def teardown(self):
        self.history.close()
        self.folder.cleanup()

    @rule(starts=st.tuples(MINUTES, MINUTES), length=st.integers(2, 120), split=SPLIT, known=MINUTES)
    def plans(self, starts, length, split, known):
        placed = [
            self.placed(name, start, length, is_split=name in split) for name, start in zip(NAMES, starts, strict=True)
        ]
        self.plan = schedule(*placed, valid_until=at(0, known))

    def placed(self, name, start, length, *, is_split):
        begins, ends = at(0, start), at(0, start + length)
        middle = begins + (ends - begins) / 2
        pieces = [(begins, middle), (middle + timedelta(minutes=5), ends + timedelta(minutes=5))] if is_split else None
        same = {"occurrence_id": name, "attempt": self.attempts[name], "deadline": ends + timedelta(minutes=200)}
        return placement(begins, ends, pieces=pieces, **same)

    @rule(name=st.sampled_from(NAMES))
    def plans_another_attempt(self, name):
        self.attempts[name] += 1

    @rule(minutes=MINUTES)
    def time_passes_or_the_clock_is_set(self, minutes):
        self.now = at(0, minutes)

    @invariant()
    def looks(self):
        if self.plan is None or self.running is not None:
            return
        slots = list(slots_of(self.plan, "box"))
        found = standings(
            slots, known=lambda _: True, past=self.history.past_of(slots), refusal=lambda _: None, now=self.now
        )
        for one in found:
            if one.state is State.MISSED:
                self.history.claim(one.slot, ABOUT, self.now, status="missed")
        if (slot := first_due(found)) is not None:
            self.begin(slot)

    def begin(self, slot):
        claim = self.history.claim(slot, ABOUT, self.now)
        assert claim is not None
        key = (slot.occurrence, slot.placement.attempt)
        assert slot.start <= self.now <= max(slot.latest, slot.start + LATE_GRACE)
        assert slot.occurrence not in self.done
        assert key not in self.over
        assert (*key, slot.piece) not in self.begun
        self.begun.add((*key, slot.piece))
        self.running = (claim, slot)

    @precondition(lambda self: self.running is not None)
    @rule(status=st.sampled_from(ENDS))
    def the_job_ends(self, status):
        claim, slot = self.running
        is_pause = status == "preempted" and not slot.is_last
        self.history.settle(claim.run_id, "paused" if is_pause else status, self.now)
        if not is_pause:
            self.over.add((slot.occurrence, slot.placement.attempt))
        if status == "success":
            self.done.add(slot.occurrence)
        self.running = None

    @rule()
    def the_box_dies(self):
        self.history.close()
        self.open()
        left = self.history.unsettled()
        assert [one.run_id for one in left] == ([self.running[0].run_id] if self.running else [])
        for claim in left:
            self.history.settle(claim.run_id, "preempted", self.now)
            self.over.add((self.running[1].occurrence, self.running[1].placement.attempt))
        self.running = None


OneBox.TestCase.settings = settings(max_examples=14, stateful_step_count=30, deadline=None)
test_nothing_is_begun_twice_late_or_after_its_success = OneBox.TestCase
