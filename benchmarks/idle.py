"""What the loop costs while there is nothing to do, at the default poll and after a first job, beside a real server.

    python -m benchmarks idle

Ends with an error where it costs more than 0.5 % of one core or 60 MB.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from benchmarks.site import fresh_site
from tests.servers import wait_until_open

ROOT = Path(__file__).resolve().parent.parent
PORT = 8931
SERVER = [sys.executable, "-m", "uvicorn", "asyncenergy.asgi:application", "--log-level", "warning"]
SETTLED_S, MEASURED_S = 20.0, 130.0
"""Two polls at least lie in what is measured."""
MOST_CPU_PCT, MOST_MB = 0.5, 60.0
STOP_LIMIT_S = 20.0


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one core, in percent; in megabytes, all of it and what no other process shares."""

    cpu_pct: float
    rss_mb: float
    private_mb: float

    @property
    def is_fine(self) -> bool:
        return self.cpu_pct < MOST_CPU_PCT and self.rss_mb < MOST_MB


def main() -> None:
    with fresh_site() as folder:
        key, workflow_ids = _account_with_jobs()
        with _running([*SERVER, "--port", str(PORT)], {}):
            wait_until_open(PORT, STOP_LIMIT_S)
            home = _home(folder / "box", workflow_ids)
            variables = _settings(home, key)
            with _running([sys.executable, "-m", "asyncenergy_controller", "run"], variables) as loop:
                cost = _measured(psutil.Process(loop.pid))
                assert list(home.glob("state/logs/*.log")), "the first job did not run"
    print(
        f"the idle loop, {MEASURED_S:g} s at a poll every 60 s: {cost.cpu_pct:.3f} % of one core (limit "
        f"{MOST_CPU_PCT:g} %), {cost.rss_mb:.1f} MB (limit {MOST_MB:g} MB), of these {cost.private_mb:.1f} MB private"
    )
    if not cost.is_fine:
        sys.exit("the idle loop costs more than it may")


def _measured(process: psutil.Process) -> Cost:
    time.sleep(SETTLED_S)
    before, begun_s = process.cpu_times(), time.monotonic()
    time.sleep(MEASURED_S)
    after, passed_s = process.cpu_times(), time.monotonic() - begun_s
    used_s = after.user + after.system - before.user - before.system
    memory = process.memory_full_info()
    return Cost(100 * used_s / passed_s, memory.rss / 2**20, memory.uss / 2**20)


def _account_with_jobs() -> tuple[str, list[str]]:
    """Return its key and the ids of its workflows: one is planned for now, one for some later hour."""
    from accounts.services import account_create, api_key_create
    from asyncenergy import clock
    from scheduling.services.planning import account_plan
    from scheduling.services.workflows import workflow_create

    account = account_create(email="idle@example.org", password=os.urandom(16).hex())
    common: dict[str, Any] = {
        "framework": "command",
        "nameplate_watts": 300.0,
        "recurrence": "none",
        "now": clock.now(),
    }
    workflows = [
        workflow_create(account=account, name="first", est_duration_s=60.0, deadline="in 10 min", **common),
        workflow_create(
            account=account, name="later", est_duration_s=60.0, earliest_start="in 12 h", deadline="in 20 h", **common
        ),
    ]
    account_plan(account=account)
    return api_key_create(user=account, name="idle", scope="all")[1], [str(workflow.pk) for workflow in workflows]


def _home(home: Path, workflow_ids: list[str]) -> Path:
    """A home with a catalog of jobs that do nothing."""
    (home / "config").mkdir(parents=True, mode=0o700)
    job = {"framework": "command", "request": {"command": ["true"]}}
    jobs = home / "config" / "jobs.json"
    jobs.write_text(json.dumps(dict.fromkeys(workflow_ids, job)))
    jobs.chmod(0o600)
    return home


def _settings(home: Path, key: str) -> dict[str, str]:
    folders = {f"ASYNCENERGY_{name.upper()}_DIR": str(home / name) for name in ("config", "data", "state")}
    return folders | {"ASYNCENERGY_API_URL": f"http://127.0.0.1:{PORT}", "ASYNCENERGY_API_KEY": key}


@contextmanager
def _running(command: list[str], variables: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | variables)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(STOP_LIMIT_S)
