"""What can go wrong with a submission or a decision; each class is one thing a caller can do differently."""

from collections.abc import Iterable

from asyncenergy_controller.wire import WireError

from asyncenergy.errors import AsyncEnergyError


class BundleRefused(AsyncEnergyError):
    """The bundle can't be taken, and nothing of it was stored. The sender has to change it."""

    @classmethod
    def of(cls, error: WireError) -> "BundleRefused":
        return cls(error.detail, code=error.code, errors=[dict(place) for place in error.errors])


class BundleTooLarge(AsyncEnergyError):
    status_code = 413

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"The bundle has {size / 2**20:.1f} MiB, and {limit // 2**20} MiB are taken; send fewer runs at once.",
            code="body_too_large",
        )


class NotAllowed(AsyncEnergyError):
    """The person may not decide this."""

    status_code = 403


class Banned(AsyncEnergyError):
    """The account may not submit; the note says why."""

    status_code = 403

    def __init__(self, note: str) -> None:
        super().__init__(f"This account's bundles are not taken any more. {note}".strip(), code="banned")


class AlreadyDecided(AsyncEnergyError):
    """The run is not in a state from which this decision leads anywhere."""

    status_code = 409


class ReasonMissing(AsyncEnergyError):
    def __init__(self, action: str) -> None:
        place = {"attr": "note", "code": "required", "detail": "A reason is needed; it stands in the public log."}
        super().__init__(
            f"To {action} a run, say why: the note stands in the public log.", code="reason_missing", errors=[place]
        )


class ReasonUnknown(AsyncEnergyError):
    def __init__(self, reason_code: str, known: Iterable[str]) -> None:
        detail = f"{reason_code!r:.60} is no reason. Reasons are: {', '.join(known)}."
        super().__init__(
            detail, code="reason_unknown", errors=[{"attr": "reason_code", "code": "unknown", "detail": detail}]
        )


class NotFound(AsyncEnergyError):
    status_code = 404

    def __init__(self, what: str) -> None:
        super().__init__(f"There is no such {what}.", code="not_found")


class BoardBusy(AsyncEnergyError):
    """Other rebuilds came first again and again; the marks stay, and the next round finds them."""

    status_code = 503

    def __init__(self) -> None:
        super().__init__("The board is being rebuilt by others; try again in a moment.", code="board_busy")


class AnotherAccount(AsyncEnergyError):
    """The reference account's address is taken by somebody."""


class OnlyInDemo(AsyncEnergyError):
    status_code = 403

    def __init__(self) -> None:
        super().__init__("Only a demonstration publishes without a maintainer; set DEMO=1.", code="only_in_demo")
