"""Schedule versions: written once, numbered by account, never changed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.db import transaction

from accounts.models import User
from asyncenergy import clock
from scheduling.jobs import Arranged, Work, begun, cap_of, latest_start, seconds_of
from scheduling.models import Occurrence, Placement, PlanClaim, ScheduleVersion
from scheduling.models.workflow import TO_PLAN
from scheduling.optimizer import Infeasible
from scheduling.optimizer import Placement as Solved
from scheduling.packing import packed
from scheduling.selectors.planning import PlanInput, horizon_of, newest_version
from scheduling.selectors.prices import PriceCurve
from scheduling.services.claims import Claim, account_lock
from scheduling.solver import Answer, Baseline

PLACES = Decimal("0.000000001")
COPIED = [f.name for f in Placement._meta.concrete_fields if f.name not in ("id", "version")]
SEEN = [
    "attempt",
    "start",
    "end",
    "pieces",
    "machine",
    "deadline",
    "latest_start",
    "feasible",
    "reason",
    "predicted_wh",
    "cap_w",
]
SUMMARY = [
    f.name
    for f in ScheduleVersion._meta.concrete_fields
    if f.name not in ("id", "number", "created_at", "cause", "based_on", "snapshot_zlib", "certificate_zlib")
]


def money(amount: float) -> Decimal:
    return Decimal(amount).quantize(PLACES)


@dataclass(frozen=True, slots=True)
class Solution:
    """What the optimizer was asked and what it answered; no answer where there was nothing to place."""

    arranged: Arranged
    answer: Answer | None

    @property
    def placed(self) -> dict[str, Solved]:
        return {one.id: one for one in self.answer.plan.placements} if self.answer else {}

    @property
    def infeasible(self) -> dict[str, Infeasible]:
        return {one.id: one for one in self.answer.plan.infeasible} if self.answer else {}

    @property
    def baselines(self) -> Mapping[str, Baseline]:
        return self.answer.baselines if self.answer else {}


@transaction.atomic
def version_publish(*, claim: Claim, given: PlanInput, solution: Solution, now: datetime) -> ScheduleVersion | None:
    """Publish a plan; None where the claim has run out, or where the plan is the one that is published already.

    What has ended since the plan was begun is left out, and what has started since stays where it started.
    """
    row = account_lock(account=given.account)
    if row.token != claim.token:
        return None
    newest = newest_version(given.account)
    placements = _as_things_are([*_placed(given, solution), *_refused(given)], newest, now)
    version = _version(given, solution, placements, cause=claim.cause or "due", now=now)
    if _is_same(newest, version, placements) if newest else not placements:
        return None
    _number_and_save(row, version, placements)
    _note_plans(placements, _baselines(given, solution), now)
    return version


def _number_and_save(row: PlanClaim, version: ScheduleVersion, placements: Sequence[Placement]) -> None:
    """Give the version the next number; the account's claim row is locked by the caller."""
    row.last_version += 1
    row.save(update_fields=["last_version"])
    version.number = row.last_version
    version.save(force_insert=True)
    for placement in placements:
        placement.version = version
    Placement.objects.bulk_create(placements)


def _version(
    given: PlanInput, solution: Solution, placements: Sequence[Placement], *, cause: str, now: datetime
) -> ScheduleVersion:
    plan = solution.answer.plan if solution.answer else None
    coverage = given.curve.known_share(given.now, given.until)
    certificate = {**plan.certificate, "currency": given.curve.market.currency} if plan else {}
    return ScheduleVersion(
        account=given.account,
        created_at=now,
        cause=cause,
        market=given.curve.market,
        currency=given.curve.market.currency,
        valid_until=_valid_until(given),
        degraded=coverage < 1.0,
        price_coverage=coverage,
        cost=money(plan.cost if plan else 0.0),
        lower_bound=money(plan.lower_bound if plan else 0.0),
        solver_bound=money(plan.solver_bound if plan else 0.0),
        baseline_cost=sum((p.earliest_cost or Decimal(0) for p in placements), Decimal(0)),
        proved=plan.proved if plan else True,
        time_limited=plan.time_limited if plan else False,
        snapshot_zlib=packed(snapshot(given.curve, given.until)),
        certificate_zlib=packed(certificate),
    )


