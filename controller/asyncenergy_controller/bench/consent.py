"""Whether the person at this machine has agreed that runs are published."""

from pathlib import Path

from asyncenergy_controller import clock
from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.files import read_json, write_json
from asyncenergy_controller.settings import Settings
from asyncenergy_controller.wire import CONSENT_VERSION

FILE = "consent.json"


def opt_in(config_dir: Path) -> None:
    """Keep the version of the text that was agreed to, and when."""
    at = clock.now().isoformat(timespec="seconds")
    write_json(config_dir / FILE, {"consent_version": CONSENT_VERSION, "at": at})


def opt_out(config_dir: Path) -> bool:
    """True where there was a consent to take back."""
    path = config_dir / FILE
    existed = path.exists()
    path.unlink(missing_ok=True)
    return existed


def require_consent(settings: Settings) -> None:
    """Raise UsageError unless the present text has been agreed to, and the settings do not forbid to send."""
    if settings.bench_optin is False:
        raise UsageError("bench_optin (BENCH_OPTIN) is false, so nothing is submitted. Unset it to submit.")
    path = settings.config_dir / FILE
    agreed = read_json(path).get("consent_version") if path.exists() else None
    if agreed == CONSENT_VERSION:
        return
    never = "BENCH_OPTIN agreed to an earlier text" if settings.bench_optin else "You have not opted in"
    why = never if agreed is None else "The consent text has changed since you opted in"
    raise UsageError(f"{why}. Read and agree with `async-energy-controller bench opt-in`; nothing was sent.")
