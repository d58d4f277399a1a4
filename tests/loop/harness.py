"""One box with a real controller on it, and the clock that it shares with its server."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

from asyncenergy_controller.bench.machine import node_entry
from asyncenergy_controller.meters import nvml_library
from asyncenergy_controller.meters.select import open_meter
from asyncenergy_controller.reporting import open_spool
from asyncenergy_controller.settings import load_settings

from tests.loop.card import fake_card
from tests.loop.server import ROOT

STOCK_W = 700.0
JOB = Path(__file__).with_name("job.py")


@dataclass(frozen=True)
class FastClock:
    """Time that runs `factor` times as fast as the true one, in every process that has `setting`."""

    factor: float
    epoch_s: float

    @classmethod
    def reaching(cls, instant: datetime, factor: float, *, in_s: float = 0.0) -> "FastClock":
        """It will be `instant` in `in_s` real seconds."""
        then_s = time.time() + in_s
        return cls(factor, (then_s * factor - instant.timestamp()) / (factor - 1))

    @property
    def setting(self) -> str:
        return f"{self.epoch_s!r},{self.factor}"

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.epoch_s + (time.time() - self.epoch_s) * self.factor, UTC)

    def real_s_until(self, instant: datetime) -> float:
        return max(0.0, (instant - self.now()).total_seconds() / self.factor)

    def sleep_until(self, instant: datetime) -> None:
        time.sleep(self.real_s_until(instant))


@dataclass
class Box:
    """Its home holds the settings, the catalog, the fake card, and the ledger into which its jobs write."""

    home: Path
    api_url: str
    api_key: str
    clock: FastClock | None = None
    name: str = "box"
    poll_interval_s: float = 600.0
    kills: int = 0
    extra_env: dict[str, str] = field(default_factory=dict)
    _running: subprocess.Popen | None = None
    _log_size_at_start: int = 0

    def __post_init__(self):
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.home / "config").mkdir(mode=0o700, exist_ok=True)

    @property
    def env(self) -> dict[str, str]:
        ours = {
            "ASYNCENERGY_CONFIG_DIR": str(self.home / "config"),
            "ASYNCENERGY_DATA_DIR": str(self.home / "data"),
            "ASYNCENERGY_STATE_DIR": str(self.home / "state"),
            "ASYNCENERGY_API_URL": self.api_url,
            "ASYNCENERGY_API_KEY": self.api_key,
            "ASYNCENERGY_POLL_INTERVAL_S": str(self.poll_interval_s),
            "ASYNCENERGY_METER": "nvml",
            "CONTROLLER_ID": self.name,
            "ASYNCENERGY_TEST_CLOCK": self.clock.setting if self.clock else "",
            "FAKE_CARD": str(self.home / "card.json"),
            "PYTHONPATH": f"{ROOT / 'tests' / 'loop' / 'driver'}:{ROOT}:{ROOT / 'controller'}",
        }
        left_out = ("DJANGO_", "ASYNCENERGY_", "CUDA_VISIBLE_DEVICES")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        return inherited | ours | self.extra_env

    def job(self, name: str, work_s: float) -> list[str]:
        """A command that takes so many real seconds and writes into the ledger when it begins and ends."""
        return [sys.executable, "-S", "-E", str(JOB), str(self.ledger_path), name, str(work_s)]

    def write_jobs(self, **seconds_of: tuple[str, float]) -> None:
        """Let each name stand for a workflow: its id, and how many real seconds its job takes."""
        common = {"framework": "command", "max_runs_per_day": 20}
        jobs = {
            workflow_id: common | {"name": name, "request": {"command": self.job(name, work_s)}}
            for name, (workflow_id, work_s) in seconds_of.items()
        }
        path = self.home / "config" / "jobs.json"
        path.write_text(json.dumps(jobs))
        path.chmod(0o600)

    def start(self, *arguments: str) -> None:
        self._log_size_at_start = self.log_size()
        with (self.home / "controller.log").open("ab") as log:
            command = [sys.executable, "-m", "asyncenergy_controller", *(arguments or ("run",))]
            self._running = subprocess.Popen(command, cwd=self.home, env=self.env, stdout=log, stderr=log)

    def call(self, *arguments: str) -> subprocess.CompletedProcess:
        """One command, to its end."""
        command = [sys.executable, "-m", "asyncenergy_controller", *arguments]
        return subprocess.run(command, cwd=self.home, env=self.env, capture_output=True, text=True, timeout=60)

    def kill(self) -> None:
        """SIGKILL, in the middle of whatever it does. What it has started goes on."""
        self.kills += 1
        self._running.kill()
        self._running.wait()

    def stop(self) -> int:
        """SIGTERM, once it is up, and the exit code it ends with."""
        wait_until(lambda: self.log_size() > self._log_size_at_start, why=self.log)
        self._running.terminate()
        return self._running.wait(30)

    def is_running(self) -> bool:
        return self._running is not None and self._running.poll() is None

    def end(self) -> None:
        """Whatever state it is in, leave no process."""
        if self.is_running():
            self._running.kill()
            self._running.wait()

    def node_hash(self) -> str:
        """By which the server knows this hardware."""
        card = fake_card(self.home / "card.json")
        with patch.object(nvml_library, "_nvml", lambda: card), closing(open_meter("nvml")) as meter:
            return str(node_entry(self.home / "config", meter.info())["node_hash"])

    @property
    def ledger_path(self) -> Path:
        return self.home / "ledger"

    @property
    def ledger(self) -> Counter:
        """How often each run has said each word."""
        lines = self.ledger_path.read_text().splitlines() if self.ledger_path.exists() else []
        return Counter(tuple(line.split()) for line in lines)

    def log_size(self) -> int:
        path = self.home / "controller.log"
        return path.stat().st_size if path.exists() else 0

    def log(self) -> str:
        return (self.home / "controller.log").read_text()

    def waiting(self) -> int:
        """Reports and samples that the server has not got."""
        counts = self._spool().counts()
        return counts.waiting + counts.samples

    def set_aside(self) -> list:
        return self._spool().set_aside()

    def card_limit_w(self) -> float | None:
        """None where nobody has ever changed it."""
        card = self.home / "card.json"
        boards = list(json.loads(card.read_text()).values()) if card.exists() else []
        return boards[0]["limit_mw"] / 1000 if boards else None

    def journal(self) -> list[Path]:
        """Changes of the card that are not put back yet."""
        return list((self.home / "state" / "power").glob("*.json"))

    def _spool(self):
        return open_spool(load_settings(api_url=self.api_url, state_dir=self.home / "state"))


def wait_until(condition, limit_s: float = 30.0, why: str = "it never came true"):
    """Poll until the condition holds, and return what it returned."""
    deadline = time.monotonic() + limit_s
    while not (found := condition()):
        assert time.monotonic() < deadline, why() if callable(why) else why
        time.sleep(0.05)
    return found
