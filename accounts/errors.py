"""What can go wrong with an account; each class is one thing that a caller can do differently."""

from collections.abc import Sequence
from typing import Any

from asyncenergy.errors import AsyncEnergyError


class FieldRefused(AsyncEnergyError):
    """One field holds a value that can't be taken."""

    def __init__(self, attr: str, code: str, *details: str) -> None:
        errors: Sequence[dict[str, Any]] = [{"attr": attr, "code": code, "detail": detail} for detail in details]
        super().__init__(" ".join(details), code=code, errors=errors)


class EmailTaken(FieldRefused):
    def __init__(self, email: str) -> None:
        super().__init__(
            "email", "email_taken", f"{email} already has an account. Log in, or reset the password if it is lost."
        )


class WrongCredentials(AsyncEnergyError):
    status_code = 401

    def __init__(self) -> None:
        super().__init__("No account has this e-mail address and password.", code="wrong_credentials")


class TokenInvalid(AsyncEnergyError):
    status_code = 401

    def __init__(self) -> None:
        super().__init__("The token is unreadable, expired or revoked. Log in again.", code="token_invalid")


class TokenSpent(AsyncEnergyError):
    status_code = 401

    def __init__(self) -> None:
        super().__init__(
            "This refresh token was used before, so its login has been ended for safety. Log in again.",
            code="token_spent",
        )


class LinkInvalid(AsyncEnergyError):
    def __init__(self) -> None:
        super().__init__("The link is damaged, used or too old. Ask for a new one.", code="link_invalid")


class NotFound(AsyncEnergyError):
    status_code = 404

    def __init__(self, what: str) -> None:
        super().__init__(f"You have no such {what}.", code="not_found")
