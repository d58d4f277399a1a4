"""Wall plugs: the watts they say, or a sentence that says why there are none."""

import json
import time
from types import SimpleNamespace

import pytest
from asyncenergy_controller.errors import MeterError, MeterUnavailable, UsageError
from asyncenergy_controller.meters.plugs import kasa
from asyncenergy_controller.meters.plugs.http import PlugHttp
from asyncenergy_controller.meters.plugs.select import open_switch, open_wall_meter

from .fakes_plugs import Answer, FakePlug

SHELLY = """{"id":0,"source":"init","output":true,"apower":312.4,"voltage":231.9,"freq":50.0,"current":1.387,
"aenergy":{"total":14093.021,"by_minute":[5206.113,5197.400,5211.962],"minute_ts":1767225600},
"temperature":{"tC":41.3,"tF":106.3}}"""
TASMOTA = """{"StatusSNS":{"Time":"2026-01-11T21:57:38","ENERGY":{"TotalStartTime":"2025-10-21T22:15:00","Total":3.705,
"Yesterday":0.028,"Today":0.026,"Power":187,"ApparentPower":190,"ReactivePower":31,"Factor":0.98,"Voltage":233,
"Current":0.815}}}"""
HOME_ASSISTANT = """{"entity_id":"sensor.desk_power","state":"%s","attributes":{"state_class":"measurement",
"unit_of_measurement":"%s","device_class":"power","friendly_name":"Desk power"},
"last_changed":"2026-01-11T21:57:30.101010+00:00","last_reported":"2026-01-11T21:57:%02d.101010+00:00",
"last_updated":"2026-01-11T21:57:30.101010+00:00","context":{"id":"01","parent_id":null,"user_id":null}}"""
DATE = {"Date": "Sun, 11 Jan 2026 21:57:40 GMT"}


@pytest.fixture
def plug():
    fake = FakePlug()
    yield fake
    fake.close()


@pytest.fixture
def opened():
    meters = []

    def open_one(spec, secret=None):
        meters.append(open_wall_meter(spec, secret))
        return meters[-1]

    yield open_one
    for meter in meters:
        meter.close()


def test_a_shelly_says_its_active_power(plug, opened):
    plug.answer = Answer(SHELLY)
    assert opened(f"shelly:{plug.address}").read_w() == 312.4
    assert plug.asked[0][:2] == ("/rpc/Switch.GetStatus", {"id": ["0"]})


def test_a_shelly_with_several_switches_is_asked_for_the_one_that_was_named(plug, opened):
    plug.answer = Answer(SHELLY)
    opened(f"shelly:{plug.address}#2").read_w()
    assert plug.asked[0][1] == {"id": ["2"]}


def test_a_shelly_with_a_password_gets_its_digest_and_never_the_password(plug, opened):
    def answer(request):
        if "Authorization" in request.headers:
            return Answer(SHELLY)
        challenge = 'Digest qop="auth", realm="shelly", nonce="60dc2c69", algorithm=SHA-256'
        return Answer(status=401, headers={"WWW-Authenticate": challenge})

    plug.answer = answer
    assert opened(f"shelly:{plug.address}", "secret").read_w() == 312.4
    sent = plug.asked[1][2]["Authorization"]
    assert sent.startswith("Digest")
    assert 'username="admin"' in sent
    assert "SHA-256" in sent
    assert "secret" not in sent


def test_tasmota_says_its_power(plug, opened):
    plug.answer = Answer(TASMOTA)
    assert opened(f"tasmota:http://{plug.address}/").read_w() == 187
    assert plug.asked[0][:2] == ("/cm", {"cmnd": ["Status 8"]})


def test_a_tasmota_password_goes_along_and_stays_out_of_messages_and_logs(plug, opened, caplog):
    plug.answer = Answer(status=401)
    with pytest.raises(MeterError, match="wants a password") as caught:
        opened(f"tasmota:{plug.address}", "hunter2").read_w()
    assert plug.asked[0][1]["password"] == ["hunter2"]
    assert "hunter2" not in str(caught.value) + caplog.text


def test_an_older_tasmota_that_refuses_in_a_good_answer_is_quoted(plug, opened):
    plug.answer = Answer('{"WARNING":"Need user=<username>&password=<password>"}')
    with pytest.raises(MeterError, match="Need user=<username>"):
        opened(f"tasmota:{plug.address}").read_w()


def test_of_several_outlets_one_must_be_named(plug, opened):
    plug.answer = Answer(TASMOTA.replace('"Power":187', '"Power":[10,187]'))
    assert opened(f"tasmota:{plug.address}#2").read_w() == 187
    for channel in ("", "#0", "#3", "#x"):
        with pytest.raises(MeterError, match="2 outlets"):
            opened(f"tasmota:{plug.address}{channel}").read_w()


def test_a_total_of_all_outlets_is_not_the_energy_of_one(plug):
    switch = open_switch(f"tasmota:{plug.address}#2")
    plug.answer = Answer(TASMOTA.replace('"Power":187', '"Power":[10,187]'))
    with pytest.raises(MeterError, match="SetOption129"):
        switch.energy_wh()
    split = TASMOTA.replace('"Power":187', '"Power":[10,187]').replace('"Total":3.705', '"Total":[1.2,2.505]')
    plug.answer = Answer(split)
    assert switch.energy_wh() == 2505
    switch.close()


