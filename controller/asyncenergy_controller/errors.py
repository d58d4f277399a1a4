"""Errors with a way out, and the exit codes they end a command with."""

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """Exit codes of `async-energy-controller`."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NO_METER = 3
    SERVER = 4
    NO_ENGINE = 5
    INTERRUPTED = 130


class ControllerError(Exception):
    """What the caller may show to a person: what happened, the value, and the way out."""

    exit_code: ClassVar[ExitCode] = ExitCode.FAILED

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class UsageError(ControllerError):
    """A value that the caller gave cannot be used."""

    exit_code = ExitCode.USAGE


class MeterUnavailable(ControllerError):
    """This kind of meter does not exist here, or may not be read."""

    exit_code = ExitCode.NO_METER


class DeviceNotFound(UsageError):
    """The device asked for is not one of this machine's, or the choice is ambiguous."""


class MeterError(ControllerError):
    """A meter that worked before gave no reading."""
