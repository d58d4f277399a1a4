"""The ledger of savings: entered with the run's record, settled once every price it needs is known."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Q

from asyncenergy import clock
from scheduling import ledger
from scheduling.models import Placement, RunRecord, SavingsEntry
from scheduling.predictor import Profile
from scheduling.prices.types import SpotPoint
from scheduling.selectors.predictions import is_measured
from scheduling.selectors.prices import PriceCurve, price_curve
from scheduling.selectors.schedule import formula_of_version

GIVE_UP = timedelta(days=14)
NO_TIMES = "the record has no start or no duration"
NO_BASELINE = "no baseline was frozen"
NO_PRICES = "the prices of these hours are not published"


def savings_enter(*, run: RunRecord, placement: Placement) -> SavingsEntry:
    """Enter a run; its money follows when its prices are settled."""
    zone = ZoneInfo(run.account.timezone)
    start = run.actual_start or run.scheduled_start or run.ts
    measured = is_measured(run)
    return SavingsEntry.objects.create(
        account=run.account,
        run=run,
        occurrence=placement.occurrence,
        placement=placement,
        on=start.astimezone(zone).date(),
        currency=placement.version.currency,
        predicted_wh=placement.predicted_wh or 0.0,
        energy_wh=(run.energy_wh if measured else placement.predicted_wh) or 0.0,
        is_measured=measured,
    )


def savings_settle_due(*, now: datetime | None = None, limit: int = 200) -> int:
    """Settle what can be settled; return how many entries were."""
    now = now or clock.now()
    waiting = SavingsEntry.objects.filter(settled_at=None, run__rollup_due=False)
    due = waiting.select_related("run", "occurrence", "placement__version__market", "placement__version__based_on")
    ready = due.filter(Q(occurrence__deadline__lte=now + timedelta(days=1)))
    return sum(savings_settle(entry=entry, now=now) for entry in ready.order_by("pk")[:limit])


def savings_settle(*, entry: SavingsEntry, now: datetime | None = None) -> bool:
    """Count an entry's money at published prices; return whether all of it is known, or given up."""
    now = now or clock.now()
    run = entry.run
    if entry.placement is None or run.actual_start is None or not run.duration_s:
        return _close(entry, NO_TIMES, now)
    baseline = _baseline(entry)
    end = run.actual_start + timedelta(seconds=run.duration_s)
    points = _published(_curve(entry, run.actual_start, end, baseline))
    really = ledger.steps_at(run.actual_start, _profile(run))
    entry.cost = ledger.money_of(ledger.price_of(points, really), entry.energy_wh)
    if baseline is not None:
        entry.earliest_cost = ledger.money_of(ledger.earliest_price(points, baseline), entry.energy_wh)
        entry.random_cost = ledger.money_of(ledger.random_price(points, baseline), entry.energy_wh)
    known = entry.cost is not None and (baseline is None or None not in (entry.earliest_cost, entry.random_cost))
    if known or now - entry.occurrence.deadline > GIVE_UP:
        return _close(entry, "" if known and baseline else NO_BASELINE if known else NO_PRICES, now)
    entry.reason = NO_PRICES
    entry.save(update_fields=["cost", "earliest_cost", "random_cost", "reason"])
    return False


def _close(entry: SavingsEntry, reason: str, now: datetime) -> bool:
    entry.reason, entry.settled_at = reason, now
    entry.save(update_fields=["cost", "earliest_cost", "random_cost", "reason", "settled_at"])
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


def _profile(run: RunRecord) -> Profile:
    """How a run's energy was spread over its time: as sampled, else evenly."""
    duration_s = run.duration_s or 0.0
    profile = getattr(run, "profile", None)
    if profile is None or not profile.wh or None in profile.wh or not sum(profile.wh):
        return ((duration_s, 1.0),)
    share_s = duration_s / len(profile.wh)
    return tuple((share_s, float(wh)) for wh in profile.wh)
