"""The Async Energy server as the controller sees it. The one place where HTTP becomes our own results and errors."""

from asyncenergy_controller.server.client import RecommendedCap, ServerClient
from asyncenergy_controller.server.errors import (
    NotLoggedIn,
    RequestRefused,
    ServerError,
    ServerFailed,
    ServerUnreachable,
)
from asyncenergy_controller.server.login import Login, LoginFile
from asyncenergy_controller.server.schedule import (
    Piece,
    Placement,
    Schedule,
    ScheduleUnreadable,
    Unplaced,
    decode_schedule,
)

__all__ = [
    "Login",
    "LoginFile",
    "NotLoggedIn",
    "Piece",
    "Placement",
    "RecommendedCap",
    "RequestRefused",
    "Schedule",
    "ScheduleUnreadable",
    "ServerClient",
    "ServerError",
    "ServerFailed",
    "ServerUnreachable",
    "Unplaced",
    "decode_schedule",
]
