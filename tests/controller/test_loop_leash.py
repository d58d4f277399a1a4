"""How long a job may run: from when it begins, not from when we began to prepare it."""

from datetime import timedelta

import pytest
from asyncenergy_controller import clock
from asyncenergy_controller.loop import running
from asyncenergy_controller.meters.null import NullMeter

from tests.controller.loop_box import LoopBox, planned, until
from tests.controller.loop_server import loop_server


@pytest.fixture
def box(tmp_path):
    with loop_server() as server:
        yield LoopBox(tmp_path, server)


@pytest.fixture
def let_pass(monkeypatch):
    """Lets seconds pass on both clocks, without waiting for them."""
    now, monotonic, passed = clock.now, clock.monotonic, []
    monkeypatch.setattr(clock, "now", lambda: now() + timedelta(seconds=sum(passed)))
    monkeypatch.setattr(clock, "monotonic", lambda: monotonic() + sum(passed))
    return passed.append


def test_waiting_for_a_meter_and_a_cap_takes_nothing_from_the_time_of_the_job(box, let_pass, monkeypatch):
    def slowly(*args, **kwargs):
        let_pass(1000)
        return NullMeter("slow to open")

    monkeypatch.setattr(running, "open_apart", slowly)
    box.has(*box.marking("sleep 0.5"))
    box.plan(planned(length_s=100))
    with box.running():
        until(lambda: box.events()[-1:] in (["finished"], ["failed"]))
    assert box.events() == ["started", "finished"]
