"""One question to an OpenAI-compatible server, with the client that the benchmark uses."""

import time

import psutil
import pytest
from asyncenergy_controller.adapters.outcome import Outcome

from .bench_cli import wait_for
from .fake_engine import VLLM, fake_engine, hanging, refusing, streamed, whole
from .jobs_running import Runner

ASKED = {"model": "small", "prompt": "Good night?"}


@pytest.fixture
def engine():
    with fake_engine(streamed("Good ", "night"), pages=VLLM) as fake:
        yield fake


@pytest.fixture
def runner(tmp_path):
    return Runner(tmp_path)


@pytest.mark.parametrize("answer", [streamed("Good ", "night"), whole("Good night")], ids=["streamed", "in one piece"])
@pytest.mark.parametrize("end", ["", "/v1", "/v1/"])
def test_the_tokens_that_it_generated_are_the_work(engine, runner, answer, end):
    engine.answer = answer
    outcome = runner.run("openai", base_url=engine.url + end, **ASKED)
    assert outcome == Outcome("success", work_units=3.0, work_unit_kind="tokens")
    assert runner.log.read_text() == "Good night\n"


def test_it_is_asked_as_the_file_says(engine, runner):
    more = {"max_tokens": 12, "temperature": 0.5, "top_p": 0.9, "n": 2, "seed": 3, "stop": ["END"]}
    runner.run("openai", base_url=engine.url, stream=False, system="Be brief.", **ASKED, **more)
    (body,) = engine.asked
    assert {name: body[name] for name in more} == more
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Good night?"},
    ]
    assert (body["model"], body["stream"]) == ("small", False)


def test_a_whole_conversation_may_be_given(engine, runner):
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    runner.run("openai", base_url=engine.url, messages=messages)
    assert engine.asked[0]["messages"] == messages


def test_without_a_model_the_one_that_is_served_is_asked(engine, runner):
    runner.run("openai", base_url=engine.url, prompt="x")
    assert engine.asked[0]["model"] == "small"


def test_the_answer_is_put_into_a_file(engine, runner):
    runner.run("openai", base_url=engine.url, output_file=runner.folder / "answer.txt", **ASKED)
    assert (runner.folder / "answer.txt").read_text() == "Good night"


FAILURES = {
    "the model": (refusing(404, "The model `small` does not exist."), "does not serve the model 'small'"),
    "the key": (refusing(401, "Incorrect API key"), "wants an API key"),
    "itself": (refusing(500, "out of memory"), "out of memory"),
    "cut off": (streamed("a", finish=None, done=False), "ended before the answer did"),
    "broken off": (whole("half an ans", finish="error"), "broke its answer off"),
    "nothing": (whole("", usage={"completion_tokens": 0}), "answered nothing"),
}


@pytest.mark.parametrize(("answer", "words"), FAILURES.values(), ids=FAILURES)
def test_a_failure_is_said_in_its_own_words(engine, runner, answer, words):
    engine.answer = answer
    failed = runner.run("openai", base_url=engine.url, limit_s=5, **ASKED)
    assert (failed.exit_status, failed.work_units) == ("error", None)
    assert words in failed.detail


def test_no_key_gets_into_the_log_or_a_message(engine, runner):
    engine.answer = refusing(401, "Incorrect API key")
    failed = runner.run("openai", base_url=engine.url, api_key="sk-secret", **ASKED)
    assert "sk-secret" not in failed.detail + runner.log.read_text()


SLOW = {
    "before it begins": hanging(3),
    "while it answers": streamed(*"slowly" * 100, gap_s=0.05),
}


@pytest.mark.parametrize("answer", SLOW.values(), ids=SLOW)
@pytest.mark.parametrize(("given", "status"), [({"limit_s": 0.8}, "error"), ({"stop_after_s": 0.8}, "preempted")])
def test_it_is_broken_off_when_its_time_is_over_or_it_is_interrupted(engine, runner, answer, given, status):
    engine.answer = answer
    begun_s = time.monotonic()
    assert runner.run("openai", base_url=engine.url, **given, **ASKED).exit_status == status
    assert time.monotonic() - begun_s < 2.5
    assert len(engine.asked) == 1


def test_no_handle_is_left(engine, runner):
    engine.answer = hanging(0.3)
    before = connections()
    for _ in range(3):
        runner.run("openai", base_url=engine.url, limit_s=0.1, **ASKED)
    wait_for(lambda: connections() <= before)  # the fake's own ends close a little later


def connections():
    return len(psutil.Process().net_connections("tcp"))