@pytest.mark.parametrize(("channel", "answer"), [("", "POWER"), ("", "POWER1"), ("#1", "POWER"), ("#2", "POWER2")])
def test_a_tasmota_is_switched_however_it_numbers_its_outlets(plug, channel, answer):
    switch = open_switch(f"tasmota:{plug.address}{channel}")
    plug.answer = Answer(json.dumps({answer: "ON"}))
    switch.turn_on()
    assert switch.is_on()
    switch.close()


@pytest.mark.parametrize(("state", "unit", "watts"), [("312.4", "W", 312.4), ("1.5", "kW", 1500), ("3e5", "mW", 300)])
def test_home_assistant_is_read_in_its_own_unit(plug, opened, state, unit, watts):
    plug.answer = Answer(HOME_ASSISTANT % (state, unit, 39), headers=DATE)
    assert opened(f"home_assistant:{plug.address}#sensor.desk_power", "token").read_w() == pytest.approx(watts)
    assert plug.asked[0][0] == "/api/states/sensor.desk_power"
    assert plug.asked[0][2]["Authorization"] == "Bearer token"


def test_a_token_of_home_assistant_that_no_header_can_carry_is_refused(plug, opened):
    with pytest.raises(UsageError, match="access token"):
        opened(f"home_assistant:{plug.address}#sensor.desk_power", "tokén")


@pytest.mark.parametrize(
    ("state", "unit", "words"),
    [
        ("unavailable", "W", "'unavailable' at present"),
        ("unknown", "W", "'unknown'"),
        ("nan", "W", "nan"),
        ("3.7", "kWh", "kWh"),
        ("3.7", "°C", "unit is W"),
    ],
)
def test_home_assistant_without_a_power_says_so(plug, opened, state, unit, words):
    plug.answer = Answer(HOME_ASSISTANT % (state, unit, 39), headers=DATE)
    with pytest.raises(MeterError, match=words):
        opened(f"home_assistant:{plug.address}#sensor.desk_power", "token").read_w()


def test_one_report_of_home_assistant_is_one_reading(plug, opened):
    meter = opened(f"home_assistant:{plug.address}#sensor.desk_power", "token")
    plug.answer = Answer(HOME_ASSISTANT % ("300", "W", 38), headers=DATE)
    assert meter.read_w() == 300
    with pytest.raises(MeterError, match="no new report"):
        meter.read_w()
    plug.answer = Answer(HOME_ASSISTANT % ("300", "W", 39), headers=DATE)
    assert meter.read_w() == 300


def test_an_old_report_of_home_assistant_is_not_the_power_now(plug, opened):
    plug.answer = Answer(HOME_ASSISTANT % ("300", "W", 20), headers=DATE)
    with pytest.raises(MeterError, match="20 s ago"):
        opened(f"home_assistant:{plug.address}#sensor.desk_power", "token").read_w()


def test_1500_watts_are_kept(plug, opened):
    plug.answer = Answer(SHELLY.replace("312.4", "1500.0"))
    assert opened(f"shelly:{plug.address}").read_w() == 1500


@pytest.mark.parametrize("power", ["0", "0.0", "-3", "null", "NaN", "Infinity", "true", '"312"', "[]"])
def test_what_is_no_power_of_a_running_machine_is_no_reading(plug, opened, power):
    plug.answer = Answer(SHELLY.replace("312.4", power))
    with pytest.raises(MeterError):
        opened(f"shelly:{plug.address}").read_w()


@pytest.mark.parametrize("body", ["", SHELLY[:70], "<html>Login</html>", "[1]", "null", '{"StatusSNS":[]}'])
@pytest.mark.parametrize("kind", ["shelly", "tasmota", "home_assistant"])
def test_a_broken_answer_is_an_error_in_words(plug, opened, body, kind):
    plug.answer = Answer(body)
    with pytest.raises(MeterError):
        opened(f"{kind}:{plug.address}#1", "token").read_w()


@pytest.mark.parametrize(
    ("status", "words"), [(403, "refused"), (404, "knows no such path"), (500, "500"), (302, "302")]
)
def test_a_refusal_is_an_error_in_words(plug, opened, status, words):
    plug.answer = Answer(status=status)
    with pytest.raises(MeterError, match=words):
        opened(f"shelly:{plug.address}").read_w()


def test_a_plug_that_is_not_there_is_an_error_in_words(plug, opened):
    address = plug.address
    plug.close()
    with pytest.raises(MeterError, match="cannot be reached"):
        opened(f"shelly:{address}").read_w()
    plug.close = lambda: None


