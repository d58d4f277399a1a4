"""Prints the URL of a PostgreSQL that tests may use, starting one if none answers; prints nothing if none can be had.

Order: TEST_DATABASE_URL, then 127.0.0.1:5432 with trust, then a server of our own in var/test-postgres.
"""

import getpass
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psycopg

DATA = Path(__file__).resolve().parent.parent / "var" / "test-postgres"
OWN_PORT = 54329
OWN_URL = f"postgres://postgres@127.0.0.1:{OWN_PORT}/postgres"
START_LIMIT_S = 20.0


def main() -> None:
    if url := os.environ.get("TEST_DATABASE_URL"):
        print(url)
        return
    for candidate in _running():
        print(candidate)
        return
    if (url := _started()) is not None:
        print(url)


def _running() -> list[str]:
    users = dict.fromkeys(["postgres", getpass.getuser()])
    candidates = [f"postgres://{user}@127.0.0.1:5432/postgres" for user in users]
    return [url for url in (*candidates, OWN_URL) if _answers(url)]


def _answers(url: str) -> bool:
    try:
        with psycopg.connect(url, connect_timeout=3) as connection:
            row = connection.execute("SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user")
            return bool((row.fetchone() or (False,))[0])
    except psycopg.Error as error:
        print(f"PostgreSQL at {url}: {str(error).strip().splitlines()[0]}", file=sys.stderr)
        return False


def _started() -> str | None:
    binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or [
        Path(found) for found in [shutil.which("initdb")] if found
    ]
    if not binaries:
        return None
    folder = _prepared(DATA)
    try:
        _start(binaries[-1].parent, folder)
    except subprocess.SubprocessError as error:
        print(f"{error} Free port {OWN_PORT}, or remove {folder} to have it made anew.", file=sys.stderr)
        return None
    give_up_at = time.monotonic() + START_LIMIT_S
    while time.monotonic() < give_up_at:
        if _answers(OWN_URL):
            return OWN_URL
        time.sleep(0.5)
    return None


def _start(bin_dir: Path, folder: Path) -> None:
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if not (folder / "PG_VERSION").exists():
        _run([*as_user, str(bin_dir / "initdb"), "-A", "trust", "-U", "postgres", "-D", str(folder)])
    options = f"-p {OWN_PORT} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    _run([*as_user, str(bin_dir / "pg_ctl"), "-D", str(folder), "-o", options, "-l", str(folder / "log"), "start"])


def _prepared(folder: Path) -> Path:
    """PostgreSQL refuses to run as root and wants a folder of its own user's: then it lies outside the checkout."""
    if os.geteuid() == 0:
        folder = Path("/var/tmp/asyncenergy-test-postgres")  # noqa: S108  # the postgres user must reach it
        folder.mkdir(mode=0o700, exist_ok=True)
        shutil.chown(folder, "postgres")
    else:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=sys.stderr, stdin=subprocess.DEVNULL, timeout=60)


if __name__ == "__main__":
    main()
