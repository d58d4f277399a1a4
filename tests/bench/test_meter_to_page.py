"""From the driver's counters to the page: what the meter saw is what people read, in every answer."""

import json
from dataclasses import replace

import pynvml
import pytest
from asyncenergy_controller.meters.nvml import NvmlMeter
from asyncenergy_controller.sampler import Trace

from bench.services.moderation import run_publish
from tests.bench.corpus import sent
from tests.bench.pages_html import read
from tests.controller.fakes_nvml import FakeBoard, FakeNvml, VirtualClock, flat, install
from tests.wire.bundles import make_items

pytestmark = pytest.mark.django_db
NO_COUNTER = {"nvmlDeviceGetTotalEnergyConsumption": pynvml.NVML_ERROR_NOT_SUPPORTED}


def recorded(monkeypatch, board, *, seconds):
    """What an NVML meter records of a load over so long, 2 s before and after it included, and the meter's own word."""
    clock = VirtualClock()
    install(monkeypatch, FakeNvml(board, clock=clock))
    clock.pass_s(1)
    meter, readings = NvmlMeter(environ={}, clock=clock), []
    for _ in range(round((seconds + 4) / 0.2) + 1):
        clock.pass_s(0.2)
        readings.append(meter.read())
    return readings, meter.info()


def shown(client, submitter, maintainer, readings, info, *, seconds):
    """The page and the JSON of the run, once it is published; 20 items fill `seconds` without a pause."""
    items = make_items(20, right=10)
    items["t_start_s"] = [2.0 + i * seconds / 20 for i in range(20)]
    items["t_end_s"] = [2.0 + (i + 1) * seconds / 20 for i in range(20)]
    trace = Trace(tuple(readings), readings[0].t_s, 0.0).columns()
    run = sent(submitter, items=items, trace=trace, energy_source=info.energy_source)
    run_publish(run=run, by=maintainer)
    page = read(client.get(f"/bench/runs/{run.pk}/"))
    return page.text, json.loads(client.get(f"/api/v1/bench/runs/{run.pk}").content)["figures"]


def test_280_watts_for_a_minute_are_16800_joules_from_the_meter_to_the_page(monkeypatch, client, submitter, maintainer):
    readings, info = recorded(monkeypatch, FakeBoard(energy_j=flat(280)), seconds=60)
    text, figures = shown(client, submitter, maintainer, readings, info, seconds=60)
    assert figures["total_joules_gpu_best"] == pytest.approx(16_800)
    assert "Energy counter 16,800.0 J" in text
    assert "Joules per correct answer1,680.0 J" in text


def test_26_watts_without_a_counter_are_2600_joules_integrated(monkeypatch, client, submitter, maintainer):
    readings, info = recorded(monkeypatch, FakeBoard(energy_j=flat(26), fails=NO_COUNTER), seconds=100)
    text, figures = shown(client, submitter, maintainer, readings, info, seconds=100)
    assert (figures["total_joules_gpu_best"], figures["energy_source"]) == (pytest.approx(2600), "integrated")
    assert (figures["total_joules_gpu_counter"], figures["counter_reason"]) == (None, "counter_unsupported")
    assert "Energy counter not measured" in text


def test_a_counter_that_fell_is_void_and_the_integral_takes_its_place(monkeypatch, client, submitter, maintainer):
    readings, info = recorded(monkeypatch, FakeBoard(energy_j=flat(280)), seconds=60)
    half = len(readings) // 2
    fallen = [replace(reading, gpu_energy_mj=reading.gpu_energy_mj - 5e9) for reading in readings[half:]]
    text, figures = shown(client, submitter, maintainer, readings[:half] + fallen, info, seconds=60)
    assert (figures["total_joules_gpu_counter"], figures["counter_reason"]) == (None, "counter_reset")
    assert (figures["total_joules_gpu_best"], figures["energy_source"]) == (pytest.approx(16_800), "integrated")
    assert figures["tier"] != "A"
    assert "Energy counter not measured" in text
