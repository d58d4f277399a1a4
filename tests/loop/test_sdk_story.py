"""The SDK against a real server: advice, measured blocks, an outage in the middle; only the card is invented."""

import time

import pytest
from asyncenergy_controller import AsyncEnergy
from asyncenergy_controller.bench.machine import node_entry
from asyncenergy_controller.capping import capped
from asyncenergy_controller.meters.select import open_meter
from asyncenergy_controller.sdk import NoWindow
from asyncenergy_controller.server import RequestRefused, ServerClient
from asyncenergy_controller.settings import load_settings

from tests.contract.old_client import OldClient
from tests.controller import fakes_nvml
from tests.loop.harness import wait_until
from tests.loop.server import Server

pytestmark = pytest.mark.campaign


@pytest.fixture
def server(tmp_path, empty_database):
    server = Server(tmp_path / "var", empty_database)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def person(server):
    person = OldClient(server.url, "day@example.org")
    assert person.signup().status == 201
    return person


@pytest.fixture
def energy(tmp_path, server, person, monkeypatch):
    for name in ("CONFIG_DIR", "STATE_DIR", "DATA_DIR"):
        monkeypatch.setenv(f"ASYNCENERGY_{name}", str(tmp_path / name.lower()))
    board = fakes_nvml.FakeBoard(energy_j=fakes_nvml.flat(300))
    fakes_nvml.install(monkeypatch, fakes_nvml.FakeNvml(board, clock=time.monotonic))
    key = person.call("POST", "/api/v1/keys", {"name": "sdk", "scope": "all"}).body["key"]
    with AsyncEnergy(key, api_url=server.url, meter="nvml", controller_id="desk") as energy:
        yield energy


def test_advice_is_given_refused_or_impossible_in_words(energy):
    window = energy.next_window(1800, deadline="in 10 h", watts=300)
    assert window.feasible
    assert window.predicted_wh == pytest.approx(150)
    assert window.prediction_method == "nameplate"
    assert window.cost <= window.now_cost
    with pytest.raises(RequestRefused, match="deadline: Can't use 'whenever' as a time"):
        energy.next_window(1800, deadline="whenever", watts=300)
    with pytest.raises(NoWindow, match="No time meets the deadline: .+"):
        energy.next_window(5 * 3600, deadline="in 1 h", watts=300).wait()


def test_blocks_reach_the_account_once_also_over_an_outage(energy, server, person):
    runs = [measured(energy)]
    server.kill()
    runs += [measured(energy), measured(energy)]
    assert energy.flush().left >= 2
    server.start()
    assert energy.flush().left == 0
    kept = {run["run_id"]: run for run in stored(server, person)}
    assert kept.keys() == {run.run_id for run in runs}
    for run in runs:
        record = kept[run.run_id]
        assert record["energy_wh"] == run.energy_wh == pytest.approx(300 * record["duration_s"] / 3600, rel=0.5)
        assert (record["energy_source"], record["exit_status"], record["warnings"]) == ("counter", "success", [])
        assert (record["work_units"], record["work_unit_kind"]) == (3, "pages")
    wait_until(lambda: all(run["profile"] for run in stored(server, person)), 30)
    counts = {run["run_id"]: run["profile"]["n_samples"] for run in stored(server, person)}
    assert counts == {run.run_id: len(run.measurement.samples) for run in runs}


def test_new_hardware_is_named_to_the_server_and_has_no_cap_yet(energy, person):
    key = person.call("POST", "/api/v1/keys", {"name": "box", "scope": "all"}).body["key"]
    settings = load_settings(api_url=person.url, api_key=key, apply_power_cap=True, power_cap_policy="managed")
    info = open_meter("nvml").info()
    with ServerClient(settings) as client, capped(client, settings, info) as cap:
        assert cap.cap_w is None
        assert "power sweep" in cap.reason
    (node,) = person.call("GET", "/api/v1/bench/nodes").body["results"]
    assert (node["node_hash"], node["gpu_name"]) == (node_entry(settings.config_dir, info)["node_hash"], "NVIDIA H200")


def measured(energy):
    with energy.measure("pages", work_unit_kind="pages") as run:
        run.work_units = 3
        time.sleep(0.4)
    return run


def stored(server, person):
    return person.call("GET", "/api/v1/runs").body["results"]
