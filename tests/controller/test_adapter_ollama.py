"""One question to Ollama: its whole answer, the tokens it counted, and an end in time whatever it does."""

import threading
import time
from functools import partial

import pytest
from asyncenergy_controller.adapters import ollama
from asyncenergy_controller.adapters.outcome import Outcome
from asyncenergy_controller.engine.transport import TimeLimitedTransport

from .fake_engine import fake_engine, hanging, send_json, start_stream
from .fake_ollama import TAGS, failing_half_way, in_pieces, send_line, whole
from .jobs_running import Runner

ASKED = {"model": "smollm2:135m", "prompt": "Good night?"}


@pytest.fixture
def engine():
    with fake_engine(in_pieces("Good ", "night", "!"), pages=TAGS) as fake:
        yield fake


@pytest.fixture
def runner(tmp_path):
    return Runner(tmp_path)


@pytest.mark.parametrize(
    "answer", [in_pieces("Good ", "night", "!"), whole("Good night!")], ids=["streamed", "in one piece"]
)
def test_the_tokens_that_it_generated_are_the_work(engine, runner, answer):
    engine.answer = answer
    outcome = runner.run("ollama", base_url=engine.url, **ASKED)
    assert outcome == Outcome("success", work_units=3.0, work_unit_kind="tokens")
    assert runner.log.read_text() == "Good night!\n"


def test_it_is_asked_as_the_file_says(engine, runner):
    more = {"system": "Be brief.", "options": {"num_ctx": 2048, "seed": 7}, "think": False, "keep_alive": "10m"}
    runner.run("ollama", base_url=engine.url, stream=False, **ASKED, **more)
    assert engine.asked == [ASKED | more | {"stream": False}]


def test_nothing_is_sent_that_was_not_said(engine, runner):
    runner.run("ollama", base_url=f"{engine.url}/", **ASKED)
    assert engine.asked == [ASKED | {"stream": True, "options": {}}]


@pytest.mark.parametrize("system", [None, "Be brief."])
def test_a_whole_conversation_may_be_given(engine, runner, system):
    def answer(handler, body):
        start_stream(handler)
        send_line(handler, '{"message": {"role": "assistant", "content": "Good"}, "done": false}')
        send_line(handler, '{"message": {"content": " night"}, "done": true, "eval_count": 2}')

    engine.answer = answer
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    outcome = runner.run("ollama", base_url=engine.url, model="m", messages=messages, system=system)
    assert outcome == Outcome("success", work_units=2.0, work_unit_kind="tokens")
    assert runner.log.read_text() == "Good night\n"
    first = [{"role": "system", "content": system}] if system else []
    assert engine.asked == [{"model": "m", "messages": first + messages, "stream": True, "options": {}}]


def test_the_answer_is_put_into_a_file_whole(engine, runner):
    output = runner.folder / "out" / "answer.txt"
    engine.answer = in_pieces(*["ö" * 1000] * 3000)
    assert runner.run("ollama", base_url=engine.url, output_file=output, **ASKED).exit_status == "success"
    assert output.read_text() == "ö" * 3_000_000
    assert runner.log.stat().st_size < 1.1 * 2**20


def test_a_file_that_cannot_be_written_is_a_failure(engine, runner):
    failed = runner.run("ollama", base_url=engine.url, output_file="/proc/answer.txt", **ASKED)
    assert failed.exit_status == "error"


def test_without_a_count_the_work_is_unknown_and_not_nought(engine, runner):
    engine.answer = in_pieces("hello", counts={"done": True})
    assert runner.run("ollama", base_url=engine.url, **ASKED) == Outcome("success")


def test_an_answer_of_nothing_is_a_failure(engine, runner):
    engine.answer = in_pieces(counts={"done": True, "eval_count": 0})
    assert runner.run("ollama", base_url=engine.url, **ASKED) == Outcome("error", "the engine answered nothing")


def refused(status, message):
    return lambda handler, body: send_json(handler, status, {"error": message})


def no_json(handler, body):
    start_stream(handler)
    send_line(handler, "<html>")


FAILURES = {
    "no such model": (refused(404, "model 'smollm2:135m' not found"), "does not serve the model 'smollm2:135m'"),
    "its own failure": (refused(500, "llama runner process has terminated"), "llama runner process has terminated"),
    "half way": (failing_half_way, "CUDA error"),
    "cut off": (in_pieces("a", done=False), "ended before the answer did"),
    "no JSON": (no_json, "no JSON"),
}


@pytest.mark.parametrize(("answer", "words"), FAILURES.values(), ids=FAILURES)
def test_a_failure_is_said_in_its_own_words(engine, runner, answer, words):
    engine.answer = answer
    failed = runner.run("ollama", base_url=engine.url, limit_s=5, **ASKED)
    assert (failed.exit_status, failed.work_units) == ("error", None)
    assert words in failed.detail
    assert words in runner.log.read_text()


def test_an_engine_that_is_not_there_is_a_failure(runner):
    failed = runner.run("ollama", base_url="http://127.0.0.1:9", **ASKED)
    assert "No engine answers at http://127.0.0.1:9" in failed.detail


SLOW = {
    "before it begins": hanging(3),
    "while it answers": in_pieces(*"slowly" * 100, gap_s=0.05),
}


@pytest.mark.parametrize("answer", SLOW.values(), ids=SLOW)
def test_at_the_end_of_its_time_the_question_is_broken_off(engine, runner, answer):
    engine.answer = answer
    begun_s = time.monotonic()
    over = runner.run("ollama", base_url=engine.url, limit_s=0.3, **ASKED)
    assert over == Outcome("error", "ended because its time was over before the answer was complete")
    assert time.monotonic() - begun_s < 2.5


@pytest.mark.parametrize("answer", SLOW.values(), ids=SLOW)
def test_an_interrupted_question_is_broken_off_at_once(engine, runner, answer):
    engine.answer = answer
    begun_s = time.monotonic()
    assert runner.run("ollama", base_url=engine.url, stop_after_s=0.2, **ASKED).exit_status == "preempted"
    assert time.monotonic() - begun_s < 2.5


def test_the_engine_notices_that_it_was_broken_off(engine, runner):
    gone = threading.Event()

    def endless(handler, body):
        try:
            in_pieces(*"x" * 1000, gap_s=0.02)(handler, body)
        except OSError:
            gone.set()

    engine.answer = endless
    runner.run("ollama", base_url=engine.url, stop_after_s=0.2, **ASKED)
    assert gone.wait(5)


def test_an_answer_without_end_is_given_up(engine, runner, monkeypatch):
    monkeypatch.setattr(ollama, "TimeLimitedTransport", partial(TimeLimitedTransport, most_bytes=10_000))
    engine.answer = in_pieces(*["x" * 1000] * 50)
    failed = runner.run("ollama", base_url=engine.url, **ASKED)
    assert failed.exit_status == "error"
