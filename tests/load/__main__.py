"""Loads a site of its own on this machine's loopback and prints each page beside /health. `make load` calls this."""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import quantiles

import httpx2

from scripts.serve import ROOT, site

PATHS = ("/health", "/api/v1/bench/leaderboard", "/api/v1/bench/recommend", "/bench/leaderboard/?task=arith")
START_LIMIT_S = 60.0


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each address")
    parser.add_argument("--clients", type=int, default=4)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        own = {"ASYNCENERGY_VAR_DIR": folder, "DJANGO_SETTINGS_MODULE": "asyncenergy.settings", "DATABASE_URL": ""}
        environment = {**os.environ, **own}
        for command in (["migrate", "-v", "0"], ["load_reference"], ["tick", "--once"]):
            subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=environment, check=True, timeout=120)
        with site("127.0.0.1", free_port(), env=own) as address:
            wait_until_up(address)
            report(address, options.seconds, options.clients)


def report(address: str, seconds: float, clients: int) -> None:
    first: float | None = None
    for path in PATHS:
        times_s = loaded(address + path, seconds, clients)
        rate = len(times_s) / seconds
        first = first or rate
        p95_ms = quantiles(times_s, n=20)[-1] * 1000
        print(f"{path:36} {rate:8.1f} requests/s   p95 {p95_ms:7.1f} ms   {rate / first:5.2f} x /health", flush=True)


def loaded(url: str, seconds: float, clients: int) -> list[float]:
    """Seconds of each answer, all of them 200; raises on any other."""
    with ThreadPoolExecutor(clients) as pool:
        return [took for times in pool.map(lambda _: one_client(url, seconds), range(clients)) for took in times]


def one_client(url: str, seconds: float) -> list[float]:
    times_s: list[float] = []
    until = time.monotonic() + seconds
    with httpx2.Client(timeout=30) as client:
        while (began := time.monotonic()) < until or len(times_s) < 2:
            client.get(url).raise_for_status()
            times_s.append(time.monotonic() - began)
    return times_s


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_up(address: str) -> None:
    give_up_at = time.monotonic() + START_LIMIT_S
    while time.monotonic() < give_up_at:
        try:
            httpx2.get(f"{address}/health", timeout=2).raise_for_status()
        except httpx2.HTTPError:
            time.sleep(0.2)
        else:
            return
    sys.exit(f"{address} did not answer in {START_LIMIT_S:.0f} s.")


if __name__ == "__main__":
    main()
