"""One person's machine, the engine it asks, the card in it and the server it reports to."""

import time

import pytest
from asyncenergy_controller import AsyncEnergy
from asyncenergy_controller.meters.gpu_writes import READ_ONLY
from asyncenergy_controller.reporting import Spool
from asyncenergy_controller.server import ServerClient

from tests.controller import fakes_nvml
from tests.controller.bench_cli import Box
from tests.controller.bench_engine import bench_engine
from tests.controller.report_server import report_server, settings_for


@pytest.fixture
def writable(monkeypatch):
    """Whatever the machine that runs the tests says, its fake cards may be changed."""
    monkeypatch.delenv(READ_ONLY, raising=False)


@pytest.fixture
def engine():
    with bench_engine() as fake:
        yield fake


@pytest.fixture
def box(tmp_path, engine):
    return Box(tmp_path, engine.url)


@pytest.fixture
def board():
    return fakes_nvml.FakeBoard(energy_j=fakes_nvml.flat(300))


@pytest.fixture
def nvml(monkeypatch, tmp_path, board):
    """One fake card that keeps its limit on disk, as a real one outlives a process."""
    return fakes_nvml.install(
        monkeypatch, fakes_nvml.FakeNvml(board, clock=time.monotonic, state=tmp_path / "card.json")
    )


@pytest.fixture
def server():
    with report_server() as fake:
        yield fake


@pytest.fixture
def client(server, tmp_path):
    with ServerClient(settings_for(server, tmp_path), attempts=1) as client:
        yield client


@pytest.fixture
def spool(tmp_path):
    return Spool(tmp_path / "spool.sqlite3")


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Where the SDK keeps its things, and its simulated meter."""
    for name in ("CONFIG_DIR", "STATE_DIR", "DATA_DIR"):
        monkeypatch.setenv(f"ASYNCENERGY_{name}", str(tmp_path / name.lower()))
    monkeypatch.setenv("ASYNCENERGY_METER", "simulated")
    monkeypatch.setenv("ASYNCENERGY_CONTROLLER_ID", "box")


@pytest.fixture
def energy(folders, server):
    with AsyncEnergy("ae_key", api_url=server.url) as energy:
        yield energy
