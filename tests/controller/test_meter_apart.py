"""A meter in a process of its own reads as it would here, and takes nobody along when it fails."""

import os
import signal
import subprocess
import sys

import psutil
import pytest
from asyncenergy_controller.errors import ControllerError, MeterError
from asyncenergy_controller.meters import apart
from asyncenergy_controller.meters.apart import MeterApart, open_apart
from asyncenergy_controller.meters.select import open_meter
from asyncenergy_controller.meters.simulated import SimulatedMeter
from asyncenergy_controller.reporting import measured

LONGEST_S = 30.0
ASKER = """
import sys
from asyncenergy_controller.meters.apart import MeterApart
meter = MeterApart(kind="simulated")
meter.read()
print(meter._process.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def meter():
    meter = MeterApart(kind="simulated")
    yield meter
    meter.close()


def process_of(meter: MeterApart) -> psutil.Process:
    return psutil.Process(meter._process.pid)


def test_it_reads_and_names_itself_as_it_would_here(meter):
    here = SimulatedMeter()
    assert (meter.name, meter.info()) == (here.name, here.info())
    with measured(meter, period_s=0.05) as measuring:
        pass
    assert measuring.measurement.energy_source == "simulated"
    assert measuring.measurement.energy_wh > 0


def test_a_signal_to_everybody_takes_no_reading_away(meter):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process_of(meter).send_signal(number)
    assert meter.read().gpu_power_w or meter.read().cpu_energy_uj


def test_closing_it_ends_its_process(meter):
    process = process_of(meter)
    meter.close()
    assert not process.is_running()


@pytest.mark.parametrize("kind", ["nvml", "sundial"])
def test_what_can_not_be_opened_is_said_in_the_same_words(kind):
    with pytest.raises(ControllerError) as here:
        open_meter(kind, "GPU-of-nobody")
    with pytest.raises(type(here.value)) as there:
        open_apart(kind, "GPU-of-nobody")
    assert there.value.message == here.value.message


def test_a_process_that_was_killed_costs_the_readings_and_nothing_else(meter):
    before = meter.info()
    process_of(meter).kill()
    for _ in range(2):
        with pytest.raises(MeterError, match="the meter's process has ended"):
            meter.read()
    after = meter.info()
    assert (after.device_name, after.energy_source) == (before.device_name, before.energy_source)
    assert "has ended" in after.reasons["meter"]


def test_a_driver_that_hangs_is_ended_and_asked_no_more(meter, monkeypatch):
    monkeypatch.setattr(apart, "ANSWER_LIMIT_S", 0.2)
    process = process_of(meter)
    process.suspend()
    with pytest.raises(MeterError, match=r"did not answer within 0\.2 s and was ended"):
        meter.read()
    with pytest.raises(MeterError, match="has ended"):
        meter.read()
    assert not process.is_running()


def test_it_ends_with_an_asker_that_was_killed():
    asker = subprocess.Popen([sys.executable, "-c", ASKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with asker:
        process = psutil.Process(int(asker.stdout.readline()))
        asker.kill()
    psutil.wait_procs([process], LONGEST_S)
    assert not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def test_the_asker_loads_no_driver():
    code = f"import sys\n{ASKER.split('print')[0]}meter.close()\nassert 'pynvml' not in sys.modules\n"
    done = subprocess.run([sys.executable, "-c", code], env=os.environ, timeout=LONGEST_S, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("kind", apart.WITHOUT_DRIVER)
def test_what_loads_no_driver_needs_no_process(kind, monkeypatch):
    monkeypatch.setattr(apart, "open_meter", lambda kind, device, **how: (kind, device, how))
    assert open_apart(kind, "0", wall=None) == (kind, "0", {"wall": None})
