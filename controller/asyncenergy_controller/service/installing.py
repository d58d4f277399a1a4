"""Write the unit, start it, and see to it that it outlives a logout."""

import getpass
import os
import sys
from pathlib import Path

import platformdirs

from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.files import write_atomically
from asyncenergy_controller.service.systemd import SystemdRefused, enable_linger, lingers, require_systemd, systemctl
from asyncenergy_controller.service.units import ENVIRONMENT_FILE, NAME, Scope, Unit, unit_path
from asyncenergy_controller.settings import APP_NAME, ENV_PREFIX, Origin, Settings

FOLDERS = ("config_dir", "data_dir", "state_dir")


def planned_unit(scope: Scope, settings: Settings, origins: dict[str, Origin], run_as: str | None) -> Unit:
    """Return the unit for this interpreter, PATH and folders. Raises UsageError for an unknown user."""
    user = run_as or service_user(scope)
    chosen = [name for name in FOLDERS if scope == "user" or origins[name].kind != "default"]
    folders = {f"{ENV_PREFIX}{name.upper()}": str(getattr(settings, name).absolute()) for name in chosen}
    config = settings.config_dir.absolute() if "config_dir" in chosen else _config_dir_of(user)
    return Unit(
        scope=scope,
        user=user,
        program=(sys.executable, "-m", "asyncenergy_controller"),
        environment={"PATH": os.environ.get("PATH", os.defpath), **folders},
        environment_file=config / ENVIRONMENT_FILE,
    )


def service_user(scope: Scope) -> str:
    """Return whose service it is: under sudo, the one who called it."""
    return (os.environ.get("SUDO_USER") if scope == "system" else None) or getpass.getuser()


def install(unit: Unit) -> list[str]:
    """Write, enable and start it; return what was done, in words. Raises UsageError and all of systemd's errors."""
    require_systemd(unit.scope)
    if unit.scope == "system" and os.geteuid() != 0:
        program = " ".join(unit.program)
        raise UsageError(f"Only root may install for the machine: `sudo {program} service install --system`.")
    write_atomically(unit.path, unit.text().encode())
    systemctl(unit.scope, "daemon-reload")
    systemctl(unit.scope, "enable", NAME)
    systemctl(unit.scope, "restart", NAME)
    done = [f"{unit.path} is written, enabled and started."]
    return [*done, *_linger(unit.user)] if unit.scope == "user" else done


def uninstall(scope: Scope) -> list[str]:
    """Stop, disable and remove it; what has been measured and recorded stays."""
    require_systemd(scope)
    path = unit_path(scope)
    if not path.exists():
        return [f"There is no {path}."]
    systemctl(scope, "disable", "--now", NAME)
    path.unlink()
    systemctl(scope, "daemon-reload")
    return [f"{path} is stopped and removed; settings, records and logs stay."]


def only_in_this_shell(origins: dict[str, Origin]) -> list[str]:
    """Return the variables that decide settings here and that the service will not see."""
    others = [origin for setting, origin in origins.items() if setting not in FOLDERS]
    return [str(origin.name) for origin in others if origin.kind == "environment"]


def _linger(user: str) -> list[str]:
    if lingers(user):
        return []
    try:
        enable_linger(user)
    except SystemdRefused as refused:
        return [f"Lingering was refused ({refused.message}): `sudo loginctl enable-linger {user}`."]
    return [f"{user}'s services now run without a login (lingering)."]


def _config_dir_of(user: str) -> Path:
    if user == getpass.getuser():
        return platformdirs.user_config_path(APP_NAME)
    try:
        return Path(f"~{user}").expanduser() / ".config" / APP_NAME
    except RuntimeError:
        raise UsageError(f"There is no user {user!r} on this machine (--run-as).") from None
