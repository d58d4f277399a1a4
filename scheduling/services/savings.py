"""The ledger of savings: entered with the run's record, settled once every price it needs is known."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Exists, F, OuterRef, Q

from asyncenergy import clock
from scheduling import ledger
from scheduling.models import Placement, RunRecord, SavingsEntry
from scheduling.predictor import Profile
from scheduling.prices.types import SpotPoint
from scheduling.selectors.pieces import Pieces, earlier_pieces, pieces_of
from scheduling.selectors.predictions import is_measured, measured_wh
from scheduling.selectors.prices import PriceCurve, price_curve
from scheduling.selectors.schedule import formula_of_version

GIVE_UP = timedelta(days=14)
NO_TIMES = "the record has no start or no duration"
NO_BASELINE = "no baseline was frozen"
NOT_ALL_MEASURED = "the energy of a part of it was not measured"
NO_PRICES = "the prices of these hours are not published"
COUNTED = ["is_measured", "energy_wh", "cost", "earliest_cost", "random_cost", "reason"]


def savings_enter(*, run: RunRecord, placement: Placement) -> SavingsEntry:
    """Enter a run with the pieces before it; its money follows when its prices are settled."""
    entry = SavingsEntry(
        account=run.account,
        run=run,
        occurrence=placement.occurrence,
        placement=placement,
        currency=placement.version.currency,
        predicted_wh=placement.predicted_wh or 0.0,
    )
    pieces = pieces_of([run])[run.pk]
    entry.on = _date_of(pieces)
    entry.is_measured, entry.energy_wh = _energy(entry, pieces)
    entry.save(force_insert=True)
    return entry


def savings_add(*, piece: RunRecord) -> None:
    """Count a piece that is reported after the end of its run; money that is settled stays as it is."""
    entered = SavingsEntry.objects.filter(
        occurrence=piece.occurrence_id, run__piece_of_attempt=piece.piece_of_attempt, settled_at=None
    )
    for entry in entered.select_related("run__account"):
        pieces = pieces_of([entry.run])[entry.run_id]
        is_measured, energy_wh = _energy(entry, pieces)
        SavingsEntry.objects.filter(pk=entry.pk, settled_at=None).update(
            on=_date_of(pieces), is_measured=is_measured, energy_wh=energy_wh
        )


def _date_of(pieces: Pieces) -> date:
    first, zone = pieces[0], ZoneInfo(pieces[-1].account.timezone)
    return (first.actual_start or first.scheduled_start or first.ts).astimezone(zone).date()


def _energy(entry: SavingsEntry, pieces: Pieces) -> tuple[bool, float]:
    """Whether a run was measured, and what it took: without a measurement what was predicted."""
    energy_wh = measured_wh(pieces)
    return energy_wh is not None, entry.predicted_wh if energy_wh is None else energy_wh


def savings_settle_due(*, now: datetime | None = None, limit: int = 200) -> int:
    """Settle what can be settled, what was tried longest ago first; return how many entries were."""
    now = now or clock.now()
    sampled = RunRecord.objects.filter(
        earlier_pieces(),
        occurrence=OuterRef("occurrence"),
        piece_of_attempt=OuterRef("run__piece_of_attempt"),
        rollup_due=True,
    )
    waiting = SavingsEntry.objects.filter(~Exists(sampled), settled_at=None, run__rollup_due=False)
    due = waiting.select_related("run", "occurrence", "placement__version__market", "placement__version__based_on")
    ready = due.filter(Q(occurrence__deadline__lte=now + timedelta(days=1)))
    in_turn = ready.order_by(F("tried_at").asc(nulls_first=True), "pk")
    return sum(savings_settle(entry=entry, now=now) for entry in in_turn[:limit])


def savings_settle(*, entry: SavingsEntry, now: datetime | None = None) -> bool:
    """Count an entry's money at published prices; return whether all of it is known, or given up."""
    now = now or clock.now()
    pieces = pieces_of([entry.run])[entry.run_id]
    entry.is_measured, entry.energy_wh = _energy(entry, pieces)
    entry.cost = entry.earliest_cost = entry.random_cost = None
    really = _steps(pieces)
    if entry.placement is None or not really:
        return _close(entry, NO_TIMES, now)
    if not entry.is_measured and any(map(is_measured, pieces)):
        return _close(entry, NOT_ALL_MEASURED, now)
    baseline = _baseline(entry)
    points = _published(_curve(entry, really[0][0], really[-1][1], baseline))
    entry.cost = ledger.money_of(ledger.price_of(points, really), entry.energy_wh)
    if baseline is not None:
        entry.earliest_cost = ledger.money_of(ledger.earliest_price(points, baseline), entry.energy_wh)
        entry.random_cost = ledger.money_of(ledger.random_price(points, baseline), entry.energy_wh)
    known = entry.cost is not None and (baseline is None or None not in (entry.earliest_cost, entry.random_cost))
    if known or now - entry.occurrence.deadline > GIVE_UP:
        return _close(entry, "" if known and baseline else NO_BASELINE if known else NO_PRICES, now)
    entry.reason, entry.tried_at = NO_PRICES, now
    entry.save(update_fields=[*COUNTED, "tried_at"])
    return False


def _close(entry: SavingsEntry, reason: str, now: datetime) -> bool:
    entry.reason, entry.settled_at = reason, now
    entry.save(update_fields=[*COUNTED, "settled_at"])
    return True


def _baseline(entry: SavingsEntry) -> ledger.Baseline | None:
    stored = entry.occurrence.baseline
    if not stored:
        return None
    begin, end = (datetime.fromisoformat(text) for text in stored["window"])
    return ledger.Baseline(
        pieces=tuple((datetime.fromisoformat(a), datetime.fromisoformat(b)) for a, b in stored["pieces"]),
        window=(begin, end),
        reserve_s=stored["reserve_s"],
        profile=tuple((seconds, watts) for seconds, watts in stored["profile"]),
    )


def _curve(entry: SavingsEntry, start: datetime, end: datetime, baseline: ledger.Baseline | None) -> PriceCurve:
    """The prices of the plan's market, paid by the plan's formula."""
    version = entry.placement.version  # type: ignore[union-attr]  # an entry without one is closed before
    moments = [start, end, *(baseline.window if baseline else ())]
    return price_curve(version.market, formula_of_version(version), min(moments), max(moments))


def _published(curve: PriceCurve) -> list[SpotPoint]:
    return [SpotPoint(p.start, p.end, p.price_per_kwh) for p in curve.points if not p.is_forecast]


def _steps(pieces: Pieces) -> list[ledger.Step]:
    """When a run drew its energy: each piece its own, or its share of the time where no energy is known.

    Empty where a piece has no times.
    """
    energy_wh = measured_wh(pieces)
    steps: list[ledger.Step] = []
    for piece in pieces:
        if piece.actual_start is None or not piece.duration_s:
            return []
        share = (piece.energy_wh or 0.0) if energy_wh else piece.duration_s
        steps += ledger.steps_at(piece.actual_start, _profile(piece), weight=share)
    return sorted(steps)


def _profile(run: RunRecord) -> Profile:
    """How a run's energy was spread over its time: as sampled, else evenly."""
    duration_s = run.duration_s or 0.0
    profile = getattr(run, "profile", None)
    if profile is None or not profile.wh or None in profile.wh or not sum(profile.wh):
        return ((duration_s, 1.0),)
    share_s = duration_s / len(profile.wh)
    return tuple((share_s, float(wh)) for wh in profile.wh)
