"""Processes that tests and benchmarks start and speak to."""

import socket
import time

START_LIMIT_S = 30.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def wait_until_open(port: int, limit_s: float = START_LIMIT_S) -> None:
    give_up_at = time.monotonic() + limit_s
    while time.monotonic() < give_up_at:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(f"nothing listens on port {port}")
