"""A prompt is what its file holds when the job runs; never is an empty one asked."""

import os

import pytest
from asyncenergy_controller.adapters.prompts import prompt_of
from asyncenergy_controller.errors import UsageError

from .fake_engine import fake_engine
from .fake_ollama import TAGS, whole
from .jobs_running import Runner, entry_of

FRAMEWORKS = ["ollama", "openai"]
UNUSABLE = {
    "missing": (lambda path: None, "No such file"),
    "empty": (lambda path: path.write_bytes(b""), "empty"),
    "blank": (lambda path: path.write_bytes(b" \n\t\r\n"), "empty"),
    "a mark alone": (lambda path: path.write_bytes(b"\xef\xbb\xbf"), "empty"),
    "no UTF-8": (lambda path: path.write_bytes(b"caf\xe9"), "no UTF-8 text: byte 3"),
    "a folder": (lambda path: path.mkdir(), "no plain file"),
    "a pipe": (os.mkfifo, "no plain file"),
    "huge": (lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), (16 << 20) + 1), "larger than 16 MiB"),
}


@pytest.fixture
def engine():
    with fake_engine(whole("fine"), pages=TAGS) as fake:
        yield fake


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize(("make", "words"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_file_that_cannot_be_used_fails_the_job_and_nothing_is_asked(tmp_path, engine, framework, make, words):
    path = tmp_path / "prompt.txt"
    make(path)
    failed = Runner(tmp_path).run(framework, model="m", prompt_file=path, base_url=engine.url)
    assert failed.exit_status == "error"
    assert words in failed.detail
    assert failed.work_units is None
    assert engine.asked == []


def test_a_file_is_read_when_the_job_runs(tmp_path):
    path = tmp_path / "prompt.txt"
    request = entry_of("ollama", model="m", prompt_file=path).request
    path.write_text("Hyvää yötä", encoding="utf-8")
    assert prompt_of(request) == "Hyvää yötä"
    path.write_bytes(b"\xef\xbb\xbfwith a mark\r\n")
    assert prompt_of(request) == "with a mark\r\n"


def test_a_blank_prompt_in_the_entry_fails_as_well():
    with pytest.raises(UsageError, match="empty"):
        prompt_of(entry_of("ollama", model="m", prompt=" \n").request)
