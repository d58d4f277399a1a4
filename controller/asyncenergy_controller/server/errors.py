"""What can go wrong between us and the server."""

from asyncenergy_controller.errors import ControllerError, ExitCode

PASSING_REFUSALS = (403, 408, 425, 429)  # the same may be taken once a right, or time, is given


class ServerError(ControllerError):
    """The server didn't do what was asked; the message is its own sentence where it gave one."""

    exit_code = ExitCode.SERVER


class ServerUnreachable(ServerError):
    """Nobody answered in time; asking again later may help."""


class ServerFailed(ServerError):
    """An answer of 5xx, or one that can't be read; asking again later may help."""


class NotNow(ServerFailed):
    """A status that means the server is there but can't answer just now."""


class NotLoggedIn(ServerError):
    """No key and no login, or the server accepts neither."""


class RequestRefused(ServerError):
    """An answer of 4xx: sending the same again would be refused again, unless it `is_passing`."""

    def __init__(self, detail: str, *, status: int, code: str | None) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code

    @property
    def is_passing(self) -> bool:
        """Whether the same may be taken later. Without a `code` it was not our server that refused: a wrong address."""
        return self.code is None or self.status in PASSING_REFUSALS
