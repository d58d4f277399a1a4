"""Whatever an engine or a plug answers, a job ends in one of our words, and no error of ours escapes."""

import json
from contextlib import suppress

import pytest
from asyncenergy_controller.errors import MeterError
from asyncenergy_controller.meters.plugs.select import open_switch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .fake_engine import OLLAMA, VLLM, fake_engine
from .fakes_plugs import Answer, FakePlug
from .jobs_running import Runner

KEYS = [
    *("choices", "delta", "message", "content", "usage", "completion_tokens", "finish_reason"),
    *("response", "done", "error", "eval_count"),
    *("output", "aenergy", "total", "StatusSNS", "ENERGY", "Total", "POWER", "state", "attributes"),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10) | st.text(max_size=5) | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=8,
)
LINES = st.lists(
    st.one_of(
        JSON.map(lambda value: json.dumps(value).encode()),
        JSON.map(lambda value: b"data: " + json.dumps(value).encode()),
        st.binary(max_size=20),
        st.just(b"data: [DONE]"),
    ),
    max_size=6,
)
KINDS = st.sampled_from(["application/json", "text/event-stream", "text/html", "application/x-ndjson"])
FEW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def engine():
    with fake_engine() as fake:
        yield fake


@pytest.mark.parametrize(("framework", "pages"), [("ollama", OLLAMA), ("openai", VLLM)])
@FEW
@given(LINES, KINDS, st.sampled_from([200, 200, 404, 500]), st.sampled_from([b"\n", b"\n\n"]))
def test_any_answer_of_an_engine_is_a_success_or_a_failure(
    tmp_path, engine, framework, pages, lines, kind, status, gap
):
    def answer(handler, body):
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(gap.join(lines))
        handler.close_connection = True

    engine.answer, engine.pages = answer, pages
    outcome = Runner(tmp_path).run(framework, model="small", prompt="x", base_url=engine.url, limit_s=5)
    assert outcome.exit_status in ("success", "error")
    assert (outcome.work_units is None) == (outcome.work_unit_kind is None)


@pytest.fixture(scope="module")
def plug():
    fake = FakePlug()
    yield fake
    fake.close()


@pytest.mark.parametrize("spec", ["shelly:{}", "tasmota:{}#1", "home_assistant:{}#switch.a"])
@FEW
@given(JSON.map(json.dumps) | st.text(max_size=10), st.sampled_from([200, 200, 401, 500]))
def test_any_answer_of_a_plug_is_a_reading_or_an_error_in_words(plug, spec, body, status):
    plug.answer = Answer(body, status=status)
    switch = open_switch(spec.format(plug.address), "token", "sensor.energy")
    for ask, kind in ((switch.is_on, bool), (switch.energy_wh, float)):
        with suppress(MeterError):
            assert isinstance(ask(), kind)
    switch.close()
