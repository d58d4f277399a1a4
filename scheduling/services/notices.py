"""Notices: written down once an event, sent by e-mail or to a webhook, tried again with growing pauses."""

import json
import logging
import time
from datetime import datetime, timedelta
from smtplib import SMTPException

from django.core.mail import send_mail
from django.core.serializers.json import DjangoJSONEncoder

from accounts.models import User
from asyncenergy import clock
from scheduling.errors import NoticeFailed
from scheduling.models import Notice, SchedulingAccount
from scheduling.notices import webhook
from scheduling.notices.events import events

BACK_OFF = timedelta(minutes=1)
LONGEST_BACK_OFF = timedelta(hours=6)
ATTEMPTS = 13
LEASE = timedelta(minutes=5)
ROUND_S = 30.0
logger = logging.getLogger(__name__)


def notices_collect(*, now: datetime | None = None) -> int:
    """Write down what happened and is not written down yet; return how much that was."""
    now = now or clock.now()
    found = {(event.account_id, event.key): event for event in events(now)}
    keys = [key for _, key in found]
    known = set(Notice.objects.filter(key__in=keys).values_list("account_id", "key"))
    new = [
        Notice(
            account_id=event.account_id,
            kind=event.kind,
            key=event.key,
            subject=event.subject[:200],
            text=event.text,
            facts=event.facts,
            happened_at=event.happened_at,
            created_at=now,
            next_attempt_at=now,
        )
        for place, event in found.items()
        if place not in known
    ]
    Notice.objects.bulk_create(new, ignore_conflicts=True)  # somebody else may collect at the same moment
    return len(new)


def notice_test(*, account: User, now: datetime | None = None) -> Notice:
    """Send a notice that nothing happened, to see whether notices arrive."""
    now = now or clock.now()
    notice, _ = Notice.objects.get_or_create(
        account=account,
        key=f"test:{now.isoformat(timespec='seconds')}",
        defaults={
            "kind": Notice.Kind.TEST,
            "subject": "A test",
            "text": "This is a test: notices reach you.",
            "happened_at": now,
            "created_at": now,
            "next_attempt_at": now,
        },
    )
    return notice


def notices_send_due(*, now: datetime | None = None) -> int:
    """Send what is due, for half a minute at most; return how many were sent.

    An account whose receiver does not answer waits for the next round with the rest.
    """
    now = now or clock.now()
    until = time.monotonic() + ROUND_S
    failing: set[int] = set()
    sent = 0
    due = Notice.objects.filter(next_attempt_at__lte=now, account__is_active=True)
    for notice in due.select_related("account", "account__scheduling").order_by("next_attempt_at", "pk"):
        if time.monotonic() >= until:
            break
        if notice.account_id in failing or not _claimed(notice, now):
            continue
        if _send(notice, now):
            sent += 1
        else:
            failing.add(notice.account_id)
    return sent


def _claimed(notice: Notice, now: datetime) -> bool:
    """One UPDATE decides who sends it; a sender that is killed leaves it due after a while."""
    mine = Notice.objects.filter(pk=notice.pk, next_attempt_at=notice.next_attempt_at)
    return bool(mine.update(next_attempt_at=now + LEASE, attempts=notice.attempts + 1))


def _send(notice: Notice, now: datetime) -> bool:
    notice.attempts += 1
    choices: SchedulingAccount | None = getattr(notice.account, "scheduling", None)
    if notice.kind != Notice.Kind.TEST and not (choices and choices.notices.get(notice.kind)):
        return _close(notice, error="not wanted any more")
    try:
        _deliver(notice, choices.webhook_url if choices else "")
    except NoticeFailed as error:
        logger.warning("Notice %s was not delivered: %s", notice.pk, error.detail)
        again = now + min(BACK_OFF * 2 ** (notice.attempts - 1), LONGEST_BACK_OFF)
        _close(notice, error=error.detail, again=again if notice.attempts < ATTEMPTS else None)
        return False
    return _close(notice, sent_at=now)


def _close(notice: Notice, *, sent_at: datetime | None = None, error: str = "", again: datetime | None = None) -> bool:
    notice.sent_at, notice.last_error, notice.next_attempt_at = sent_at, error[:300], again
    notice.save(update_fields=["sent_at", "last_error", "next_attempt_at"])
    return True


def _deliver(notice: Notice, url: str) -> None:
    if url:
        webhook.call(url, _body(notice), {"Content-Type": "application/json", "User-Agent": "async-energy (notice)"})
    else:
        _mail(notice)


def _body(notice: Notice) -> bytes:
    """`id` is the same in every attempt, so that a receiver can tell a repetition."""
    body = {
        "id": notice.pk,
        "kind": notice.kind,
        "subject": notice.subject,
        "text": notice.text,
        "happened_at": notice.happened_at,
        **notice.facts,
    }
    return json.dumps(body, cls=DjangoJSONEncoder).encode()


def _mail(notice: Notice) -> None:
    account = notice.account
    if account.email_confirmed_at is None:
        raise NoticeFailed(f"The address {account.email} is not confirmed yet.")
    try:
        send_mail(_one_line(notice.subject), f"{notice.text}\n", None, [account.email])
    except (SMTPException, OSError) as error:
        raise NoticeFailed(f"The letter to {account.email} was not taken: {error}.") from error


def _one_line(subject: str) -> str:
    """Names of workflows are anybody's text; a subject is one line."""
    return " ".join(subject.split())
