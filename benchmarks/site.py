"""A fresh embedded site of the benchmark's own: nothing of yours is read or written."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOT_OURS = ("SECRET_KEY", "ALLOWED_HOSTS", "DEMO", "EMAIL_URL", "ASYNCENERGY_TEST_CLOCK")


def site_variables(folder: Path, database_url: str) -> dict[str, str]:
    """The environment of a process that is the site."""
    ours = {name: value for name, value in os.environ.items() if name not in NOT_OURS}
    return ours | {
        "ASYNCENERGY_ENV": "embedded",
        "ASYNCENERGY_VAR_DIR": str(folder),
        "ASYNCENERGY_ENV_FILE": os.devnull,
        "DATABASE_URL": database_url,
        "DJANGO_SETTINGS_MODULE": "asyncenergy.settings",
        "LOG_LEVEL": "WARNING",
    }


@contextmanager
def fresh_site(database_url: str | None = None) -> Iterator[Path]:
    """Django in this process, on that database or an empty SQLite file; yields its folder."""
    with tempfile.TemporaryDirectory(prefix="asyncenergy-benchmark-") as name:
        variables = site_variables(Path(name), database_url or f"sqlite:///{name}/site.sqlite3")
        for gone in NOT_OURS:
            os.environ.pop(gone, None)
        os.environ.update(variables)
        prepare()
        yield Path(name)


def prepare() -> None:
    """Set Django up, and its database."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", interactive=False, verbosity=0)
