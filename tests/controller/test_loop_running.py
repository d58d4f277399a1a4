"""A meter that fails costs the energy of a run, never the run."""

import pytest
from asyncenergy_controller.errors import MeterUnavailable
from asyncenergy_controller.loop import running
from asyncenergy_controller.meters.apart import MeterApart

from tests.controller.loop_box import LoopBox, planned
from tests.controller.loop_server import loop_server


@pytest.fixture
def box(tmp_path):
    with loop_server() as server:
        yield LoopBox(tmp_path, server)


def assert_a_job_succeeds_without_energy(box):
    box.has()
    box.plan(planned())
    box.once()
    assert (box.marks(), box.events()) == (1, ["started", "finished"])
    (record,) = box.records()
    assert (record["exit_status"], record.get("energy_wh")) == ("success", None)


def test_a_meter_whose_process_dies_costs_the_energy_of_a_run_alone(box, monkeypatch):
    def opens(*args, **kwargs):
        meter = MeterApart(kind="simulated")
        meter._process.kill()
        meter._process.wait()
        return meter

    monkeypatch.setattr(running, "open_apart", opens)
    assert_a_job_succeeds_without_energy(box)


@pytest.mark.parametrize("fault", [MeterUnavailable("no GPU"), FileNotFoundError(2, "No such file"), KeyError("power")])
def test_a_job_runs_also_where_no_meter_can_be_opened_for_whatever_reason(box, monkeypatch, caplog, fault):
    def fails(*args, **kwargs):
        raise fault

    monkeypatch.setattr(running, "open_apart", fails)
    assert_a_job_succeeds_without_energy(box)
    assert "not metered" in caplog.text
