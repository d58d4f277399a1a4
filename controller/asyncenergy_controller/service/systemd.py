"""The one place that asks systemd: `systemctl` and `loginctl`, with time limits and sentences for what goes wrong."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.service.units import NAME, Scope

TIME_LIMIT_S = 90.0
"""Longer than the unit may take to stop."""
RUNTIME_FOLDER = Path("/run/user")
CRON = "*/5 * * * * {program} -m asyncenergy_controller run --once"
PROPERTIES = (
    "LoadState,UnitFileState,ActiveState,SubState,Result,ExecMainStatus,NRestarts,ActiveEnterTimestamp,NeedDaemonReload"
)


class NoSystemd(ControllerError):
    """This machine isn't run by systemd."""


class NoUserManager(ControllerError):
    """The user's own systemd can't be reached from here."""


class SystemdRefused(ControllerError):
    """systemd did not do what was asked; the message holds its own words."""


def require_systemd(scope: Scope) -> None:
    """Raise NoSystemd or NoUserManager, with the ways out, where nobody would run the unit."""
    if sys.platform != "linux" or _asked("systemctl", "is-system-running").stdout.strip() == "offline":
        raise _no_systemd("This machine was not started by systemd")
    systemctl(scope, "show", "--property=Version")


def properties(scope: Scope) -> dict[str, str]:
    """Return what systemd knows of our unit. Raises NoSystemd, NoUserManager, SystemdRefused."""
    lines = systemctl(scope, "show", NAME, f"--property={PROPERTIES}").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def systemctl(scope: Scope, *arguments: str) -> str:
    """Return what it printed. Raises NoSystemd, NoUserManager, SystemdRefused."""
    own = ("--user",) if scope == "user" else ()
    answer = _asked("systemctl", *own, "--no-pager", *arguments)
    if answer.returncode == 0:
        return answer.stdout
    said = answer.stderr.strip() or answer.stdout.strip()
    if scope == "user" and "bus" in said:
        raise _no_user_manager(said)
    raise SystemdRefused(f"`systemctl {' '.join((*own, *arguments))}` ended with {answer.returncode}: {said}")


def lingers(user: str) -> bool | None:
    """Say whether the user's services live without a login; None where systemd does not say."""
    answer = _asked("loginctl", "show-user", user, "--property=Linger", "--value")
    if answer.returncode == 0:
        return answer.stdout.strip() == "yes"
    # A user who is not logged in and does not linger is unknown to it.
    return False if "not logged in" in answer.stderr else None


def enable_linger(user: str) -> None:
    """Raises SystemdRefused where this user may not."""
    answer = _asked("loginctl", "enable-linger", user)
    if answer.returncode:
        raise SystemdRefused(answer.stderr.strip() or f"loginctl ended with {answer.returncode}")


def _asked(*command: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, env=_environment(), capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False
        )
    except FileNotFoundError as error:
        raise _no_systemd(f"There is no `{command[0]}` on this machine") from error
    except subprocess.TimeoutExpired as error:
        raise SystemdRefused(f"`{' '.join(command)}` gave no answer within {TIME_LIMIT_S:g} s.") from error


def _environment() -> Mapping[str, str]:
    """Shells opened by su or sudo lack the address of the user's systemd; it is there if the user is logged in."""
    folder = RUNTIME_FOLDER / str(os.getuid())
    if "XDG_RUNTIME_DIR" in os.environ or not folder.is_dir():
        return {**os.environ, "LC_ALL": "C"}
    return {**os.environ, "LC_ALL": "C", "XDG_RUNTIME_DIR": str(folder)}


def _no_systemd(what: str) -> NoSystemd:
    cron = CRON.format(program=sys.executable)
    return NoSystemd(
        f"{what}, so there is no service to install. Either keep `async-energy-controller run` open, or let cron look "
        f"every five minutes (`crontab -e`):\n  {cron}"
    )


def _no_user_manager(said: str) -> NoUserManager:
    missing = "" if "XDG_RUNTIME_DIR" in os.environ else " XDG_RUNTIME_DIR is not set: this shell is no own login."
    return NoUserManager(
        f"Your own systemd can't be reached: {said}.{missing} Log in as this user itself (console, ssh, or "
        "`machinectl shell USER@`) instead of by su or sudo; or install for the machine: "
        f"`sudo {sys.executable} -m asyncenergy_controller service install --system`."
    )
