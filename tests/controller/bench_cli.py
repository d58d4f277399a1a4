"""The command line as a person uses it: in a directory of its own, with short idle and lead-in times."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from asyncenergy_controller.bench.store import RunDir, RunStore
from asyncenergy_controller.cli import app
from typer.testing import CliRunner


@dataclass
class Box:
    """One person's machine."""

    home: Path
    engine_url: str = ""
    api_url: str = "http://127.0.0.1:9"

    @property
    def env(self):
        ours = {
            "DATA_DIR": self.home / "data",
            "CONFIG_DIR": self.home / "config",
            "STATE_DIR": self.home / "state",
            "API_URL": self.api_url,
            "API_KEY": "ae_test",
            "IDLE_S": "0.06",
            "LEAD_IN_S": "0.06",
            "SAMPLE_PERIOD_S": "0.05",
        }
        ours |= {"ENGINE_URL": self.engine_url, "METER": "simulated"} if self.engine_url else {}
        return {f"ASYNCENERGY_{name}": str(value) for name, value in ours.items()} | {"COLUMNS": "200"}

    def run(self, *args, stdin=None, env=None):
        """Invoke in this process; the result has exit_code, stdout and stderr."""
        return CliRunner(env=env or self.env).invoke(app, [str(a) for a in args], input=stdin, catch_exceptions=False)

    def json(self, *args, code=0):
        result = self.run(*args, "--json")
        assert result.exit_code == code, result.stderr
        return json.loads(result.stdout)

    def start(self, *args, command=(sys.executable, "-m", "asyncenergy_controller"), **how):
        """Start as a process of its own."""
        started = [*command, *map(str, args)]
        piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(started, env=os.environ | self.env, **piped | how)

    @property
    def store(self) -> RunStore:
        return RunStore(self.home / "data")

    @property
    def last(self) -> RunDir:
        return self.store.find("last")


def wait_for(condition, limit_s=20.0):
    """Poll until the condition holds; fails the test where it never does."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)
