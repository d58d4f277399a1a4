"""Plans of an account: claimed, solved in a process of its own, checked, published."""

import logging
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db import DataError
from django.db.models import Q

from accounts.models import User
from asyncenergy import clock
from asyncenergy.errors import AsyncEnergyError
from scheduling.errors import FieldRefused
from scheduling.jobs import arranged
from scheduling.models import PlanClaim, ScheduleVersion, Workflow
from scheduling.optimizer import verify
from scheduling.prices.coverage import local_midnight
from scheduling.selectors.planning import PlanInput, plan_input
from scheduling.services.claims import Claim, account_mark_due, claim_fail, claim_release, claim_take
from scheduling.services.occurrences import accounts_with_work_over, occurrences_close, occurrences_sync
from scheduling.services.versions import Solution, version_publish
from scheduling.solver import Question, SolverFailure, solve

TIME_LIMIT_S = 10.0
SPREAD_MIN = 10
LOST_AFTER = timedelta(minutes=5)
UNPLANNABLE = (AsyncEnergyError, ArithmeticError, ValueError, DataError)
"""What figures that can't be read, counted with or stored raise."""
logger = logging.getLogger(__name__)


def account_plan(
    *,
    account: User,
    now: datetime | None = None,
    even_if_not_due: bool = False,
    time_limit_s: float = TIME_LIMIT_S,
    within_s: float | None = None,
) -> ScheduleVersion | None:
    """Plan an account that is due and that nobody else plans; return the version that was published, if one was.

    A solver that fails, and figures of the account that can't be planned with, leave it due after a pause, with the
    version before in force.
    """
    now = now or clock.now()
    claim = claim_take(account_id=account.pk, now=now, even_if_not_due=even_if_not_due)
    if claim is None:
        return None
    try:
        version = _plan(claim, account, now, time_limit_s, within_s)
    except SolverFailure as error:
        logger.warning("Account %s was not planned: %s", account.pk, error)
        claim_fail(claim=claim, now=now)
        return None
    except UNPLANNABLE:
        logger.exception("Account %s can't be planned with what is stored of it", account.pk)
        claim_fail(claim=claim, now=now)
        return None
    claim_release(claim=claim, next_due=next_due(account, now))
    return version


def _plan(
    claim: Claim, account: User, now: datetime, time_limit_s: float, within_s: float | None
) -> ScheduleVersion | None:
    occurrences_close(account=account, now=now)
    for workflow in Workflow.objects.filter(account=account, enabled=True, deleted_at=None).select_related("account"):
        _sync(workflow, now)
    given = plan_input(account, now)
    solution = solved(given, time_limit_s=time_limit_s, within_s=within_s)
    PlanClaim.objects.filter(account=account).update(planned_on=_local_date(account, now))
    return version_publish(claim=claim, given=given, solution=solution, now=now)


def _sync(workflow: Workflow, now: datetime) -> None:
    """Words were readable when they were said; a zone whose rules changed since may have made them unreadable."""
    try:
        occurrences_sync(workflow=workflow, now=now)
    except FieldRefused:
        logger.exception("The times of workflow %s can't be read any more", workflow.pk)


def solved(given: PlanInput, *, time_limit_s: float = TIME_LIMIT_S, within_s: float | None = None) -> Solution:
    """Ask the solver, and check its answer independently; raises SolverFailure where there is none to trust."""
    order = arranged(given.works, now=given.now, capacity=given.capacity, limited=given.watt_limit is not None)
    if not order.jobs and not order.pinned:
        return Solution(order, None)
    question = Question(
        prices=given.curve.optimizer_points(),
        jobs=order.jobs,
        now=given.now,
        capacity=given.capacity,
        watt_limit=given.watt_limit,
        pinned=order.pinned,
        time_limit_s=time_limit_s,
    )
    answer = solve(question, within_s=within_s)
    problems = verify(
        answer.plan,
        question.prices,
        question.jobs,
        now=question.now,
        capacity=question.capacity,
        watt_limit=question.watt_limit,
    )
    if problems:
        raise SolverFailure(f"the plan is unsound: {'; '.join(problems)}")
    return Solution(order, answer)


def _local_date(account: User, now: datetime) -> object:
    return now.astimezone(ZoneInfo(account.timezone)).date()


def next_due(account: User, now: datetime) -> datetime:
    """The account's next local date, a few minutes in: not all accounts in the same second."""
    zone = ZoneInfo(account.timezone)
    tomorrow = now.astimezone(zone).date() + timedelta(days=1)
    return local_midnight(zone, tomorrow) + timedelta(seconds=account.pk % (SPREAD_MIN * 60))


def accounts_due(*, now: datetime | None = None) -> list[int]:
    """Accounts that are due to be planned and that nobody plans now, the longest waiting first."""
    now = now or clock.now()
    due = PlanClaim.objects.filter(due_at__lte=now, account__is_active=True)
    free = due.exclude(claimed_until__gte=now)
    return list(free.order_by("due_at", "pk").values_list("account_id", flat=True))


def accounts_to_send(*, now: datetime | None = None) -> list[int]:
    """Due accounts whose work is not in the queue yet; after a while a message counts as lost and is sent again."""
    now = now or clock.now()
    due = accounts_due(now=now)
    unsent = Q(sent_at__isnull=True) | Q(sent_at__lt=now - LOST_AFTER)
    rows = PlanClaim.objects.filter(unsent, account__in=due)
    sent = set(rows.values_list("account_id", flat=True))
    rows.filter(account__in=sent).update(sent_at=now)
    return [account_id for account_id in due if account_id in sent]


def work_over_close(*, now: datetime | None = None) -> int:
    """End what is over, of all accounts; return how many accounts had something."""
    now = now or clock.now()
    accounts = User.objects.in_bulk(accounts_with_work_over(now))
    for account in accounts.values():
        occurrences_close(account=account, now=now)
    return len(accounts)


def account_replan_now(*, account: User, within_s: float) -> bool:
    """Plan at once, inside a request; what doesn't come out in time is left to the worker. Whether a plan was made."""
    account_mark_due(account=account, cause="failed")
    before = PlanClaim.objects.values_list("last_version", flat=True).get(account=account)
    account_plan(account=account, time_limit_s=within_s / 2, within_s=within_s)
    return PlanClaim.objects.values_list("last_version", flat=True).get(account=account) > before