@pytest.mark.parametrize("answer", [Answer(SHELLY, wait_s=1), Answer(SHELLY, trickle_s=0.02)])
def test_a_plug_that_does_not_finish_in_time_is_given_up(plug, answer):
    plug.answer = answer
    http = PlugHttp(plug.address, limit_s=0.2)
    begun_s = time.perf_counter()
    with pytest.raises(MeterError, match="in time"):
        http.get_json("/rpc/Switch.GetStatus")
    assert time.perf_counter() - begun_s < 0.8
    http.close()


@pytest.mark.parametrize("spec", ["", "shelly", "shelly:", "shelli:10.0.0.1", "10.0.0.1", "shelly:#1"])
def test_an_unreadable_plug_is_refused_with_an_example(spec):
    with pytest.raises(UsageError, match="shelly:192"):
        open_wall_meter(spec)


@pytest.mark.parametrize(
    ("spec", "secret"), [("home_assistant:ha:8123", "t"), ("home_assistant:ha:8123#sensor.a", None)]
)
def test_home_assistant_needs_a_sensor_and_a_token(spec, secret):
    with pytest.raises(UsageError, match="token"):
        open_wall_meter(spec, secret)


class FakeKasa:
    """Stands where the module `kasa` stood."""

    class KasaException(Exception):
        pass

    Module = SimpleNamespace(Energy="Energy")

    def __init__(self, watts=42.5, modules=True, children=()):
        self.Device = self.Discover = self
        self.children = children
        self.is_on = True
        self.energy = SimpleNamespace(current_consumption=watts)
        self.modules = {"Energy": self.energy} if modules else {}
        self.calls = []
        self.fails = None

    async def connect(self, *, host):
        self.calls.append(("connect", host))
        return self

    async def discover_single(self, host, *, username, password):
        self.calls.append(("discover", host, username, password))
        return self if password == "right" else None

    async def turn_off(self):
        self.is_on = False

    async def update(self):
        self.calls.append(("update",))
        if self.fails:
            raise self.fails

    async def disconnect(self):
        self.calls.append(("disconnect",))


@pytest.fixture
def install_kasa(monkeypatch):
    def install(fake):
        monkeypatch.setattr(kasa, "_kasa", lambda: fake)
        return fake

    return install


def test_a_kasa_plug_is_connected_once_and_read_often(install_kasa, opened):
    fake = install_kasa(FakeKasa())
    meter = opened("kasa:10.0.0.7")
    assert [meter.read_w(), meter.read_w()] == [42.5, 42.5]
    meter.close()
    assert fake.calls == [("connect", "10.0.0.7"), ("update",), ("update",), ("disconnect",)]
    meter.close = lambda: None


def test_a_tapo_plug_is_found_with_the_accounts_password(install_kasa, opened):
    fake = install_kasa(FakeKasa())
    assert opened("kasa:10.0.0.7", "me@example.org:right").read_w() == 42.5
    assert fake.calls[0] == ("discover", "10.0.0.7", "me@example.org", "right")
    with pytest.raises(MeterError, match="no Kasa or Tapo plug"):
        opened("kasa:10.0.0.7", "me@example.org:wrong").read_w()


@pytest.mark.parametrize("error", [FakeKasa.KasaException("gone"), TimeoutError(), OSError("no route")])
def test_a_kasa_plug_that_was_lost_is_connected_anew(install_kasa, opened, error):
    fake = install_kasa(FakeKasa())
    meter = opened("kasa:10.0.0.7")
    fake.fails = error
    with pytest.raises(MeterError):
        meter.read_w()
    fake.fails = None
    assert meter.read_w() == 42.5
    assert [call[0] for call in fake.calls].count("connect") == 2


def test_a_kasa_plug_without_a_meter_says_so(install_kasa, opened):
    install_kasa(FakeKasa(modules=False))
    with pytest.raises(MeterError, match="no energy meter"):
        opened("kasa:10.0.0.7").read_w()


def test_of_a_kasa_strip_the_named_outlet_alone_is_read_and_switched(install_kasa, opened):
    outlets = [FakeKasa(10), FakeKasa(187.5)]
    install_kasa(FakeKasa(197.5, children=outlets))
    assert opened("kasa:10.0.0.7#2").read_w() == 187.5
    switch = open_switch("kasa:10.0.0.7#2")
    switch.turn_off()
    assert [outlet.is_on for outlet in outlets] == [True, False]
    assert not switch.is_on()
    switch.close()


@pytest.mark.parametrize("channel", ["", "#0", "#3", "#x"])
def test_a_kasa_strip_is_never_read_or_switched_as_a_whole(install_kasa, channel):
    strip = install_kasa(FakeKasa(197.5, children=[FakeKasa(10), FakeKasa(187.5)]))
    switch = open_switch(f"kasa:10.0.0.7{channel}")
    for ask in (switch.turn_off, switch.is_on, switch.energy_wh):
        with pytest.raises(MeterError, match="2 outlets"):
            ask()
    assert strip.is_on
    switch.close()


def test_kasa_without_its_extra_names_it(monkeypatch):
    def missing():
        raise ImportError("No module named 'kasa'")

    monkeypatch.setattr(kasa, "_kasa", missing)
    with pytest.raises(MeterUnavailable, match=r"\[plugs\]"):
        open_wall_meter("kasa:10.0.0.7")
