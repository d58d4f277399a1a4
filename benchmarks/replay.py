"""A year of recorded quarter-hour prices, day by day as they were published, through the product's own services.

Three jobs a day share one machine: 4 h between 20:00 and 07:00, 2 h 30 between 08:00 and 08:00, 1 h between 09:00 and
21:00. Days that are missing from the record are outages: they are planned on the forecast, and their money is not
counted. Every published plan is verified, and its certificate is checked by the reference checker beside the checkout.

    python -m benchmarks.replay [DAYS]

The same year is replayed once more with all prices published beforehand: what that costs is perfect foresight, under
the same rules and on the same machine. The other yardstick is each job at its best start, as if it were alone.
"""

import csv
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from benchmarks.site import fresh_site
from scheduling.humantime import at_wall
from scheduling.ledger import price_of, steps_at
from scheduling.optimizer import Job, PricePoint, plan
from scheduling.prices.coverage import gaps, local_midnight
from scheduling.prices.forecast import HISTORY_DAYS
from scheduling.prices.types import Fetched, SpotPoint

if TYPE_CHECKING:
    from accounts.models import User
    from scheduling.models import Placement, ScheduleVersion

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
FILES = ("cz_2025_quarterhourly.csv", "cz_2026_quarterhourly.csv")
PRAGUE = ZoneInfo("Europe/Prague")
PUBLISHED_AT = time(13)
WATTS = 350.0
HOUR_S = 3600.0
JOBS = {  # hours, deadline, earliest start
    "evening": (4.0, "by 7am", "20:00"),
    "any time": (2.5, "by 8am", "8am"),
    "day": (1.0, "by 9pm", "9am"),
}
Days = Mapping[date, list[SpotPoint]]


@cache
def recorded_days(folder: Path = SHARED / "data" / "prices") -> Days:
    """Return the recorded days by their local date, in EUR per kWh. Days that are missing are missing."""
    days: dict[date, list[SpotPoint]] = {}
    for name in FILES:
        with (folder / name).open() as file:
            for row in csv.DictReader(file):
                before = days.setdefault(date.fromisoformat(row["date"]), [])
                start = before[-1].end if before else local_midnight(PRAGUE, date.fromisoformat(row["date"]))
                price = Decimal(row["price_eur_mwh"]) / 1000
                before.append(SpotPoint(start, start + timedelta(minutes=15), price))
    return days


@cache
def recorded_hours(folder: Path = SHARED / "data" / "prices") -> list[SpotPoint]:
    """Return the hours of 2025 up to September; on a few of them the record has a mark instead of a price."""
    points: list[SpotPoint] = []
    with (folder / "cz_2025_hourly.csv").open() as file:
        for row in csv.DictReader(file):
            day = date.fromisoformat(row["date"])
            if date(2025, 4, 1) <= day < date(2025, 10, 1) and row["price_eur_mwh"] != "SN":
                wall = datetime.combine(day, time.fromisoformat(row["time_from"]))
                start = at_wall(wall, PRAGUE, edge="start")
                points.append(SpotPoint(start, start + timedelta(hours=1), Decimal(row["price_eur_mwh"]) / 1000))
    return points


