"""Runs one after another on one machine: exact, by dynamic programming over the sets of tasks that are done.

The relaxation's prices of time say how cheap what is left can be at best. A set after which nothing as cheap as the
best plan known can follow is dropped, so that ten tasks take milliseconds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scheduling.optimizer.curve import HOUR, Bools, Floats, Ints
from scheduling.optimizer.highs import Relaxed
from scheduling.optimizer.model import Block, Model
from scheduling.optimizer.places import dealt
from scheduling.optimizer.problem import Run
from scheduling.optimizer.room import forbidden_starts, room_on
from scheduling.optimizer.single import start_costs
from scheduling.optimizer.starts import Key, every_start, keyed

MOST_SETS = 1_000  # of tasks at once: a dozen tasks never make more
MOST_CELLS = 1_000_000  # sets x moments
MOST_STEPS = 50_000  # of one task: the seconds of a night
TIES = 1e-9

Layer = dict[int, Floats]
"""By the set of tasks done (a bit each): the least money for which all of them are over, at each moment."""


@dataclass(frozen=True, eq=False)
class _Choice:
    """Starts of one task in one way. `worth` is their cost and what the machine's time is worth."""

    bit: int
    block: Block
    starts: Ints
    cost: Floats
    worth: Floats

    def only(self, which: Bools) -> "_Choice":
        return _Choice(self.bit, self.block, self.starts[which], self.cost[which], self.worth[which])

    @property
    def ends(self) -> Ints:
        return self.starts + self.block.option.duration

    def run(self, start: int) -> Run:
        block = self.block
        return Run(block.task, block.place.machines[0], block.option, ((start, start + block.option.duration),))


def is_sequence(model: Model) -> bool:
    """Whether there is one machine for one run at a time, and nothing else to keep to."""
    alone = len(model.places) == 1 and model.places[0].capacity == 1
    return alone and model.problem.limit_w is None and not model.parts


def cheapest_sequence(
    model: Model, relaxed: Relaxed, known: float, starts: Mapping[Key, Ints] | None = None
) -> list[Run] | None:
    """Return the cheapest runs of all tasks, of equals those that end earliest; [] where none cost up to `known`.

    Over the model's starts, or over `starts`. None where there are too many sets.
    """
    time = _TimeValue(model, relaxed)
    choices = _hopeful(_choices(model, time, starts), time, known)
    if len({choice.bit for choice in choices}) < len(model.problem.tasks):
        return []
    table = _Table(choices, time, known)
    layers = table.layers(len(model.problem.tasks))
    if layers is None:
        return None
    runs = table.runs(layers) if layers[-1] else []
    return dealt(model.problem, [(run, model.places[0].machines) for run in runs])


def finer_starts(model: Model) -> Mapping[Key, Ints] | None:
    """Return all starts where they are whole steps and more than the model has."""
    every = every_start(model.problem, MOST_STEPS)
    more = every and sum(map(len, every.values())) > sum(len(block.starts) for block in model.blocks)
    return every if more else None


class _TimeValue:
    """What the machine's time from the first price on is worth, each row's price spread over the time it stands for."""

    def __init__(self, model: Model, relaxed: Relaxed) -> None:
        rows = model.priced_rows
        prices = relaxed.row_prices[[row.row for row in rows]]
        self.edges = np.array([t for row in rows for t in (row.begin, row.end)], dtype=np.int64)
        self.total = float(prices.sum())
        self.until_edges = np.repeat(np.cumsum(prices), 2) - np.column_stack((prices, np.zeros(len(rows)))).ravel()

    def until(self, times: Ints) -> Floats:
        return np.interp(times, self.edges, self.until_edges)


def _choices(model: Model, time: _TimeValue, starts: Mapping[Key, Ints] | None) -> list[_Choice]:
    """The starts, with costs in which the ends weigh so little that only ties feel it."""
    curve, tasks = model.problem.curve, model.problem.tasks
    light = TIES / 2 / (len(tasks) * max(curve.end - curve.start, HOUR))
    number = {task.id: i for i, task in enumerate(tasks)}
    keys = {(task.id, id(option)): key for task in tasks for key, option in keyed(task)}
    choices: list[_Choice] = []
    for block in model.blocks:
        own = _open(model, block, starts[keys[block.task.id, id(block.option)]]) if starts else block.starts
        ends = own + block.option.duration
        cost = start_costs(curve, block.option, own) + light * (ends - curve.start)
        worth = cost + time.until(ends) - time.until(own)
        choices.append(_Choice(1 << number[block.task.id], block, own, cost, worth))
    return choices


