"""What can go wrong with prices, workflows, plans and runs; each class is one thing a caller can do differently."""

from collections.abc import Sequence
from typing import Any

from asyncenergy.errors import AsyncEnergyError


class PriceFeedError(AsyncEnergyError):
    """A source of prices gave nothing usable. `permanent`: asking again will not help until somebody changes it."""

    def __init__(self, detail: str, *, permanent: bool = False) -> None:
        super().__init__(detail, code="price_feed")
        self.permanent = permanent


class NotYetPublished(PriceFeedError):
    """The source answers, and has no prices for this time yet."""


class PricesRefused(AsyncEnergyError):
    """Prices that can't be right; they are set aside with the reason and used by nobody."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail, code="prices_refused")


class FieldRefused(AsyncEnergyError):
    """One field holds a value that can't be taken."""

    def __init__(self, attr: str, code: str, detail: str) -> None:
        errors: Sequence[dict[str, Any]] = [{"attr": attr, "code": code, "detail": detail}]
        super().__init__(f"{attr}: {detail}" if attr else detail, code=code, errors=errors)


class NoticeFailed(AsyncEnergyError):
    """A notice did not reach its receiver; it is tried again."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail, code="notice_failed")


class NotFound(AsyncEnergyError):
    status_code = 404

    def __init__(self, what: str) -> None:
        super().__init__(f"You have no such {what}.", code="not_found")


class Conflict(AsyncEnergyError):
    """The request doesn't fit the state that things are in."""

    status_code = 409


class SolverFailed(AsyncEnergyError):
    """The solver gave no answer in time, or one that the independent check refuses; the plan is tried again."""

    status_code = 503

    def __init__(self, detail: str) -> None:
        super().__init__(detail, code="solver_failed")