@cache
def reference_check() -> Callable[[dict[str, Any]], float]:
    """Return the checker of certificates that is no part of the product."""
    spec = importlib.util.spec_from_file_location("certificate_check", SHARED / "reference" / "certificate_check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    check: Callable[[dict[str, Any]], float] = module.check
    return check


@dataclass
class Report:
    """What a replay found. Money in EUR, of the occurrences whose whole window is in the record."""

    days: int = 0
    plans: int = 0
    runs: int = 0
    missed: int = 0
    overlaps: int = 0
    late: int = 0
    unsound_certificates: int = 0
    gap: float = 0.0
    priced: int = 0
    cost: float = 0.0
    alone: float = 0.0
    baseline: float = 0.0
    ledger_cost: float = 0.0
    seconds: float = 0.0
    spans: list[tuple[datetime, datetime]] = field(default_factory=list)

    def distance(self, foresight: "Report") -> float:
        """What foresight would have saved more, as a share of the baseline cost."""
        return (self.cost - foresight.cost) / self.baseline

    def captured(self, foresight: "Report") -> float:
        """The share of the saving of perfect foresight that was brought in."""
        return (self.baseline - self.cost) / (self.baseline - foresight.cost)


class Replay:
    """One account, its three workflows, and the clock of the record."""

    def __init__(self, days: Days, account: "User", *, foresight: bool = False) -> None:
        from scheduling.models import Market, SchedulingAccount
        from scheduling.services import workflow_create

        self.days, self.account, self.report = days, account, Report(days=len(days))
        self.everything = sorted(point for points in days.values() for point in points)
        self.now = local_midnight(PRAGUE, min(days)) + timedelta(hours=8)
        self.end = local_midnight(PRAGUE, max(days) + timedelta(days=1))
        self.market = Market.objects.get(slug="cz")
        SchedulingAccount.objects.create(user=account, market=self.market)
        self.published: set[date] = set()
        self._publish_history()
        for day in sorted(days) if foresight else [min(days)]:
            self._publish(day)
        self.checked = 0
        for name, (hours, deadline, earliest) in JOBS.items():
            workflow_create(
                account=account,
                now=self.now,
                name=name,
                framework="command",
                est_duration_s=hours * HOUR_S,
                nameplate_watts=WATTS,
                deadline=deadline,
                earliest_start=earliest,
                recurrence="daily",
            )

    def run(self) -> Report:
        began = perf_counter()
        while self.now < self.end:
            self._work()
            self.now = min(self._events())
        self._settle()
        self.report.seconds = perf_counter() - began
        return self.report

    def _events(self) -> Iterator[datetime]:
        """The next moments at which anything can happen."""
        from scheduling.models import Occurrence, PlanClaim

        yield self.end
        for day in (0, 1):
            today = self.now.astimezone(PRAGUE).date() + timedelta(days=day)
            yield from (at for at in [self._publication(today)] if at > self.now)
        due = PlanClaim.objects.values_list("due_at", flat=True).get(account=self.account)
        yield from (at for at in [due] if at is not None and at > self.now)
        ahead = Occurrence.objects.filter(account=self.account, status__in=("open", "running"))
        for one in ahead.exclude(planned_start=None).select_related("workflow"):
            assert one.planned_start is not None
            end = one.planned_start + timedelta(hours=JOBS[one.workflow.name][0])
            yield from (at for at in (one.planned_start, end) if at > self.now)

    def _publication(self, day: date) -> datetime:
        return at_wall(datetime.combine(day, PUBLISHED_AT), PRAGUE, edge="start")

    def _publish_history(self) -> None:
        """What a server that is not new knows: the hours of the weeks before."""
        from scheduling.services.prices import document_store

        first = local_midnight(PRAGUE, min(self.days))
        back = first - timedelta(days=HISTORY_DAYS)
        before = [*recorded_hours(), *(p for points in recorded_days().values() for p in points)]
        points = tuple(p for p in before if back <= p.start and p.end <= first)
        document_store(market=self.market, source="csv", fetched=Fetched("history", "EUR", points), now=self.now)

    def _publish(self, day: date) -> None:
        """One delivery day, or, where it is missing, a new forecast."""
        from scheduling.services.prices import document_store, forecast_refresh

        self.published.add(day)
        if day in self.days:
            fetched = Fetched(f"recorded/{day}", "EUR", tuple(self.days[day]))
            document_store(market=self.market, source="csv", fetched=fetched, now=self.now)
        else:
            forecast_refresh(market=self.market, now=self.now)

    def _work(self) -> None:
        """What the box and the server do at this moment."""
        from scheduling.services import account_plan, accounts_due, work_over_close

        today = self.now.astimezone(PRAGUE).date()
        if self.now >= self._publication(today) and today + timedelta(days=1) not in self.published:
            self._publish(today + timedelta(days=1))
        self._box()
        work_over_close(now=self.now)
        if self.account.pk in accounts_due(now=self.now):
            account_plan(account=self.account, now=self.now)
            self._check_newest()

    def _box(self) -> None:
        """A controller that starts what is due and reports what has ended."""
        from scheduling.models import Occurrence, ScheduleVersion
        from scheduling.services.occurrences import occurrence_start

        newest = ScheduleVersion.objects.filter(account=self.account).first()
        for placement in newest.placements.filter(feasible=True) if newest else ():
            one = placement.occurrence
            assert placement.start is not None
            duration = timedelta(hours=JOBS[placement.workflow.name][0])
            if placement.start <= self.now and one.status == Occurrence.Status.OPEN:
                occurrence_start(placement=placement, at=self.now, now=self.now)
            if placement.start + duration <= self.now:
                self._report(placement, placement.start, placement.start + duration)

    def _report(self, placement: "Placement", start: datetime, end: datetime) -> None:
        from scheduling.services import runs_ingest

        body = {
            "controller_id": "box",
            "run_id": str(placement.occurrence_id),
            "workflow_id": str(placement.workflow_id),
            "scheduled_start": start.isoformat(),
            "actual_start": start.isoformat(),
            "ts": end.isoformat(),
            "exit_status": "success",
            "duration_s": (end - start).total_seconds(),
            "energy_wh": WATTS * (end - start).total_seconds() / HOUR_S,
            "energy_source": "counter",
        }
        runs_ingest(account=self.account, body=body, now=self.now)
        self.report.runs += 1
        self.report.late += end > placement.deadline
        self.report.overlaps += any(a < end and start < b for a, b in self.report.spans[-6:])
        self.report.spans.append((start, end))
        self._count(placement, start)

    def _count(self, placement: "Placement", start: datetime) -> None:
        """Money of this run, of the best start with all prices known, and of starting at once."""
        one = placement.occurrence
        if gaps(self.everything, one.earliest_start, one.deadline):
            return
        profile = ((JOBS[placement.workflow.name][0] * HOUR_S, WATTS),)
        kwh = profile[0][0] * WATTS / 3.6e6
        self.report.priced += 1
        self.report.cost += kwh * float(price_of(self.everything, steps_at(start, profile)) or 0)
        self.report.baseline += kwh * float(price_of(self.everything, steps_at(one.earliest_start, profile)) or 0)
        self.report.alone += self._best(one.earliest_start, one.deadline, profile[0][0])

    def _best(self, begin: datetime, deadline: datetime, duration_s: float) -> float:
        """The least this job can cost at any start, as if it had the machine to itself."""
        known = [p for p in self.everything if p.end > begin and p.start < deadline]
        prices = [PricePoint(p.start, p.end, float(p.price_per_kwh)) for p in known]
        return plan(prices, [Job("j", duration_s, WATTS, begin, deadline)], now=begin).cost

    def _check_newest(self) -> None:
        """Check the certificate of a version that is new."""
        from scheduling.models import ScheduleVersion
        from scheduling.selectors.schedule import certificate_of

        newest = ScheduleVersion.objects.filter(account=self.account).first()
        if newest is None or newest.number <= self.checked or newest.based_on_id:
            return
        self.checked = newest.number
        certificate = json.loads(json.dumps(certificate_of(self.account, newest.number)))
        self.report.plans += 1
        self.report.gap = max(self.report.gap, float(newest.cost - newest.lower_bound))
        self.report.unsound_certificates += not _holds(certificate, newest)

    def _settle(self) -> None:
        from scheduling.models import Occurrence, SavingsEntry
        from scheduling.services import savings_settle_due

        while savings_settle_due(now=self.now + timedelta(days=30)):
            pass
        self.report.ledger_cost = float(sum(e.cost for e in SavingsEntry.objects.all() if e.cost is not None))
        over = Occurrence.objects.filter(account=self.account, deadline__lte=self.now)
        self.report.missed = over.exclude(status=Occurrence.Status.DONE).count()


def _holds(certificate: dict[str, Any], version: "ScheduleVersion") -> bool:
    """The reference checker finds the same bound, and no more than the plan costs."""
    bound = reference_check()(certificate)
    same = abs(bound - certificate["lower_bound"]) <= 1e-6 * max(1.0, abs(bound))
    return same and bound <= certificate["cost"] + 1e-9 and version.lower_bound <= version.cost + Decimal("1e-9")


def first_days(many: int, *, skip: int = 0) -> Days:
    """Return some days of the record; where a day is missing it stays missing."""
    days = recorded_days()
    first = min(days) + timedelta(days=skip)
    return {day: points for day, points in days.items() if first <= day < first + timedelta(days=many)}


def replayed(days: Days, account: "User", *, foresight: bool = False) -> Report:
    """Replay some days for an account, on a market that has no prices yet."""
    from scheduling.models import PriceDocument

    PriceDocument.objects.all().delete()
    return Replay(days, account, foresight=foresight).run()


def main(many: int = 400) -> None:
    days = first_days(many)
    with fresh_site():
        from accounts.models import User

        users = [User.objects.create_user(f"{name}@example.org", timezone=str(PRAGUE)) for name in ("ours", "best")]
        ours, best = replayed(days, users[0]), replayed(days, users[1], foresight=True)
    print(f"{ours.days} days, {ours.plans} plans, {ours.runs} runs in {ours.seconds:.0f} s")
    print(f"deadlines missed {ours.missed}, runs late {ours.late}, overlaps {ours.overlaps}")
    print(f"certificates refused {ours.unsound_certificates}, widest gap {ours.gap * 100:.4f} ct")
    print(f"money of {ours.priced} runs whose window is in the record, in EUR:")
    print(f"  ours {ours.cost:.3f}, perfect foresight {best.cost:.3f}, each alone at its best {ours.alone:.3f}")
    print(f"  begun at once {ours.baseline:.3f}; the ledger of all runs says {ours.ledger_cost:.3f}")
    print(f"distance to foresight {ours.distance(best):.2%} of the baseline cost; {ours.captured(best):.1%} captured")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
