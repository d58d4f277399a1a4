"""A plug is held on for a time or until an amount, and whatever happens it is off again."""

import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
from math import inf

import pytest
from asyncenergy_controller import clock
from asyncenergy_controller.adapters import charge, heal_switches
from asyncenergy_controller.adapters.switch_journal import SwitchJournal

from . import jobs_running
from .bench_cli import wait_for
from .fake_switches import fake_switch, home_assistant
from .jobs_running import Runner


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Seconds become hundredths."""
    monkeypatch.setattr(charge, "PERIOD_S", 0.05)
    monkeypatch.setattr(charge, "SILENT_S", 5)
    monkeypatch.setattr(charge, "WAIT_S", 0.02)


@pytest.fixture
def plug():
    with fake_switch() as fake:
        yield fake
        assert fake.deaf or fake.stuck or fake.deaf_after is not None or not fake.is_on


@pytest.fixture
def runner(tmp_path):
    return Runner(tmp_path)


@pytest.fixture
def held(runner):
    """The files of the journal."""
    return lambda: sorted((runner.state / "switches").glob("*"))


class VirtualTime(threading.Event):
    """Time that passes while somebody waits for this event, and only then; `set_at_s` is when it is set."""

    def __init__(self):
        super().__init__()
        self.s = 1000.0
        self.set_at_s = inf

    def now_s(self):
        return self.s

    def is_set(self):
        return self.s >= self.set_at_s

    def wait(self, timeout=None):
        self.s += timeout
        return self.is_set()


@pytest.fixture
def virtual(monkeypatch, plug, runner):
    """How fast this machine is decides nothing: plug, leash and job read the same made-up clock."""
    runner.stop = virtual = VirtualTime()
    plug.now_s = virtual.now_s
    monkeypatch.setattr(clock, "monotonic", virtual.now_s)
    monkeypatch.setattr(jobs_running, "monotonic", virtual.now_s)
    return virtual


def hold(runner, plug, **more):
    return runner.run("charge", switch=f"shelly:{plug.address}", **more)


def test_it_is_held_for_its_time_and_what_flowed_is_the_work(plug, runner, held, virtual):
    begun_s = virtual.s
    outcome = hold(runner, plug, hold_s=0.5)
    assert 0.5 <= virtual.s - begun_s < 0.52
    assert outcome.exit_status == "success"
    assert outcome.work_units == pytest.approx(0.5, abs=0.02)  # 3600 W are 1 Wh a second
    assert outcome.work_unit_kind == "Wh"
    assert plug.turned() == [True, False]
    assert held() == []


def test_it_is_held_until_its_counter_has_gone_so_far(plug, runner, held, virtual):
    outcome = hold(runner, plug, until_wh=0.4)
    assert outcome.exit_status == "success"
    assert 0.4 <= outcome.work_units < 0.4 + 2 * charge.PERIOD_S
    assert plug.counter_wh - 1000 == pytest.approx(outcome.work_units)
    assert plug.turned() == [True, False]
    assert held() == []


def test_an_entity_of_home_assistant_is_held_too(runner):
    with fake_switch(home_assistant) as fake:
        outcome = runner.run(
            "charge",
            switch=f"home_assistant:{fake.address}#switch.robot",
            secret="token",
            energy_entity="sensor.robot_energy",
            until_wh=0.3,
        )
        assert outcome.exit_status == "success"
        assert not fake.is_on


def test_at_the_end_of_the_window_it_is_off_and_says_how_far_it_came(plug, runner, virtual):
    outcome = hold(runner, plug, until_wh=50, limit_s=0.3)
    assert outcome.exit_status == "error"
    assert "of 50 Wh when its time was over" in outcome.detail
    assert outcome.work_units == pytest.approx(0.3)
    assert not plug.is_on


@pytest.mark.parametrize(("window_s", "status"), [(0.495, "success"), (0.485, "error")])
def test_a_window_that_is_a_little_shorter_than_the_hold_is_long_enough(plug, runner, virtual, window_s, status):
    assert hold(runner, plug, hold_s=0.5, limit_s=window_s).exit_status == status


@pytest.mark.parametrize("request_", [{"hold_s": 0.8}, {"until_wh": 0.8}])
def test_an_interrupted_charge_goes_on_where_it_was(plug, runner, virtual, request_):
    virtual.set_at_s = virtual.s + 0.5
    first = hold(runner, plug, **request_)
    assert first.exit_status == "preempted"
    assert first.done == pytest.approx(0.5, abs=0.1)
    assert not plug.is_on
    virtual.set_at_s = inf
    second = hold(runner, plug, done=first.done, **request_)
    assert second.exit_status == "success"
    assert second.done >= 0.8 * charge.ENOUGH
    assert second.work_units == pytest.approx(0.8 - first.done, abs=0.1), "it would be 0.8 Wh from the start"


def test_the_plug_has_a_timer_of_its_own_beyond_the_window(plug, runner, virtual):
    hold(runner, plug, hold_s=0.1, limit_s=1000)
    (switched_on,) = [query for path, query in plug.asked if query.get("on") == ["true"]]
    assert switched_on["toggle_after"] == ["121"]


def test_without_a_counter_a_hold_is_a_success_and_its_energy_unknown(plug, runner):
    plug.counter_wh = None
    outcome = hold(runner, plug, hold_s=0.1)
    assert (outcome.exit_status, outcome.work_units, outcome.work_unit_kind) == ("success", None, None)


def test_without_a_counter_an_amount_is_never_begun(plug, runner):
    plug.counter_wh = None
    assert hold(runner, plug, until_wh=1).exit_status == "error"
    assert plug.turned() == []


def test_a_counter_that_falls_ends_the_charge(plug, runner):
    def reset():
        wait_for(plug.is_held)
        with plug.lock:
            plug.counter_wh = 0.0

    thread = threading.Thread(target=reset)
    thread.start()
    outcome = hold(runner, plug, until_wh=60)
    thread.join()
    assert outcome.exit_status == "error"
    assert "counter of the shelly plug fell" in outcome.detail
    assert not plug.is_on


def test_a_plug_that_somebody_switched_off_stays_off(plug, runner):
    def by_hand():
        wait_for(plug.is_held)
        with plug.lock:
            plug.set(False)

    thread = threading.Thread(target=by_hand)
    thread.start()
    outcome = hold(runner, plug, hold_s=60)
    thread.join()
    assert outcome.exit_status == "error"
    assert "switched off by somebody" in outcome.detail


def test_a_plug_that_is_silent_for_a_moment_is_waited_for(plug, runner):
    def moment():
        wait_for(plug.is_held)
        plug.deaf = True
        time.sleep(0.15)
        plug.deaf = False

    thread = threading.Thread(target=moment)
    thread.start()
    assert hold(runner, plug, until_wh=0.5).exit_status == "success"
    thread.join()


def test_a_plug_that_falls_silent_is_given_up_and_switched_off_when_it_is_back(plug, runner, held, monkeypatch):
    monkeypatch.setattr(charge, "SILENT_S", 0.2)
    plug.deaf_after = 4
    outcome = hold(runner, plug, hold_s=60)
    assert outcome.exit_status == "error"
    assert "500" in outcome.detail
    assert plug.is_on
    assert len(held()) == 1
    assert [said for said in heal_switches(runner.state) if "may still be on" in said]
    plug.deaf_after = None
    assert [said for said in heal_switches(runner.state) if "off now" in said]
    assert not plug.is_on
    assert held() == []
    assert heal_switches(runner.state) == []


def test_a_relay_that_sticks_is_said_and_kept_in_mind(plug, runner, held):
    plug.set(True)
    plug.stuck = True
    outcome = hold(runner, plug, hold_s=0.05)
    assert outcome.exit_status == "error"
    assert "does not say that it is off" in outcome.detail
    assert len(held()) == 1


def test_a_plug_that_does_not_go_on_is_switched_off_all_the_same(plug, runner):
    plug.stuck = True
    outcome = hold(runner, plug, hold_s=5)
    assert "does not say that it is on" in outcome.detail
    assert plug.turned() == [True, True, True, False]


def test_an_error_of_ours_in_the_middle_leaves_it_off(plug, runner, monkeypatch):
    monkeypatch.setattr(charge, "_hold", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        hold(runner, plug, hold_s=5)
    assert plug.turned() == [True, False]


def test_ctrl_c_in_the_middle_leaves_it_off(plug, runner, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(charge, "_hold", interrupted)
    with pytest.raises(KeyboardInterrupt):
        hold(runner, plug, hold_s=5)
    assert plug.turned() == [True, False]


def test_it_is_on_disk_for_its_owner_alone_before_the_plug_goes_on(plug, runner, held, monkeypatch):
    seen = []
    monkeypatch.setattr(charge, "_switch_on", lambda *_: seen.extend(held()))
    hold(runner, plug, hold_s=0.01)
    assert len(seen) == 1
    SwitchJournal(runner.state).hold("shelly:x", "secret")
    (path,) = held()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["pid"] == os.getpid()


def test_a_charge_that_goes_on_is_not_healed(plug, runner, held):
    SwitchJournal(runner.state).hold(f"shelly:{plug.address}", None)
    assert heal_switches(runner.state) == []
    assert plug.asked == []
    assert len(held()) == 1


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"switch": "shelly:x"}'])
def test_a_journal_that_says_nothing_is_told_of_and_the_others_are_healed(plug, runner, held, text):
    SwitchJournal(runner.state).release(f"shelly:{plug.address}", None)
    plug.set(True)
    (runner.state / "switches" / "0.json").write_text(text)
    said = heal_switches(runner.state)
    assert "remove that file" in said[0]
    assert "off now" in said[1]
    assert [path.name for path in held()] == ["0.json"]


CHARGE = """
    import threading, uuid
    from pathlib import Path
    from asyncenergy_controller.adapters import run_entry
    from asyncenergy_controller.jobs.entry import ChargeRequest, JobEntry
    entry = JobEntry(workflow_id="w", framework="charge", request=ChargeRequest(switch={switch!r}, hold_s=60))
    run_entry(entry, kill_at_s=None, log_path=Path({state!r}) / "log", stop=threading.Event(),
              run_id=uuid.uuid4(), state_dir=Path({state!r}))
"""


def test_after_kill_9_the_next_start_switches_it_off(plug, runner, held):
    code = textwrap.dedent(CHARGE.format(switch=f"shelly:{plug.address}", state=str(runner.state)))
    process = subprocess.Popen([sys.executable, "-c", code])
    wait_for(lambda: plug.is_on)
    assert heal_switches(runner.state) == []
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert plug.is_on
    assert heal_switches(runner.state) == [
        f"shelly:{plug.address} was left on by a run that was killed; it is off now."
    ]
    assert not plug.is_on
    assert held() == []
