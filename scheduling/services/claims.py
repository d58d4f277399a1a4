"""Which account is due to be planned, and who plans it now."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Least

from accounts.models import User
from asyncenergy import clock
from scheduling.models import Market, PlanClaim, SchedulingAccount, Workflow

LEASE = timedelta(minutes=3)
BACK_OFF = timedelta(seconds=30)
LONGEST_BACK_OFF = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to plan an account until the lease ends. `marks`: what had happened when it was taken."""

    account_id: int
    token: UUID
    marks: int
    cause: str


def account_lock(*, account: User) -> PlanClaim:
    """Lock what belongs to the account's schedule until the caller's transaction ends.

    Whoever changes occurrences or versions takes this lock before any other, so that no two wait for each other.
    """
    PlanClaim.objects.get_or_create(account=account)
    return PlanClaim.objects.select_for_update(no_key=True).get(account=account)


def account_mark_due(*, account: User, cause: str, at: datetime | None = None, now: datetime | None = None) -> None:
    """Say that the account has something to plan, at once or from `at` on."""
    PlanClaim.objects.get_or_create(account=account)
    _mark(PlanClaim.objects.filter(account=account), cause, at or now or clock.now())


def accounts_mark_due(*, market: Market, cause: str, now: datetime | None = None) -> int:
    """Say the same of all accounts with work on a market."""
    chosen = SchedulingAccount.objects.filter(market=market).values("user")
    others = SchedulingAccount.objects.filter(market__isnull=False).values("user")
    on_market = Q(account__in=chosen) | (~Q(account__in=others) if market.is_default else Q(pk__in=[]))
    busy = Workflow.objects.filter(enabled=True, deleted_at=None).values("account")
    return _mark(PlanClaim.objects.filter(on_market, account__in=busy), cause, now or clock.now())


def _mark(claims: QuerySet[PlanClaim], cause: str, at: datetime) -> int:
    sooner = Case(When(due_at__isnull=True, then=Value(at)), default=Least(F("due_at"), Value(at)))
    return claims.update(due_at=sooner, cause=cause, marks=F("marks") + 1, sent_at=None)


def claim_take(*, account_id: int, now: datetime | None = None, even_if_not_due: bool = False) -> Claim | None:
    """Claim the account; None where it is not due or somebody else has it. One UPDATE decides."""
    now = now or clock.now()
    token = uuid4()
    free = Q(claimed_until__isnull=True) | Q(claimed_until__lt=now)
    due = Q() if even_if_not_due else Q(due_at__lte=now)
    if not PlanClaim.objects.filter(free & due, account=account_id).update(token=token, claimed_until=now + LEASE):
        return None
    row = PlanClaim.objects.get(account=account_id)
    return Claim(account_id, token, row.marks, row.cause)


def claim_release(*, claim: Claim, next_due: datetime | None) -> bool:
    """Give the account back, due again at `next_due`, or as soon as what has happened meanwhile asks for it."""
    mine = PlanClaim.objects.filter(account=claim.account_id, token=claim.token)
    due_at = Case(When(marks=claim.marks, then=Value(next_due)), default=F("due_at"))
    return bool(mine.update(token=None, claimed_until=None, due_at=due_at, failures=0))


def claim_fail(*, claim: Claim, now: datetime | None = None) -> None:
    """Give the account back after a failure, due again after a pause that grows with each."""
    now = now or clock.now()
    mine = PlanClaim.objects.filter(account=claim.account_id, token=claim.token)
    failures = mine.values_list("failures", flat=True).first() or 0
    pause = min(BACK_OFF * 2**failures, LONGEST_BACK_OFF)
    mine.update(token=None, claimed_until=None, due_at=now + pause, failures=failures + 1)
