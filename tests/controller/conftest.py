"""One person's machine, the engine it asks and the card in it."""

import time

import pytest

from tests.controller import fakes_nvml
from tests.controller.bench_cli import Box
from tests.controller.bench_engine import bench_engine


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
