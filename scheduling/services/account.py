"""What an account chooses for its scheduling, and the controllers that it hears from."""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models import Q

from accounts.models import User
from accounts.selectors import is_timezone
from asyncenergy import clock
from scheduling.errors import FieldRefused, NotFound, PricesRefused
from scheduling.models import Controller, Market, Occurrence, SchedulingAccount, Tariff, Workflow
from scheduling.notices.webhook import target_of
from scheduling.prices.periods import periods_from
from scheduling.selectors.prices import market_of
from scheduling.services.claims import account_lock, account_mark_due
from scheduling.services.notices import notices_collect
from scheduling.services.occurrences import occurrences_sync
from scheduling.services.versions import version_amend

CONTACT_EVERY = timedelta(minutes=1)
FEES = ("supplier_fee", "levies", "grid_fee", "vat", "grid_periods")
logger = logging.getLogger(__name__)


@transaction.atomic
def account_update(*, account: User, now: datetime | None = None, **changes: Any) -> SchedulingAccount:
    """Change what is given.

    These are timezone, market (by slug), currency, tariff, watt_limit, notices, webhook_url, paused.
    """
    now = now or clock.now()
    account_lock(account=account)
    choices, _ = SchedulingAccount.objects.get_or_create(user=account)
    if "market" in changes:
        choices.market = _market(changes["market"])
    if "watt_limit" in changes:
        choices.watt_limit = changes["watt_limit"]
    if "notices" in changes:
        _set_notices(choices, changes["notices"], now)
    if "webhook_url" in changes:
        choices.webhook_url = _webhook(changes["webhook_url"])
    choices.save()
    if "currency" in changes:
        _check_currency(choices, changes["currency"])
    if "tariff" in changes:
        _set_tariff(account, changes["tariff"])
    if "timezone" in changes:
        _set_timezone(account, changes["timezone"], now)
    if "paused" in changes:
        _set_paused(choices, account, changes["paused"], now)
    account_mark_due(account=account, cause="account", now=now)
    return choices


def _set_notices(choices: SchedulingAccount, wanted: dict[str, bool], now: datetime) -> None:
    """What happened before a kind is switched on is not told; what the other kinds have to tell is kept first."""
    before = choices.notices
    choices.notices = {**before, **wanted}
    if any(on and not before.get(kind) for kind, on in wanted.items()):
        notices_collect(now=now)
        choices.notices_since = now


def _webhook(url: str) -> str:
    if url:
        target_of(url)
    return url


def _market(slug: str | None) -> Market | None:
    found = Market.objects.filter(slug=slug).first() if slug else None
    if slug and found is None:
        known = ", ".join(Market.objects.order_by("slug").values_list("slug", flat=True))
        raise FieldRefused("market", "market_unknown", f"{slug!r:.60} is no market. Markets are: {known}.")
    return found


def _check_currency(choices: SchedulingAccount, currency: str) -> None:
    """The currency is the market's; saying another is a mistake that would show only in the money."""
    market = market_of(choices)
    if currency != market.currency:
        words = f"{market} is in {market.currency}, not {currency!r:.10}. Choose a market that is."
        raise FieldRefused("currency", "not_the_markets", words)


def _set_tariff(account: User, fees: dict[str, Any]) -> None:
    if "grid_periods" in fees:
        try:
            periods_from(fees["grid_periods"], whole_week=False)
        except PricesRefused as error:
            raise FieldRefused("tariff.grid_periods", "unreadable", error.detail) from None
    tariff, _ = Tariff.objects.get_or_create(user=account)
    for name in FEES:
        if name in fees:
            setattr(tariff, name, fees[name])
    tariff.save()


def _set_timezone(account: User, name: str, now: datetime) -> None:
    """What recurs keeps its wall time in the new zone; what is done once keeps the instant that was meant."""
    if not is_timezone(name):
        words = f"{name!r:.60} is no timezone. Write one such as Europe/Stockholm."
        raise FieldRefused("timezone", "timezone_unknown", words)
    account.timezone = name
    account.save(update_fields=["timezone"])
    recurring = Workflow.objects.filter(account=account, deleted_at=None).exclude(recurrence="none")
    for workflow in recurring.select_related("account"):
        occurrences_sync(workflow=workflow, now=now, edited=True)


def _set_paused(choices: SchedulingAccount, account: User, paused: bool, now: datetime) -> None:
    if paused == (choices.paused_at is not None):
        return
    choices.paused_at = now if paused else None
    choices.save(update_fields=["paused_at"])
    if paused:
        resting = Occurrence.objects.filter(account=account, status=Occurrence.Status.OPEN)
        waiting = set(resting.exclude(planned_start__lte=now).values_list("pk", flat=True))
        resting.filter(pk__in=waiting).update(planned_start=None, planned_end=None)
        version_amend(
            account=account,
            cause="paused",
            amended=lambda placement: None if placement.occurrence_id in waiting else placement,
            now=now,
        )


def controller_contact(*, account: User, controller_id: str, version: int | None, now: datetime | None = None) -> None:
    """Note that a box polled, at most once a minute. A busy database never costs the box its answer."""
    now = now or clock.now()
    known = Controller.objects.filter(account=account, controller_id=controller_id)
    try:
        row = known.first()
        if row is None:
            Controller.objects.get_or_create(
                account=account,
                controller_id=controller_id,
                defaults={"first_contact_at": now, "last_contact_at": now, "last_version": version},
            )
        elif row.last_contact_at <= now - CONTACT_EVERY or (version is not None and row.last_version != version):
            stale = Q(last_contact_at__lte=now - CONTACT_EVERY) | ~Q(last_version=version)
            known.filter(stale).update(last_contact_at=now, last_version=version or row.last_version)
    except DatabaseError:
        logger.warning("The contact of controller %s was not noted: the database is busy", controller_id)


@transaction.atomic
def controller_update(*, account: User, controller_id: str, capacity: int, now: datetime | None = None) -> Controller:
    """Say how many jobs a box runs at once."""
    row = Controller.objects.filter(account=account, controller_id=controller_id).first()
    if row is None:
        raise NotFound("controller")
    row.capacity = capacity
    row.save(update_fields=["capacity"])
    account_mark_due(account=account, cause="controller", now=now)
    return row
