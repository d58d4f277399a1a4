"""Small readers of environment values: a wrong one stops the start and says what would be right."""

import os
import secrets
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from environ import Env

SECRET_KEY_LENGTH = 50
SECRET_KEY_VARIETY = 5


def refusal(name: str, value: object, way_out: str) -> ImproperlyConfigured:
    """Return the error for a variable that can't be used, to be raised by the caller."""
    return ImproperlyConfigured(f"{name} is {value!r}: {way_out}")


def required(name: str, example: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise ImproperlyConfigured(f"{name} is not set, but ASYNCENERGY_ENV=production needs it: set {name}={example}")
    return value


def choice(name: str, options: Iterable[str], default: str) -> str:
    value = os.environ.get(name) or default
    if value not in options:
        raise refusal(name, value, f"set it to one of {', '.join(options)}, or leave it unset for {default}")
    return value


def flag(name: str) -> bool:
    return choice(name, ("0", "1"), "0") == "1"


def count(name: str, default: int) -> int:
    value = os.environ.get(name) or str(default)
    if not (value.isascii() and value.isdigit()):
        raise refusal(name, value, f"set it to a whole number, 0 or more, or leave it unset for {default}")
    return int(value)


def names(value: str) -> list[str]:
    """Return the parts of a comma-separated value."""
    return [part.strip() for part in value.split(",") if part.strip()]


def secret_key(value: str) -> str:
    if len(value) < SECRET_KEY_LENGTH or len(set(value)) < SECRET_KEY_VARIETY:
        raise ImproperlyConfigured(
            f"SECRET_KEY has {len(value)} characters, {len(set(value))} of them different: "
            f"give it at least {SECRET_KEY_LENGTH} random ones, "
            'such as the output of python3 -c "import secrets; print(secrets.token_urlsafe(50))"'
        )
    return value


def generated_secret_key(path: Path) -> str:
    """Return the key in `path`; the first caller makes it, and of several at once one wins."""
    if not path.exists():
        _make_secret_key(path)
    return secret_key(path.read_text().strip())


def _make_secret_key(path: Path) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".secret_key-")  # mkstemp gives mode 0600
    draft = Path(name)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(SECRET_KEY_LENGTH))
        path.hardlink_to(draft)  # a link never replaces: unlike a rename it can't take a key away from someone
    except FileExistsError:
        pass  # another process made it first, and its key counts
    finally:
        draft.unlink()


def writable_folder(path: Path, name: str) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refusal(name, str(path), f"the folder can't be made ({error.strerror}); name one that can") from None
    return path


def database(url: str, *, only_postgresql: bool = False, keeps_connections: bool = False) -> dict[str, Any]:
    """Return Django's settings of the database at `url`.

    Where threads outlive requests, each may keep its connection: to open one costs more than most reads. Elsewhere
    PostgreSQL's connections come from a pool, and a file is opened for each request.
    """
    kinds = ("postgres", "postgresql") if only_postgresql else ("postgres", "postgresql", "sqlite")
    try:
        config: dict[str, Any] = Env.db_url_config(url) if url.partition("://")[0] in kinds else {}
    except ValueError:
        config = {}
    if not config.get("NAME"):
        example = "postgres://user:password@host:5432/name" + ("" if only_postgresql else " or sqlite:////path/to/file")
        raise ImproperlyConfigured(f"DATABASE_URL can't be used ({_without_password(url)}): write {example}")
    options = _DATABASE_OPTIONS[config["ENGINE"]]
    if keeps_connections:
        kept = {name: value for name, value in options["OPTIONS"].items() if name != "pool"}
        options = {**options, "CONN_MAX_AGE": KEPT_S, "OPTIONS": kept}
    return config | options | {"OPTIONS": config.get("OPTIONS", {}) | options["OPTIONS"]}


def _without_password(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


def mail(url: str) -> dict[str, Any]:
    """Return Django's settings of sending mail by `url`."""
    try:
        return dict(Env.email_url_config(url))
    except (ImproperlyConfigured, ValueError):
        way_out = "write smtp+tls://user:password@host:587, or leave it unset to print letters"
        raise refusal("EMAIL_URL", _without_password(url), way_out) from None


KEPT_S = 600
_DATABASE_OPTIONS: dict[str, dict[str, Any]] = {
    "django.db.backends.sqlite3": {
        "OPTIONS": {
            # A transaction takes the write lock when it begins. Taken later, a concurrent one fails at once instead
            # of waiting `timeout` seconds.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        }
    },
    "django.db.backends.postgresql": {
        "CONN_HEALTH_CHECKS": True,  # a restarted database costs no request
        "OPTIONS": {"pool": {"min_size": 1, "max_size": 10, "timeout": 10}, "connect_timeout": 5},
    },
}
