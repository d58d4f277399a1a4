"""A real server: uvicorn and `manage.py tick` as processes of their own, on loopback, with a database of their own."""

import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
START_LIMIT_S = 60.0
NOT_OURS = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ALLOWED_HOSTS", "DEMO", "TEST_DATABASE_URL")


def server_env(folder: Path, test_clock: str = "") -> dict[str, str]:
    """The environment of an embedded server whose files lie in `folder`."""
    inherited = {name: value for name, value in os.environ.items() if name not in NOT_OURS}
    return inherited | {
        "DJANGO_SETTINGS_MODULE": "asyncenergy.settings",
        "ASYNCENERGY_ENV": "embedded",
        "ASYNCENERGY_ENV_FILE": os.devnull,
        "ASYNCENERGY_VAR_DIR": str(folder),
        "ASYNCENERGY_TEST_CLOCK": test_clock,
        "LOG_LEVEL": "WARNING",
        "PYTHONUNBUFFERED": "1",
    }


def migrate(folder: Path) -> Path:
    """Make an empty database in `folder`, to be copied for each server."""
    command = [sys.executable, "manage.py", "migrate", "--no-input", "-v", "0"]
    subprocess.run(command, cwd=ROOT, env=server_env(folder), check=True, timeout=START_LIMIT_S)
    return folder


@dataclass
class Server:
    """Started, killed and started again on one address and one database."""

    folder: Path
    empty: Path
    """What `migrate` made."""
    test_clock: str = ""
    tick_every_s: float = 0.2
    port: int = field(default_factory=free_port)
    kills: int = 0
    _running: list[subprocess.Popen] = field(default_factory=list)

    def __post_init__(self):
        shutil.copytree(self.empty, self.folder)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def database(self) -> Path:
        return self.folder / "asyncenergy.sqlite3"

    def start(self) -> None:
        """Returns when the server answers."""
        site = [sys.executable, "-m", "uvicorn", "asyncenergy.asgi:application", "--port", str(self.port)]
        ticker = [sys.executable, "manage.py", "tick", "--interval", str(self.tick_every_s)]
        with (self.folder / "server.log").open("ab") as log:
            for command in ([*site, "--log-level", "warning"], ticker):
                env = server_env(self.folder, self.test_clock)
                self._running.append(subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=log))
        self._wait_until_up()

    def kill(self) -> None:
        """SIGKILL to both processes, in the middle of whatever they do."""
        self.kills += 1
        self._end(subprocess.Popen.kill)

    def stop(self) -> None:
        self._end(subprocess.Popen.terminate)

    def log(self) -> str:
        return (self.folder / "server.log").read_text()

    def _end(self, how) -> None:
        for process in self._running:
            how(process)
        for process in self._running:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()

    def _wait_until_up(self) -> None:
        deadline = time.monotonic() + START_LIMIT_S
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=5):
                    return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                assert all(process.poll() is None for process in self._running), self.log()
                assert time.monotonic() < deadline, self.log()
                time.sleep(0.05)