def _valid_until(given: PlanInput) -> datetime:
    """The end of known prices; where prices are never known before, the end of what is planned."""
    if given.curve.market.is_fixed:
        return horizon_of(given.account, given.now)
    until = max(given.curve.known_until, given.now)
    if given.curve.market.after_the_fact:
        until = given.curve.points[-1].end if given.curve.points else given.now
    return until.replace(microsecond=0)


def snapshot(curve: PriceCurve, until: datetime) -> dict[str, Any]:
    """The prices and the formula of a plan, as far as it looks."""
    points = [p for p in curve.points if p.start < until]
    return {
        "market": curve.market.slug,
        "currency": curve.market.currency,
        "known_until": curve.known_until.isoformat(timespec="seconds"),
        "formula": curve.formula,
        "points": [
            [_text(p.start), _text(p.end), _plain(p.spot_per_kwh), _plain(p.price_per_kwh), p.is_forecast]
            for p in points
        ],
    }


def _text(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat(timespec="seconds")


def _plain(amount: Decimal) -> str:
    return f"{amount.quantize(PLACES).normalize():f}"


def _placed(given: PlanInput, solution: Solution) -> Iterable[Placement]:
    placed, infeasible = solution.placed, solution.infeasible
    for work in given.works:
        if work.id in infeasible:
            yield _infeasible(given, work, infeasible[work.id])
        elif begun(work, given.now) and any(one.id == work.id for one in solution.arranged.pinned):
            yield _unmoved(given, work, placed[work.id])
        elif work.id in placed:
            yield _feasible(given, work, placed[work.id], solution)


def _unmoved(given: PlanInput, work: Work, solved: Solved) -> Placement:
    """What has begun keeps everything that was said of it; only its money is counted anew."""
    same = _copy(given.placements[given.occurrences[work.id].pk])
    same.cost = money(solved.cost)
    return same


def _feasible(given: PlanInput, work: Work, solved: Solved, solution: Solution) -> Placement:
    before = solution.placed.get(f"{work.id}/begun")
    pieces = (*(before.pieces if before else ()), *solved.pieces)
    cap_w = cap_of(work, solved.mode)
    baseline = solution.baselines.get(work.id)
    made = _expected(given, work)
    made.feasible = True
    made.start, made.end = pieces[0].start, pieces[-1].end
    made.pieces = [[_text(piece.start), _text(piece.end)] for piece in pieces]
    made.reserved_s = seconds_of(pieces)
    made.latest_start = latest_start(work, made.reserved_s)
    made.cost = money(solved.cost + (before.cost if before else 0.0))
    if cap_w is not None:
        made.cap_w, made.profile, made.predicted_wh = cap_w, _profile(solved), solved.energy_wh
    if baseline is not None:
        made.earliest_cost = money(baseline.earliest_cost)
        made.random_cost = None if baseline.random_cost is None else money(baseline.random_cost)
    return made


def _profile(solved: Solved) -> list[list[float]]:
    power = solved.mode.power_w
    return [[solved.mode.duration_s, power]] if isinstance(power, int | float) else [list(step) for step in power]


def _infeasible(given: PlanInput, work: Work, out: Infeasible) -> Placement:
    made = _expected(given, work)
    made.feasible, made.reason, made.proof = False, out.reason, out.proof
    made.smallest_change, made.later_min, made.more_watts = out.smallest_change, out.later_min, out.more_watts
    return made


def _expected(given: PlanInput, work: Work) -> Placement:
    """What is expected of an occurrence, wherever it is placed."""
    one = given.occurrences[work.id]
    prediction = given.predictions[one.workflow_id]
    return Placement(
        occurrence=one,
        workflow=one.workflow,
        attempt=one.attempt,
        machine=work.machine,
        deadline=work.deadline,
        latest_start=latest_start(work, prediction.reserve_s),
        reserved_s=prediction.reserve_s,
        profile=[list(step) for step in prediction.profile],
        predicted_wh=prediction.energy_wh,
        prediction_method=prediction.method,
        history_runs=prediction.n_runs,
    )


def _refused(given: PlanInput) -> Iterable[Placement]:
    """What can't be predicted is listed with the reason, and not guessed."""
    for one, sentence in given.refused:
        yield Placement(
            occurrence=one,
            workflow=one.workflow,
            attempt=one.attempt,
            machine=one.workflow.controller_id or "shared",
            deadline=one.deadline,
            feasible=False,
            reason=sentence[:200],
        )


def _as_things_are(placements: Sequence[Placement], newest: ScheduleVersion | None, now: datetime) -> list[Placement]:
    """Leave out what has ended or changed since; what runs now elsewhere than planned keeps its published place."""
    states = {
        one.pk: one
        for one in Occurrence.objects.filter(pk__in=[p.occurrence_id for p in placements], status__in=TO_PLAN)
    }
    published = {p.occurrence_id: p for p in newest.placements.all()} if newest else {}
    kept: list[Placement] = []
    for placement in placements:
        one, before = states.get(placement.occurrence_id), published.get(placement.occurrence_id)
        if one is None or one.attempt != placement.attempt or (placement.end and placement.end <= now):
            continue
        runs = one.status == Occurrence.Status.RUNNING and before is not None and before.attempt == one.attempt
        kept.append(_copy(before) if runs and before and before.start != placement.start else placement)
    return kept


def _copy(placement: Placement) -> Placement:
    return Placement(**{name: getattr(placement, name) for name in COPIED})


def _is_same(newest: ScheduleVersion, version: ScheduleVersion, placements: Sequence[Placement]) -> bool:
    """Whether nothing that a controller or its owner acts on would differ."""
    before = {p.occurrence_id: p for p in newest.placements.all()}
    if any(
        getattr(newest, name) != getattr(version, name) for name in ("market_id", "valid_until", "degraded", "cost")
    ):
        return False
    return len(before) == len(placements) and all(
        p.occurrence_id in before and all(getattr(before[p.occurrence_id], name) == getattr(p, name) for name in SEEN)
        for p in placements
    )


def _baselines(given: PlanInput, solution: Solution) -> dict[str, dict[str, Any]]:
    """What is frozen of each placed occurrence: when it would have begun without a plan, and in which window."""
    works = {work.id: work for work in given.works}
    return {
        key: {
            "pieces": [[_text(piece.start), _text(piece.end)] for piece in baseline.pieces],
            "window": [_text(max(works[key].earliest_start, given.now)), _text(works[key].deadline)],
            "reserve_s": works[key].prediction.reserve_s,
            "profile": [list(step) for step in works[key].prediction.profile],
        }
        for key, baseline in solution.baselines.items()
    }


def _note_plans(placements: Sequence[Placement], baselines: Mapping[str, dict[str, Any]], now: datetime) -> None:
    """Write on each occurrence where it stands now; its baseline is frozen once its window has opened."""
    changed: list[Occurrence] = []
    for placement in placements:
        one = placement.occurrence
        one.planned_start, one.planned_end = placement.start, placement.end
        if one.baseline is None or now < one.earliest_start:
            one.baseline = baselines.get(str(one.pk), one.baseline)
        changed.append(one)
    Occurrence.objects.bulk_update(changed, ["planned_start", "planned_end", "baseline"])


Amendment = Callable[[Placement], Placement | None]


def version_amend(
    *, account: User, cause: str, amended: Amendment, now: datetime | None = None
) -> ScheduleVersion | None:
    """Publish the newest plan again without what has ended or with what began elsewhere; no planning.

    `amended` returns what each placement becomes, None for one that goes; the caller's transaction holds the rest.
    """
    now = now or clock.now()
    with transaction.atomic():
        row = account_lock(account=account)
        newest = newest_version(account)
        if newest is None:
            return None
        pairs = [(before, amended(before)) for before in newest.placements.all()]
        if all(after is before for before, after in pairs):
            return None
        version = ScheduleVersion(
            **{name: getattr(newest, name) for name in SUMMARY},
            created_at=now,
            cause=cause,
            based_on_id=newest.based_on_id or newest.pk,
            snapshot_zlib=b"",
            certificate_zlib=b"",
        )
        _number_and_save(row, version, [_copy(after) for _, after in pairs if after is not None])
        return version


def without(ended: Iterable[Any], now: datetime) -> Amendment:
    """Leave out these occurrences, and every placement that is over."""
    gone = set(ended)

    def amended(placement: Placement) -> Placement | None:
        over = placement.end is not None and placement.end <= now
        return None if over or placement.occurrence_id in gone else placement

    return amended
