"""Accounts, their passwords and their e-mail addresses."""

import logging
from collections.abc import Callable
from smtplib import SMTPException

from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.tokens import default_token_generator
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.db import IntegrityError, transaction
from django.template.loader import render_to_string
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from accounts.errors import EmailTaken, FieldRefused, LinkInvalid
from accounts.models import User
from accounts.selectors import account_of_reset_link, is_timezone
from accounts.services.logins import sign_out_everywhere
from asyncenergy import clock

CONFIRMATION_SALT = "accounts.confirmation"
CONFIRMATION_AGE_S = 30 * 24 * 3600
logger = logging.getLogger(__name__)


def account_create(*, email: str, password: str, timezone: str = "UTC", region: str = "") -> User:
    """Return the new account; raises EmailTaken or FieldRefused."""
    email = email.strip().lower()
    if not is_timezone(timezone):
        raise FieldRefused(
            "timezone", "timezone_unknown", f"{timezone!r} is no timezone. Write one such as Europe/Stockholm."
        )
    if User.objects.filter(email=email).exists():
        raise EmailTaken(email)
    _check_password(password, User(email=email), "password")
    try:
        with transaction.atomic():
            return User.objects.create_user(email, password, timezone=timezone, region=region)
    except IntegrityError:
        raise EmailTaken(email) from None


def _check_password(password: str, user: User, attr: str) -> None:
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise FieldRefused(attr, "password_weak", *error.messages) from None


def password_require(*, user: User, current: str) -> None:
    """Raises FieldRefused where this is not the account's password."""
    if not user.check_password(current):
        raise FieldRefused("current_password", "password_wrong", "The current password is not right.")


@transaction.atomic
def password_change(*, user: User, current: str, new: str) -> None:
    """Set a new password and end all logins and browser sessions."""
    password_require(user=user, current=current)
    _set_password(user, new, "new_password")


@transaction.atomic
def password_reset(*, uid: str, token: str, new: str) -> User:
    """Set a new password by the link that was sent, and end all logins. The address is thereby confirmed."""
    user = account_of_reset_link(uid, token)
    if user is None:
        raise LinkInvalid
    _set_password(user, new, "new_password")
    _confirm(user)
    return user


def _set_password(user: User, new: str, attr: str) -> None:
    _check_password(new, user, attr)
    user.set_password(new)
    user.save(update_fields=["password"])
    sign_out_everywhere(user=user)


def password_reset_send(*, email: str, link: Callable[[str, str], str]) -> None:
    """Send the link for a new password. An unknown address gets nothing, and the caller can't tell."""
    user = User.objects.filter(email=email.strip().lower(), is_active=True).first()
    if user is None:
        return
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    _send(user, "password_reset", "A new password", link(uid, default_token_generator.make_token(user)))


def confirmation_send(*, user: User, link: Callable[[str], str]) -> None:
    """Send the link that confirms the address. An unconfirmed account may do all the same."""
    if user.email_confirmed_at is None:
        token = signing.dumps({"account": user.pk, "email": user.email}, salt=CONFIRMATION_SALT)
        _send(user, "confirmation", "Confirm your e-mail address", link(token))


def email_confirm(*, token: str) -> User:
    try:
        claim = signing.loads(token, salt=CONFIRMATION_SALT, max_age=CONFIRMATION_AGE_S)
    except signing.BadSignature:
        raise LinkInvalid from None
    user = User.objects.filter(pk=claim["account"], email=claim["email"]).first()
    if user is None:
        raise LinkInvalid
    _confirm(user)
    return user


def _confirm(user: User) -> None:
    if user.email_confirmed_at is None:
        user.email_confirmed_at = clock.now()
        user.save(update_fields=["email_confirmed_at"])


def _send(user: User, template: str, subject: str, link: str) -> None:
    body = render_to_string(f"accounts/mail/{template}.txt", {"user": user, "link": link})
    try:
        send_mail(subject, body, None, [user.email])
    except (SMTPException, OSError):  # the account stands without the letter, and the letter can be asked for again
        logger.exception("The letter %s to account %s was not sent", template, user.pk)
