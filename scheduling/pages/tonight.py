"""The account's plan as the dashboard shows it: jobs by letter, what does not fit, the sums."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from scheduling.errors import FieldRefused
from scheduling.jobs import SHARED_MACHINE
from scheduling.models import Placement
from scheduling.pages.curve import Drawing, Lane, hour_ceiling, hour_floor, key_of
from scheduling.pages.words import METHODS, reason_in_words
from scheduling.selectors.schedule import pieces_of
from scheduling.selectors.tonight import Tonight
from scheduling.windows import Window, Words, later_deadline

TONIGHT = timedelta(hours=24)
AT_LEAST = timedelta(hours=12)
Span = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Line:
    """One job of the plan. `later`: the words of a deadline that would let it fit."""

    key: str
    placement: Placement
    spans: list[Span]
    window: Span
    lane: Lane
    machine: str
    method: str
    reason: str
    later: str | None

    @property
    def is_known(self) -> bool:
        """Whether it is known what the job takes; else it can't be planned at all."""
        return self.placement.predicted_wh is not None

    @property
    def later_words(self) -> str:
        """The same for people: an instant without its offset."""
        return (self.later or "").partition("+")[0].replace("T", " ")


@dataclass(frozen=True, slots=True)
class Sums:
    """Over what is placed; money in the plan's currency. A baseline that one of them lacks is None for all."""

    jobs: int
    energy_wh: float
    cost: Decimal
    at_once: Decimal | None
    random: Decimal | None

    @property
    def saved_at_once(self) -> Decimal | None:
        return _saved(self.at_once, self.cost)

    @property
    def saved_random(self) -> Decimal | None:
        return _saved(self.random, self.cost)

    @property
    def share_at_once(self) -> float | None:
        return _share(self.saved_at_once, self.at_once)

    @property
    def share_random(self) -> float | None:
        return _share(self.saved_random, self.random)


def _saved(otherwise: Decimal | None, cost: Decimal | None) -> Decimal | None:
    return None if otherwise is None or cost is None else otherwise - cost


def _share(saved: Decimal | None, otherwise: Decimal | None) -> float | None:
    """None where a share says nothing: more than all was saved, or there was nothing to save."""
    if saved is None or otherwise is None or otherwise <= 0 or saved > otherwise:
        return None
    return float(saved / otherwise)


def context(found: Tonight, zone: ZoneInfo, now: datetime, *, whole: bool) -> dict[str, Any]:
    """What begins or has to be done within a day; with `whole`, all of the plan."""
    shown = [placement for placement in found.placements if whole or _is_near(placement, now)]
    near = sorted(shown, key=lambda placement: (placement.deadline, placement.pk))
    currency = found.curve.market.currency
    drawing = Drawing(*_shown(near, found, now), zone, now)
    lines = [_line(key_of(i), placement, drawing) for i, placement in enumerate(near)]
    slots = drawing.slots(found.curve.points, currency, [(line.key, line.spans) for line in lines])
    return {
        "found": found,
        "currency": currency,
        "drawing": drawing,
        "slots": slots,
        "lines": lines,
        "lanes": [line.lane for line in lines],
        "later_jobs": len(found.placements) - len(near),
        "misfits": _first_of_each(line for line in lines if not line.placement.feasible),
        "sums": sums([placement for placement in near if placement.feasible]),
        "has_forecast": any(slot.is_forecast for slot in slots),
    }


def _first_of_each(lines: Iterable[Line]) -> list[Line]:
    """What recurs and does not fit is said once."""
    return list({line.placement.workflow_id: line for line in reversed(list(lines))}.values())[::-1]


def _is_near(placement: Placement, now: datetime) -> bool:
    begins = placement.start or placement.occurrence.earliest_start
    return min(begins, placement.deadline) <= now + TONIGHT


def _shown(near: Sequence[Placement], found: Tonight, now: datetime) -> Span:
    """From this hour, or the beginning of what runs, to the deadlines, as far as prices are known."""
    begin = min([now, *(placement.start for placement in near if placement.start)])
    ends = [placement.end for placement in near if placement.end]
    deadline = max((placement.deadline for placement in near), default=now)
    until = max([*ends, min(deadline, now + TONIGHT), now + AT_LEAST])
    last = max((point.end for point in found.curve.points), default=until)
    return hour_floor(begin), min(hour_ceiling(until), max(last, hour_ceiling(now)))


def _line(key: str, placement: Placement, drawing: Drawing) -> Line:
    spans = [(piece["start"], piece["end"]) for piece in pieces_of(placement)]
    window = (placement.occurrence.earliest_start, placement.deadline)
    shared = placement.machine == SHARED_MACHINE
    return Line(
        key=key,
        placement=placement,
        spans=spans,
        window=window,
        lane=drawing.lane(key, placement.workflow.name, window, spans),
        machine="any controller" if shared else placement.machine,
        method=METHODS.get(placement.prediction_method or "", ""),
        reason=reason_in_words(placement.reason),
        later=_later(placement, drawing.zone, drawing.now),
    )


def _later(placement: Placement, zone: ZoneInfo, now: datetime) -> str | None:
    """A press of the button sets this deadline; nobody else ever does."""
    if placement.feasible or placement.later_min is None:
        return None
    one, workflow = placement.occurrence, placement.workflow
    window = Window(one.key, one.earliest_start, placement.deadline)
    words = Words(workflow.deadline, workflow.earliest_start, workflow.recurrence, workflow.said_at, zone)  # type: ignore[arg-type]  # one of its choices
    try:
        return later_deadline(words, window, placement.later_min, now=now)
    except FieldRefused:  # words that were readable once
        return None


def sums(placed: Sequence[Placement]) -> Sums:
    return Sums(
        jobs=len(placed),
        energy_wh=sum(p.predicted_wh or 0.0 for p in placed),
        cost=sum((p.cost or Decimal(0) for p in placed), Decimal(0)),
        at_once=_sum([p.earliest_cost for p in placed]),
        random=_sum([p.random_cost for p in placed]),
    )


def _sum(amounts: Sequence[Decimal | None]) -> Decimal | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known, Decimal(0)) if known and len(known) == len(amounts) else None
