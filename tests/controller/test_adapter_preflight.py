"""What would make a job fail tonight is said this afternoon, in seconds."""

import sys
import time
from http.server import BaseHTTPRequestHandler

import pytest
from asyncenergy_controller.adapters import preflight

from .fake_engine import VLLM, fake_engine, on_loopback
from .fake_ollama import TAGS
from .fake_switches import fake_switch
from .jobs_running import entry_of


def said(framework, **request):
    return preflight(entry_of(framework, **request))


def program(folder, mode=0o755):
    path = folder / "job.sh"
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


@pytest.mark.parametrize("command", [["true"], ["./job.sh"], ["sub/../job.sh"]])
def test_a_program_that_is_there_is_no_problem(tmp_path, command):
    program(tmp_path)
    (tmp_path / "sub").mkdir()
    assert said("command", command=command, cwd=tmp_path) == []


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"command": ["no-such-program"]}, "no-such-program is no program"),
        ({"command": ["./job.sh"]}, "./job.sh is no program"),
        ({"command": ["~/job.sh"]}, "~/job.sh is no program"),
        ({"command": ["true"], "cwd": "/no/such/folder"}, "cwd /no/such/folder is no folder"),
        ({"command": ["true"], "cwd": "/etc/passwd"}, "is no folder"),
        ({"command": ["true"], "env": {"PATH": "/nowhere"}}, "true is no program"),
    ],
)
def test_a_program_or_a_folder_that_is_missing_is_said(tmp_path, request_, words):
    program(tmp_path, 0o644)
    (problem,) = said("command", **{"cwd": tmp_path} | request_)
    assert words in problem


@pytest.fixture
def ollama():
    with fake_engine(pages=TAGS) as fake:
        yield fake


@pytest.fixture
def vllm():
    with fake_engine(pages=VLLM) as fake:
        yield fake


def test_an_engine_that_has_the_model_is_no_problem(ollama, vllm):
    assert said("ollama", base_url=ollama.url, model="qwen3.5:9b", prompt="x") == []
    assert said("openai", base_url=vllm.url, model="small", prompt="x") == []
    assert said("openai", base_url=vllm.url, prompt="x") == []


def test_no_question_is_asked(ollama, vllm):
    said("ollama", base_url=ollama.url, model="qwen3.5:9b", prompt="x")
    said("openai", base_url=vllm.url, prompt="x")
    assert ollama.asked + vllm.asked == []


def test_a_model_that_is_missing_is_said_with_those_that_are_there(ollama, vllm):
    (problem,) = said("ollama", base_url=ollama.url, model="llama", prompt="x")
    assert "does not have the model 'llama'; it has smollm2:135m, qwen3.5:9b" in problem
    (problem,) = said("openai", base_url=vllm.url, model="llama", prompt="x")
    assert "does not have the model 'llama'; it has small" in problem


def test_a_model_that_ollama_knows_as_latest_is_there(ollama):
    ollama.pages = {"/api/tags": {"models": [{"name": "llama:latest"}]}}
    assert said("ollama", base_url=ollama.url, model="llama", prompt="x") == []


def test_a_prompt_and_an_engine_are_both_looked_at(tmp_path):
    missing = tmp_path / "prompt.txt"
    problems = said("ollama", base_url="http://127.0.0.1:9", model="m", prompt_file=missing)
    assert f"prompt_file {missing} can't be read" in problems[0]
    assert "No engine answers" in problems[1]


@pytest.mark.parametrize("name", ["file/answer", "file/new/answer", "folder"])
def test_an_output_that_cannot_be_written_is_said(ollama, tmp_path, name):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    path = tmp_path / name
    (problem,) = said("ollama", base_url=ollama.url, model="qwen3.5:9b", prompt="x", output_file=path)
    assert f"output_file {path} can't be written" in problem


def test_an_output_in_a_folder_that_is_still_to_be_made_is_no_problem(ollama, tmp_path):
    path = tmp_path / "new" / "folder" / "answer"
    assert said("ollama", base_url=ollama.url, model="qwen3.5:9b", prompt="x", output_file=path) == []


class Silent(BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(3)

    def log_message(self, *_):
        pass


@pytest.mark.parametrize("framework", ["ollama", "openai"])
def test_an_engine_that_says_nothing_is_given_up_in_seconds(framework, monkeypatch):
    for module in ("adapters.preflight", "engine.client"):
        monkeypatch.setattr(sys.modules[f"asyncenergy_controller.{module}"], "PROBE_LIMIT_S", 0.2)
    with on_loopback(Silent) as url:
        begun_s = time.monotonic()
        (problem,) = said(framework, base_url=url, model="m", prompt="x")
        assert "no answer within" in problem
        assert time.monotonic() - begun_s < 2.5


def test_a_plug_that_answers_is_no_problem_and_is_not_switched():
    with fake_switch() as fake:
        assert said("charge", switch=f"shelly:{fake.address}", until_wh=5) == []
        assert fake.turned() == []


def test_a_plug_without_a_counter_is_a_problem_for_an_amount_alone():
    with fake_switch() as fake:
        fake.counter_wh = None
        assert said("charge", switch=f"shelly:{fake.address}", hold_s=5) == []
        (problem,) = said("charge", switch=f"shelly:{fake.address}", until_wh=5)
        assert "energy counter" in problem


@pytest.mark.parametrize(
    ("switch", "words"),
    [
        ("shelly:127.0.0.1:9", "cannot be reached"),
        ("lamp:x", "must be KIND"),
        ("home_assistant:127.0.0.1:9#a", "token"),
    ],
)
def test_a_plug_that_is_not_there_is_said(switch, words):
    (problem,) = said("charge", switch=switch, hold_s=5)
    assert words in problem
