"""A fresh embedded site of the benchmark's own: nothing of yours is read or written."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOT_OURS = ("SECRET_KEY", "ALLOWED_HOSTS", "DEMO", "EMAIL_URL", "ASYNCENERGY_TEST_CLOCK")


@contextmanager
def fresh_site(database_url: str | None = None) -> Iterator[Path]:
    """Django on an empty database, SQLite unless a URL is given; yields its folder."""
    with tempfile.TemporaryDirectory(prefix="asyncenergy-benchmark-") as folder:
        for name in NOT_OURS:
            os.environ.pop(name, None)
        os.environ |= {
            "ASYNCENERGY_ENV": "embedded",
            "ASYNCENERGY_VAR_DIR": folder,
            "ASYNCENERGY_ENV_FILE": os.devnull,
            "DATABASE_URL": database_url or f"sqlite:///{folder}/site.sqlite3",
            "DJANGO_SETTINGS_MODULE": "asyncenergy.settings",
            "LOG_LEVEL": "WARNING",
        }
        import django
        from django.core.management import call_command
        from django.db import connections

        django.setup()
        call_command("migrate", interactive=False, verbosity=0)
        yield Path(folder)
        connections.close_all()
