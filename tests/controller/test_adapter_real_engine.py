"""A question of jobs.json to a real llama.cpp server with a real model (run with `pytest -m engine`)."""

import time

import pytest
from asyncenergy_controller.adapters import preflight
from asyncenergy_controller.engine.embedded import embedded_engine

from .jobs_running import Runner, entry_of

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def url():
    with embedded_engine(threads=1) as ready:
        yield ready["url"]


@pytest.fixture
def runner(tmp_path):
    return Runner(tmp_path)


@pytest.mark.parametrize("stream", [True, False])
def test_its_answer_and_its_tokens_are_the_work(url, runner, stream):
    outcome = runner.run("openai", base_url=url, prompt="Name three colours.", max_tokens=16, stream=stream)
    assert outcome.exit_status == "success"
    assert 8 <= outcome.work_units <= 16
    assert len(runner.log.read_text()) > 20


def test_it_is_ready_and_says_which_model_it_does_not_have(url):
    assert preflight(entry_of("openai", base_url=url, prompt="x")) == []
    (problem,) = preflight(entry_of("openai", base_url=url, prompt="x", model="llama-405b"))
    assert "does not have the model 'llama-405b'" in problem


@pytest.mark.parametrize("stream", [True, False])
def test_an_interrupted_question_leaves_the_engine_free(url, runner, stream):
    begun_s = time.monotonic()
    told = {"prompt": "Write a very long story about a lighthouse.", "max_tokens": 3000, "stream": stream}
    outcome = runner.run("openai", base_url=url, stop_after_s=0.5, **told)
    assert outcome.exit_status == "preempted"
    assert time.monotonic() - begun_s < 2
    runner.stop.clear()
    answer = runner.run("openai", base_url=url, prompt="Name three colours.", max_tokens=8, limit_s=10)
    assert answer.exit_status == "success"
