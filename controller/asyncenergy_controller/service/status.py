"""Whether the service will run tonight; if not, what is wrong and the way out."""

from dataclasses import dataclass
from pathlib import Path

from asyncenergy_controller.checks import Check
from asyncenergy_controller.service.systemd import lingers, properties, require_systemd
from asyncenergy_controller.service.units import NAME, Scope, unit_path

INSTALL = "async-energy-controller service install"


@dataclass(frozen=True)
class Facts:
    """What systemd says of the unit."""

    scope: Scope
    user: str
    known: dict[str, str]
    lingers: bool | None
    program: Path | None
    """What the unit starts; None where the unit does not say."""
    other_scope: bool
    """Whether the unit lies in the other scope as well."""


def gather(scope: Scope, user: str) -> Facts:
    """Ask systemd. Raises NoSystemd, NoUserManager, SystemdRefused."""
    require_systemd(scope)
    other: Scope = "user" if scope == "system" else "system"
    return Facts(
        scope=scope,
        user=user,
        known=properties(scope),
        lingers=lingers(user) if scope == "user" else None,
        program=_program(unit_path(scope)),
        other_scope=unit_path(other).exists(),
    )


def checks(facts: Facts) -> list[Check]:
    """Judge the facts, one line each; only the first where nothing is installed."""
    flag = " --system" if facts.scope == "system" else ""
    if facts.known.get("LoadState") == "not-found":
        return [Check("installed", "fail", f"no {facts.scope} unit {NAME}", f"`{INSTALL}{flag}`")]
    found = [_installed(facts, flag), _enabled(facts), _running(facts)]
    if facts.scope == "user":
        found.append(_lingering(facts))
    if facts.other_scope:
        both = "the unit lies in the user's and in the system's folder: only one controller can run"
        found.append(Check("alone", "warn", both, f"`{INSTALL.replace('install', 'uninstall')}` one of them"))
    return found


def _installed(facts: Facts, flag: str) -> Check:
    load = facts.known.get("LoadState", "unknown")
    if load != "loaded":
        return Check("installed", "fail", f"the unit is {load}", f"`{INSTALL}{flag}` writes it anew")
    if facts.program is not None and not facts.program.exists():
        return Check("installed", "fail", f"{facts.program} is gone", f"`{INSTALL}{flag}` from where it is now")
    if facts.known.get("NeedDaemonReload") == "yes":
        return Check("installed", "warn", "the unit was changed and not read again", f"`{_ctl(facts)} daemon-reload`")
    return Check("installed", "ok", f"{unit_path(facts.scope)}")


def _enabled(facts: Facts) -> Check:
    state = facts.known.get("UnitFileState") or "unknown"
    if state in ("enabled", "enabled-runtime", "linked", "static"):
        return Check("enabled", "ok", state)
    return Check("enabled", "fail", f"{state}: it does not start by itself", f"`{_ctl(facts)} enable {NAME}`")


def _running(facts: Facts) -> Check:
    known = facts.known
    state, sub = known.get("ActiveState", "unknown"), known.get("SubState", "unknown")
    restarts = int(known.get("NRestarts") or 0)
    if state == "active":
        since = f"since {known.get('ActiveEnterTimestamp') or 'an unknown time'}"
        return Check("running", "ok", since + (f", restarted {restarts} times" if restarts else ""))
    why = f"{state} ({sub}): {known.get('Result', 'unknown')}, exit status {known.get('ExecMainStatus', 'unknown')}"
    if sub == "auto-restart":
        why = f"it ends and is started again, {restarts} times so far; exit status {known.get('ExecMainStatus')}"
    start = f"; then `{_ctl(facts)} restart {NAME}`"
    return Check("running", "fail", why, f"`{log_command(facts.scope)}` says why{start}")


def _lingering(facts: Facts) -> Check:
    if facts.lingers:
        return Check("lingering", "ok", f"{facts.user}'s services run without a login")
    found = "systemd does not say" if facts.lingers is None else f"the service of {facts.user} stops at logout"
    advice = f"`loginctl enable-linger {facts.user}` (with sudo if it is refused)"
    return Check("lingering", "warn" if facts.lingers is None else "fail", found, advice)


def log_command(scope: Scope) -> str:
    """Return the command that shows the log."""
    return f"journalctl {'--user ' if scope == 'user' else ''}-u {NAME} -e"


def _ctl(facts: Facts) -> str:
    return "systemctl --user" if facts.scope == "user" else "sudo systemctl"


def _program(unit: Path) -> Path | None:
    if not unit.exists():
        return None
    lines = unit.read_text(encoding="utf-8").splitlines()
    started = next((line.removeprefix("ExecStart=") for line in lines if line.startswith("ExecStart=")), "")
    first = started.strip('"').partition('"')[0]
    return Path(first.replace("%%", "%").replace("$$", "$")) if first.startswith("/") else None
