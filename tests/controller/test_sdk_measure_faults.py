"""No fault of meter, disk, login or server ever fails or delays the work that the SDK measures."""

import subprocess
import sys
import time

import pytest
from asyncenergy_controller import AsyncEnergy
from asyncenergy_controller.meters.base import MeterInfo
from asyncenergy_controller.reporting import Spool
from asyncenergy_controller.sdk import measure as measuring
from asyncenergy_controller.sdk import sender as sending

from tests.controller.report_server import LOST_ANSWER
from tests.controller.sdk_reports import reported

pytestmark = pytest.mark.usefixtures("folders")
AWAY = "http://127.0.0.1:9"


def test_a_server_that_is_away_fails_no_work_and_gets_the_report_at_the_next_use(server, monkeypatch):
    with AsyncEnergy("ae_key", api_url=server.url) as energy:
        server.always = (503, {"detail": "busy", "code": "busy"})
        with energy.measure() as run:
            pass
    assert server.runs == {}
    server.always = None
    with AsyncEnergy("ae_key", api_url=server.url) as later:
        assert later.waiting().runs == 1
        with later.measure() as second:
            pass
        assert {record["run_id"] for record in reported(server, later)} == {run.run_id, second.run_id}


def test_a_slow_server_keeps_no_work_waiting(energy, server):
    with server.lock:  # it answers nobody meanwhile
        begun_s = time.monotonic()
        with energy.measure():
            pass
        assert time.monotonic() - begun_s < 4, "who waits for it waits half a minute"
    assert len(reported(server, energy)) == 1


def test_an_answer_that_was_lost_makes_no_second_run(energy, server):
    server.faults = [LOST_ANSWER]
    with energy.measure():
        pass
    assert len(reported(server, energy)) == 1
    assert server.calls.count("/api/v1/runs") == 2


def test_a_program_that_ends_at_once_still_sends_its_report(server):
    code = f"""
from asyncenergy_controller import AsyncEnergy
with AsyncEnergy("ae_key", api_url={server.url!r}).measure() as run:
    pass
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=20)
    assert len(server.runs) == 1


def test_a_spool_that_can_not_be_written_sends_the_report_at_once(energy, server, tmp_path):
    (tmp_path / "state_dir").mkdir(exist_ok=True)
    (tmp_path / "state_dir" / "spool").write_text("no folder")
    with energy.measure() as run:
        pass
    assert list(server.runs) == [run.run_id]


def test_without_disk_and_server_the_work_is_done_and_the_loss_is_logged(tmp_path, caplog):
    (tmp_path / "state_dir").mkdir()
    (tmp_path / "state_dir" / "spool").write_text("no folder")
    with AsyncEnergy("ae_key", api_url=AWAY) as energy, energy.measure() as run:
        pass
    assert run.exit_status == "success"
    assert f"The report of run {run.run_id} is lost" in caplog.text


def test_without_any_login_the_work_is_done_and_the_report_kept(server, monkeypatch):
    with AsyncEnergy(api_url=server.url) as energy:
        with energy.measure():
            pass
        assert energy.waiting().runs == 1
    assert server.calls == []


@pytest.mark.parametrize("meter", ["nvml", "no such meter"])
def test_a_meter_that_can_not_be_opened_fails_no_work(server, meter, monkeypatch):
    with AsyncEnergy("ae_key", api_url=server.url, meter=meter) as energy:
        with energy.measure() as run:
            pass
        assert run.energy_wh is None
        assert "can't be opened" in run.reason
        assert reported(server, energy)[0]["exit_status"] == "success"


class Broken:
    """A meter that gives up in the middle, and can't even be closed."""

    name = "broken"

    def info(self):
        return MeterInfo(meter=self.name)

    def read(self):
        raise OSError("unplugged")

    def close(self):
        raise OSError("still unplugged")


def test_a_meter_that_breaks_in_the_middle_fails_no_work(energy, monkeypatch, caplog):
    monkeypatch.setattr(measuring, "_open", lambda settings: Broken())
    with energy.measure():
        done = True
    assert done
    assert "could not be reported" in caplog.text


def test_a_spool_of_a_thousand_faults_fails_no_work(energy, monkeypatch, caplog):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(Spool, "put_run", broken)
    with energy.measure():
        done = True
    assert done
    assert "could not be reported" in caplog.text


def test_closing_waits_only_a_little(server, monkeypatch):
    monkeypatch.setattr(sending, "EXIT_WAIT_S", 0.1)
    energy = AsyncEnergy("ae_key", api_url=server.url)
    with server.lock:  # it answers nobody meanwhile
        with energy.measure():
            pass
        begun_s = time.monotonic()
        energy.close()
        assert 0.1 <= time.monotonic() - begun_s < 4
