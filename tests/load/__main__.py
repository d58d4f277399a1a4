"""The load campaign: 100,000 published runs of 300 configurations, and how fast they are read.

    python -m tests.load            # the long form, on SQLite and PostgreSQL, under gunicorn and uvicorn
    python -m tests.load --bundles 100

Ends with 1 if a limit is missed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.reads import ROOT, SERVERS, SMALL_BUNDLES, databases, drop, fill, measure, served, table
from benchmarks.site import site_variables

MOST_S = 600.0
MOST_REBUILD_S, MOST_REBUILD_MB = 60.0, 500.0
MOST_SLOWER = 1.2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bundles", type=int, default=5000, help="of 20 runs each")
    parser.add_argument("--v3-runs", type=int, default=500)
    options = parser.parse_args()
    missed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="asyncenergy-load-") as name:
        folder = Path(name)
        small, large = databases(folder, "small"), databases(folder, "large")
        try:
            for kind in large:
                missed += _campaign(kind, small[kind], large[kind], folder, options.bundles, options.v3_runs)
        finally:
            for url in (*small.values(), *large.values()):
                drop(url)
    print(*(missed or ["All limits are kept."]), sep="\n")
    sys.exit(bool(missed))


def _campaign(kind: str, small: str, large: str, folder: Path, bundles: int, v3_runs: int) -> list[str]:
    started = time.perf_counter()
    fill(small, folder, SMALL_BUNDLES)
    print(f"{kind}: {fill(large, folder, bundles, v3_runs)}", flush=True)
    took_s = time.perf_counter() - started
    rebuilt = _rebuilt(large, folder)
    print(f"{kind}: full rebuild in a process of its own {rebuilt}", flush=True)
    limits = {
        f"making the corpus took {took_s:.0f} s": took_s > MOST_S,
        f"the rebuild took {rebuilt['rebuild_s']} s": rebuilt["rebuild_s"] > MOST_REBUILD_S,
        f"the rebuild took {rebuilt['peak_mb']} MB": rebuilt["peak_mb"] > MOST_REBUILD_MB,
    }
    missed = [f"{kind}: {words}" for words, is_over in limits.items() if is_over]
    for server in SERVERS:
        missed += _compared(f"{server}, {kind}", server, small, large, folder)
    return missed


def _rebuilt(url: str, folder: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.load.fill", "--bundles", "0", "--rebuild-only"]
    made = subprocess.run(
        command, cwd=ROOT, env=site_variables(folder, url), capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(made.stdout)
    return found


def _compared(title: str, server: str, small: str, large: str, folder: Path) -> list[str]:
    """Both corpora are served at the same time, and measured in turn."""
    with served(server, small, folder) as few, served(server, large, folder) as many:
        before = {one.path: one for one in measure(few)}
        readings = measure(many)
    print(*table(title, readings, before), sep="\n", flush=True)
    return [
        f"{title}: {one.path}" for one in readings if not one.is_fine or one.slower_than(before[one.path]) > MOST_SLOWER
    ]


if __name__ == "__main__":
    main()
