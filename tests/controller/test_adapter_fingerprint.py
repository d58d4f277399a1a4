"""The fingerprint stands for what a job costs: the same from night to night, and nobody learns the job from it."""

import re

import pytest
from asyncenergy_controller.adapters import fingerprint

from .jobs_running import entry_of

SALT = b"this machine's"
ASKED = {"model": "m", "prompt": "tonight"}


def of(framework, salt=SALT, **request):
    return fingerprint(entry_of(framework, **request), salt)


@pytest.mark.parametrize(
    ("tonight", "tomorrow"),
    [
        (["a.py", "--date", "2026-01-10"], ["a.py", "--date", "2026-01-11"]),
        (["a.py", "--since=2026-01-10T03:00:00Z"], ["a.py", "--since=2026-01-11T03:15:00Z"]),
        (["a.py", "out-20260110.csv"], ["a.py", "out-20260111.csv"]),
        (["a.py", "--seed", "7"], ["a.py", "--seed", "8"]),
        (["a.py", "--random-seed=7"], ["a.py", "--random-seed=8"]),
        (["a.py", "/tmp/tmpab12/x"], ["a.py", "/tmp/tmpzz99/x"]),
        (["a.py", "--at", "1790000000"], ["a.py", "--at", "1790086400"]),
        (
            ["a.py", "--run", "2bac93f6-8d99-43ce-93ad-b64a8b0e603c"],
            ["a.py", "--run", "7d6f7f0e-3f7c-4a53-8d27-7a1f9e4c1b11"],
        ),
        (["/usr/bin/python", "a.py"], ["/opt/python/bin/python", "a.py"]),
    ],
)
def test_what_changes_from_night_to_night_is_left_out(tonight, tomorrow):
    tonight, tomorrow = (words if words[0] != "a.py" else ["python", *words] for words in (tonight, tomorrow))
    assert of("command", command=tonight) == of("command", command=tomorrow)


@pytest.mark.parametrize(
    "other", [["python", "b.py"], ["python", "a.py", "--epochs", "20"], ["python", "a.py", "--epochs", "10", "-v"]]
)
def test_what_costs_otherwise_has_another_one(other):
    assert of("command", command=other) != of("command", command=["python", "a.py", "--epochs", "10"])


def test_what_the_owner_names_as_cost_belongs_to_it():
    assert of("command", command=["a"], cost_features={"pages": 10}) != of("command", command=["a"])
    assert of("command", command=["a"], work_units=5) == of("command", command=["a"])


def test_folder_environment_and_time_limit_are_left_out():
    plain = of("command", command=["a"])
    assert of("command", command=["a"], cwd="/tmp", env={"TOKEN": "x"}, timeout=5) == plain


def test_a_model_is_told_apart_and_its_prompt_is_not():
    plain = of("ollama", **ASKED)
    assert of("ollama", model="m", prompt="tomorrow", base_url="http://other") == plain
    assert of("ollama", **ASKED, options={"seed": 3, "temperature": 1}) == plain
    assert of("ollama", **ASKED, options={"num_predict": 3}) != plain
    assert of("ollama", model="n", prompt="tonight") != plain


def test_the_longest_answer_belongs_to_the_cost():
    common = {"base_url": "http://x", **ASKED}
    assert of("openai", **common, temperature=1.0) == of("openai", **common)
    assert of("openai", **common, max_tokens=10) != of("openai", **common)


def test_a_charge_is_its_amount():
    assert of("charge", switch="shelly:a", hold_s=60) == of("charge", switch="shelly:b", hold_s=60, secret="x")
    assert of("charge", switch="shelly:a", hold_s=60) != of("charge", switch="shelly:a", until_wh=60)


def test_frameworks_are_told_apart():
    assert of("ollama", **ASKED) != of("openai", base_url="http://x", **ASKED)


def test_only_who_has_the_salt_could_try_which_command_it_is():
    assert re.fullmatch("[0-9a-f]{32}", of("command", command=["a"]))
    assert of("command", command=["a"]) != of("command", salt=b"another machine's", command=["a"])
