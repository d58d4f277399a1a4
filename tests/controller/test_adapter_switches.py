"""Plugs are switched, say whether they are on, and count energy in watt-hours, each in its own way."""

from types import SimpleNamespace

import pytest
from asyncenergy_controller.errors import MeterError, UsageError
from asyncenergy_controller.meters.plugs import kasa
from asyncenergy_controller.meters.plugs.select import open_switch

from .fake_switches import fake_switch, home_assistant, shelly, tasmota
from .fakes_plugs import Answer, FakePlug

KINDS = {
    "shelly": (shelly, "shelly:{}", {}),
    "tasmota": (tasmota, "tasmota:{}", {}),
    "home_assistant": (
        home_assistant,
        "home_assistant:{}#switch.robot",
        {"secret": "token", "energy_entity": "sensor.robot_energy"},
    ),
}


@pytest.mark.parametrize(("kind", "spec", "more"), KINDS.values(), ids=KINDS)
def test_a_plug_goes_on_and_off_and_counts_watt_hours(kind, spec, more):
    with fake_switch(kind) as fake:
        switch = open_switch(spec.format(fake.address), **more)
        assert switch.is_on() is False
        switch.turn_on(100)
        assert (fake.is_on, switch.is_on()) == (True, True)
        fake.counter_wh = 1234.5
        switch.turn_off()
        assert (fake.is_on, switch.is_on()) == (False, False)
        assert switch.energy_wh() == pytest.approx(1234.5, abs=0.5)
        switch.close()


@pytest.mark.parametrize(("kind", "spec", "more"), KINDS.values(), ids=KINDS)
def test_a_plug_that_fails_says_so(kind, spec, more):
    with fake_switch(kind) as fake:
        switch = open_switch(spec.format(fake.address), **more)
        fake.deaf = True
        for ask in (switch.turn_on, switch.turn_off, switch.is_on, switch.energy_wh):
            with pytest.raises(MeterError, match="500"):
                ask()
        switch.close()


def test_a_shelly_gets_a_timer_and_goes_off_without_us():
    with fake_switch() as fake:
        switch = open_switch(f"shelly:{fake.address}#2")
        switch.turn_on(99.2)
        switch.turn_on()
        assert fake.asked[0] == ("/rpc/Switch.Set", {"id": ["2"], "on": ["true"], "toggle_after": ["100"]})
        assert fake.asked[1] == ("/rpc/Switch.Set", {"id": ["2"], "on": ["true"]})
        switch.close()


def test_an_outlet_of_a_tasmota_strip_is_named_by_its_number():
    plug = FakePlug()
    plug.answer = Answer('{"POWER2":"ON"}')
    switch = open_switch(f"tasmota:{plug.address}#2", "web password")
    assert switch.is_on()
    switch.turn_off()
    assert [query["cmnd"] for _, query, _ in plug.asked] == [["Power2"], ["Power2 Off"]]
    assert plug.asked[0][1]["password"] == ["web password"]
    switch.close()
    plug.close()


@pytest.mark.parametrize("body", ["{}", "[]", '{"output": 1}', '{"output": "on"}', '{"POWER": null}', '{"state": 1}'])
@pytest.mark.parametrize("kind", ["shelly:{}", "tasmota:{}", "home_assistant:{}#switch.robot"])
def test_what_does_not_say_whether_it_is_on_is_an_error(kind, body):
    plug = FakePlug()
    plug.answer = Answer(body)
    switch = open_switch(kind.format(plug.address), "token")
    with pytest.raises(MeterError):
        switch.is_on()
    switch.close()
    plug.close()


@pytest.mark.parametrize("total", ["-1", "null", "NaN", "true", '"5"', "[]", "{}"])
def test_what_is_no_counter_is_an_error(total):
    plug = FakePlug()
    plug.answer = Answer(f'{{"aenergy": {{"total": {total}}}}}')
    switch = open_switch(f"shelly:{plug.address}")
    with pytest.raises(MeterError):
        switch.energy_wh()
    switch.close()
    plug.close()


@pytest.mark.parametrize(("unit", "wh"), [("Wh", 12.5), ("kWh", 12_500.0), ("MWh", 12_500_000.0)])
def test_an_energy_sensor_of_home_assistant_is_read_in_its_unit(unit, wh):
    plug = FakePlug()
    plug.answer = Answer(f'{{"state": "12.5", "attributes": {{"unit_of_measurement": "{unit}"}}}}')
    switch = open_switch(f"home_assistant:{plug.address}#switch.robot", "token", "sensor.energy")
    assert switch.energy_wh() == wh
    switch.close()
    plug.close()


@pytest.mark.parametrize(("state", "unit"), [("unavailable", "kWh"), ("12", "W"), ("12", None), ("nan", "kWh")])
def test_an_energy_sensor_that_says_no_energy_is_an_error(state, unit):
    plug = FakePlug()
    plug.answer = Answer(f'{{"state": "{state}", "attributes": {{"unit_of_measurement": "{unit}"}}}}')
    switch = open_switch(f"home_assistant:{plug.address}#switch.robot", "token", "sensor.energy")
    with pytest.raises(MeterError):
        switch.energy_wh()
    switch.close()
    plug.close()


def test_home_assistant_without_an_energy_sensor_says_what_to_name():
    switch = open_switch("home_assistant:127.0.0.1:9#switch.robot", "token")
    with pytest.raises(MeterError, match="energy_entity"):
        switch.energy_wh()
    switch.close()


@pytest.mark.parametrize("spec", ["", "shelly:", "lamp:10.0.0.1", "home_assistant:ha:8123"])
def test_what_names_no_switch_is_refused(spec):
    with pytest.raises(UsageError):
        open_switch(spec)


class FakeKasa:
    """Stands where the module `kasa` stood."""

    class KasaException(Exception):
        pass

    Module = SimpleNamespace(Energy="Energy")

    def __init__(self):
        self.Device = self.Discover = self
        self.is_on = False
        self.modules = {"Energy": SimpleNamespace(current_consumption=5.0, consumption_total=1.5)}

    async def connect(self, *, host):
        return self

    async def update(self):
        pass

    async def turn_on(self):
        self.is_on = True

    async def turn_off(self):
        self.is_on = False

    async def disconnect(self):
        pass


def test_a_kasa_plug_is_switched_and_counts(monkeypatch):
    fake = FakeKasa()
    monkeypatch.setattr(kasa, "_kasa", lambda: fake)
    switch = open_switch("kasa:10.0.0.7")
    switch.turn_on()
    assert switch.is_on()
    switch.turn_off()
    assert not fake.is_on
    assert switch.energy_wh() == 1500
    fake.modules = {}
    with pytest.raises(MeterError, match="no energy meter"):
        switch.energy_wh()
    switch.close()