def _open(model: Model, block: Block, starts: Ints) -> Ints:
    """Leave out the starts that would run into a pinned run or a time without a price."""
    room = room_on(model.problem, block.place.machines[0], ())
    return starts[forbidden_starts(room, block.option).allows(starts)]


def _least(choices: Iterable[_Choice]) -> dict[int, float]:
    """What each task pays at least for its energy and its time."""
    least: dict[int, float] = {}
    for choice in choices:
        least[choice.bit] = min(float(choice.worth.min(initial=np.inf)), least.get(choice.bit, np.inf))
    return least


def _hopeful(choices: Sequence[_Choice], time: _TimeValue, known: float) -> list[_Choice]:
    """Leave out the starts that no plan for up to `known` can have."""
    least = _least(choices)
    slack = known + TIES - (sum(least.values()) - time.total)
    near = [choice.only(choice.worth <= least[choice.bit] + slack) for choice in choices]
    return [choice for choice in near if len(choice.starts)]


@dataclass(frozen=True, eq=False)
class _Move:
    """A choice, its starts and ends as places among all moments."""

    choice: _Choice
    begins: Ints
    ends: Ints


class _Table:
    """`ahead`: what the machine's time after each moment can take in at most."""

    def __init__(self, choices: Sequence[_Choice], time: _TimeValue, known: float) -> None:
        self.known = known
        self.moments = np.unique(np.concatenate([t for choice in choices for t in (choice.starts, choice.ends)]))
        self.ahead = time.total - time.until(self.moments)
        self.least: Mapping[int, float] = _least(choices)
        self.moves = [
            _Move(c, np.searchsorted(self.moments, c.starts), np.searchsorted(self.moments, c.ends)) for c in choices
        ]

    def layers(self, tasks: int) -> list[Layer] | None:
        """The sets of no task, of one, of two, … that may lead to a plan; None where they are too many."""
        layers: list[Layer] = [{0: np.zeros(len(self.moments))}]
        for _ in range(tasks):
            following = self._following(layers[-1])
            if following is None:
                return None
            layers.append(following)
        return layers

    def _following(self, layer: Layer) -> Layer | None:
        grown: Layer = {}
        for done, least in layer.items():
            for move in self.moves:
                more = done | move.choice.bit
                if more == done:
                    continue
                if more not in grown:
                    grown[more] = np.full(len(self.moments), np.inf)
                paid = grown[more]
                paid[move.ends] = np.minimum(paid[move.ends], least[move.begins] + move.choice.cost)
            if len(grown) > min(MOST_SETS, max(MOST_CELLS // len(self.moments), 1)):
                return None
        return {done: kept for done, paid in grown.items() if np.isfinite(kept := self._kept(done, paid)).any()}

    def _kept(self, done: int, paid: Floats) -> Floats:
        """The least for which `done` is over by each moment; infinite where nothing up to `known` can follow."""
        by_then = np.minimum.accumulate(paid)
        missing = sum(least for bit, least in self.least.items() if not done & bit)
        return np.where(by_then + missing - self.ahead > self.known + TIES, np.inf, by_then)

    def runs(self, layers: Sequence[Layer]) -> list[Run]:
        """Walk back from all tasks at the last moment to none."""
        (done,) = layers[-1]
        value, runs = layers[-1][done][-1], []
        for layer, before in zip(layers[:0:-1], layers[-2::-1], strict=True):
            end = int(np.flatnonzero(layer[done] <= value)[0])
            ways = [way for move in self.moves if done & move.choice.bit for way in _ways(move, before, done, end)]
            value, start, choice = min(ways, key=lambda way: way[0])
            runs.append(choice.run(int(self.moments[start])))
            done, value = done ^ choice.bit, before[done ^ choice.bit][start]
        return runs


def _ways(move: _Move, before: Layer, done: int, end: int) -> list[tuple[float, int, _Choice]]:
    """How `move` may be the last of `done`, over at the moment `end`: for how much, and from when."""
    at, least = np.flatnonzero(move.ends == end), before.get(done ^ move.choice.bit)
    if least is None or not len(at):
        return []
    start = int(move.begins[at[0]])
    return [(float(least[start] + move.choice.cost[at[0]]), start, move.choice)]
