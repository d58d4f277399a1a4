"""What may be said about this machine: a salted hash and product names."""

import hashlib
import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

from asyncenergy_controller.identity import machine_salt
from asyncenergy_controller.meters.base import MeterInfo
from asyncenergy_controller.wire import canonical_json

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9 ._:/+@()-]")


def node_entry(config_dir: Path, info: MeterInfo) -> dict[str, Any]:
    """The bundle's node. The hash changes with the salt, the CPU or the measured device, and tells none of them."""
    cpu = cpu_model()
    identity = canonical_json([info.device_name, info.device_count, cpu])
    return {
        "node_hash": hashlib.sha256(machine_salt(config_dir) + identity).hexdigest(),
        "cpu_model": cpu,
        "ram_gb": round(psutil.virtual_memory().total / 2**30, 1),
    }


def cpu_model() -> str | None:
    """Product name of the processor, None where the system doesn't tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        raw = next((line.split(":", 1)[1] for line in lines if line.startswith("model name")), "")
    except OSError:
        raw = _mac_cpu_model() if platform.system() == "Darwin" else platform.processor()
    return public_name(raw)


def _mac_cpu_model() -> str:
    asked = subprocess.run(
        ["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True, timeout=5, check=False
    )
    return asked.stdout


def public_name(raw: str | None) -> str | None:
    """A product name in the characters a bundle allows, None where nothing is left of it."""
    kept = _NOT_IN_A_NAME.sub("-", raw or "").strip().lstrip("=+-@/ ")[:120].rstrip()
    return kept or None


def engine_pids(url: str) -> set[int]:
    """Processes that listen at `url` on this machine, as far as we may see them."""
    address = urlsplit(url)
    if address.hostname not in {"127.0.0.1", "localhost", "::1"}:
        return set()
    try:
        sockets = psutil.net_connections("tcp")
    except (psutil.Error, OSError):
        return set()
    return {
        socket.pid
        for socket in sockets
        if socket.pid and socket.pid != os.getpid() and socket.laddr and socket.laddr[1] == address.port
    }
