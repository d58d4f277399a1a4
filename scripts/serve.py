"""Serves the site and runs the ticker beside it, until interrupted. `make run` calls this."""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STOP_LIMIT_S = 10.0


@contextmanager
def site(host: str, port: int, *, tick_every_s: float = 15.0, env: dict[str, str] | None = None) -> Iterator[str]:
    """Serve while the block runs; yields the site's address."""
    server = [sys.executable, "-m", "uvicorn", "asyncenergy.asgi:application", "--host", host, "--port", str(port)]
    ticker = [sys.executable, "manage.py", "tick", "--interval", str(tick_every_s)]
    environment = {**os.environ, **(env or {})}
    started: list[subprocess.Popen[bytes]] = []
    try:
        for command in ([*server, "--log-level", "warning"], ticker):
            started.append(subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL))
        yield f"http://{host}:{port}"
    finally:
        for process in started:
            stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with site(options.host, options.port) as address:
        print(f"Async Energy is at {address} (Ctrl-C ends it).")
        try:
            signal.pause()
        except KeyboardInterrupt:
            print("Stopping.")


if __name__ == "__main__":
    main()
