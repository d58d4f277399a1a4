"""How fast the public reads are, beside /health on the same server in the same run.

Servers as in production: gunicorn with one sync worker, and uvicorn; databases: SQLite, and PostgreSQL where there is
one. Blocks of requests alternate, so that other work on the machine meets all of them alike.

    python -m benchmarks.reads
"""

import http.client
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit, urlunsplit

import psycopg

from benchmarks.site import site_variables
from tests.servers import free_port, wait_until_open

ROOT = Path(__file__).resolve().parent.parent
HEALTH = "/health"
READS = ("/api/v1/bench/leaderboard", "/api/v1/bench/recommend", "/api/v1/bench/routing-table")
SERVERS = {
    "gunicorn": ["-m", "gunicorn", "asyncenergy.wsgi", "--bind", "127.0.0.1:{port}", "--workers", "1"],
    "uvicorn": ["-m", "uvicorn", "asyncenergy.asgi:application", "--port", "{port}", "--log-level", "error"],
}
ROUNDS, BLOCK = 12, 40
MOST_P95_MS, LEAST_RATIO = 50.0, 0.5
SMALL_BUNDLES = 50  # 1,000 runs
START_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Reading:
    """One address on one server: 95th percentile in ms, requests per s, and that over /health's."""

    path: str
    p95_ms: float
    per_s: float
    ratio: float

    @property
    def is_fine(self) -> bool:
        return self.p95_ms < MOST_P95_MS and self.ratio >= LEAST_RATIO

    def slower_than(self, other: "Reading") -> float:
        """How many times as long it takes, each measured against /health of its own server and moment."""
        return other.ratio / self.ratio


def databases(folder: Path, name: str) -> dict[str, str]:
    """An empty SQLite file, and an empty database of PostgreSQL where one answers."""
    found = {"SQLite": f"sqlite:///{folder / name}.sqlite3"}
    script = [sys.executable, str(ROOT / "scripts" / "test_postgres.py")]
    server = subprocess.run(script, capture_output=True, text=True, timeout=120, check=True).stdout.strip()
    if server:
        database = f"asyncenergy_load_{name}_{os.getpid()}"
        with psycopg.connect(server, autocommit=True, connect_timeout=5) as connection:
            connection.execute(f"CREATE DATABASE {database}".encode())
        found["PostgreSQL"] = urlunsplit(urlsplit(server)._replace(path=f"/{database}"))
    return found


def drop(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme.startswith("postgres"):
        server = urlunsplit(parts._replace(path="/postgres"))
        with psycopg.connect(server, autocommit=True, connect_timeout=5) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {parts.path.strip('/')} WITH (FORCE)".encode())


def fill(url: str, folder: Path, bundles: int, v3_runs: int = 0) -> str:
    """Make a corpus in a process of its own; returns what that says."""
    command = [sys.executable, "-m", "tests.load.fill", "--bundles", str(bundles), "--v3-runs", str(v3_runs)]
    environment = site_variables(folder, url)
    made = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if made.returncode:
        raise RuntimeError(made.stderr[-2000:])
    return made.stdout.strip()


@contextmanager
def served(server: str, url: str, folder: Path) -> Iterator[int]:
    """The site under this server; yields its port."""
    port = free_port()
    command = [sys.executable, *(part.format(port=port) for part in SERVERS[server])]
    process = subprocess.Popen(
        command, cwd=ROOT, env=site_variables(folder, url), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_until_open(port, START_LIMIT_S)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=30)


def measure(port: int, paths: Sequence[str] = READS) -> list[Reading]:
    """Alternate blocks of requests to /health and to each path."""
    times: dict[str, list[list[float]]] = {path: [] for path in (HEALTH, *paths)}
    for path in times:
        _block(port, path)  # the first answers of a process load what later ones find
    for _ in range(ROUNDS):
        for path, blocks in times.items():
            blocks.append(_block(port, path))
    return [_reading(path, times[path], times[HEALTH]) for path in paths]


def _reading(path: str, blocks: Sequence[Sequence[float]], health: Sequence[Sequence[float]]) -> Reading:
    every = sorted(second for block in blocks for second in block)
    ratio = median(sum(other) / sum(block) for block, other in zip(blocks, health, strict=True))
    per_s = median(len(block) / sum(block) for block in blocks)
    return Reading(path, 1000 * every[int(0.95 * len(every))], per_s, ratio)


def _block(port: int, path: str) -> list[float]:
    """Seconds of each of some requests, one connection each, as the sync worker wants it."""
    found = []
    for _ in range(BLOCK):
        started = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        found.append(time.perf_counter() - started)
        if answer.status != 200:
            raise RuntimeError(f"{path} answered {answer.status}")
    return found


def table(title: str, readings: Sequence[Reading], before: Mapping[str, Reading] | None = None) -> Iterator[str]:
    """Lines to print; `before` are the same reads on a corpus of 1,000 runs."""
    for one in readings:
        slower = f"   {one.slower_than(before[one.path]):.2f} x the time at 1,000 runs" if before else ""
        verdict = "" if one.is_fine else "   TOO SLOW"
        figures = f"p95 {one.p95_ms:6.2f} ms  {one.per_s:7.0f}/s  {one.ratio:.2f} x /health"
        yield f"{title:22} {one.path.rpartition('/')[2]:14} {figures}{slower}{verdict}"


def main() -> None:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="asyncenergy-reads-") as name:
        folder = Path(name)
        for kind, url in databases(folder, "small").items():
            try:
                fill(url, folder, SMALL_BUNDLES)
                for server in SERVERS:
                    with served(server, url, folder) as port:
                        print(*table(f"{server}, {kind}", measure(port)), sep="\n")
            finally:
                drop(url)


if __name__ == "__main__":
    main()
