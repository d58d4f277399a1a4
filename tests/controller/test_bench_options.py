"""Options of `bench`: what can't be measured or shared is refused at once, with a sentence, and nothing is run."""

import json

import pytest
from asyncenergy_controller.errors import ExitCode


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (("sweep", "--caps", "1.2"), "--caps"),
        (("sweep", "--caps", "0.85,inf"), "--caps"),
        (("sweep", "--clocks", "0.3", "--allow-clock-lock"), "--clocks"),
        (("sweep", "--clocks", "inf", "--allow-clock-lock"), "--clocks"),
        (("run", "--n-shot", "100"), "--n-shot"),
        (("run", "--temperature", "nan"), "--temperature"),
        (("run", "--temperature", "inf"), "--temperature"),
        (("smoke", "--time-limit", "nan"), "--time-limit"),
        (("smoke", "--time-limit", "inf"), "--time-limit"),
        (("run", "--reasoning-effort", "very high"), "--reasoning-effort"),
        (("run", "--set", "path=/home/me/model"), "--set"),
        (("run", "--set", "cuda_graphs=a b"), "--set cuda_graphs"),
        (("run", "--set", "kv_cache=8"), "--set kv_cache"),
        (("run", "--set", "a b=1"), "--set"),
        (("run", "--set", "ø=1"), "--set"),
    ],
)
def test_what_cannot_be_measured_or_shared_is_refused_before_anything_runs(box, engine, args, named):
    result = box.run("bench", *args)
    assert result.exit_code == ExitCode.USAGE
    assert named in result.stderr
    assert (engine.asked, box.store.all()) == ([], [])


@pytest.mark.parametrize(
    "choice", [("--items", "small"), ("--concurrency", 8), ("--max-tokens", 8), ("--seed", 7)], ids=lambda one: one[0]
)
def test_the_reference_suite_is_the_same_everywhere(box, engine, choice):
    result = box.run("bench", "reference", *choice)
    assert result.exit_code == ExitCode.USAGE
    assert f"takes no {choice[0]}" in result.stderr
    assert (engine.asked, box.store.all()) == ([], [])


def test_settings_are_kept_in_the_bundle_as_they_were_given(box):
    given = ("--set", "kv_cache=q8_0", "--set", "cuda_graphs=true", "--set", "batch=512", "--set", "rope=nan")
    assert box.run("bench", "run", "--items", 2, *given, "--reasoning-effort", "low").exit_code == 0
    (run,) = json.loads(box.last.bundle_path.read_text())["runs"]
    kept = {name: run["settings"][name] for name in ("kv_cache", "cuda_graphs", "extra", "reasoning_effort")}
    assert kept == {
        "kv_cache": "q8_0",
        "cuda_graphs": True,
        "extra": {"batch": 512.0, "rope": "nan"},
        "reasoning_effort": "low",
    }
