"""The named suites from the command line, on data sets in a folder."""

import json

import pytest
from asyncenergy_controller.bench.suites import NAMED
from asyncenergy_controller.errors import ExitCode
from asyncenergy_controller.tasks.registry import get_task

from tests.controller.data_sets import write_quick

TASKS = ["gsm8k_platinum", "mmlu_redux", "ifeval"]


@pytest.fixture
def data_sets(tmp_path):
    return write_quick(tmp_path / "sets")


@pytest.mark.parametrize("suite", NAMED)
def test_every_task_of_a_suite_exists_and_takes_its_options(suite):
    for unit in NAMED[suite].units:
        assert get_task(unit.task, n_shot=unit.n_shot, level=unit.level).name == unit.task


def test_quick_measures_three_tasks_and_the_small_sweep_in_one_bundle(box, data_sets, nvml):
    result = box.run("bench", "quick", "--items", "small", "--dataset-dir", data_sets, "--meter", "nvml")
    assert result.exit_code == 0, result.stderr
    assert "minutes on a usual machine of this kind" in result.stderr
    assert "Projected for this machine" in result.stderr
    bundle = json.loads(box.last.bundle_path.read_text())
    assert bundle["suite"] == "quick"
    measured = [(run["task"], run.get("power_limit_w"), len(run["items"]["index"])) for run in bundle["runs"]]
    caps = [("gsm8k_platinum", watts, 5) for watts in (595.0, 525.0, 455.0)]
    assert measured == [(task, None, 5) for task in TASKS] + caps


def test_quick_without_a_card_measures_its_tasks_and_skips_the_sweep_with_a_reason(box, data_sets):
    result = box.json("bench", "quick", "--items", "small", "--dataset-dir", data_sets)
    assert [run["task"] for run in result["runs"]] == TASKS
    assert set(result["skipped"]) == {f"gsm8k_platinum-cap{percent}" for percent in (85, 75, 65)}


def test_data_that_are_missing_are_named_before_anything_is_measured(box, data_sets):
    (data_sets / "ifeval_train.jsonl").unlink()
    result = box.run("bench", "quick", "--items", "small", "--dataset-dir", data_sets)
    assert result.exit_code == 1
    assert "ifeval" in result.stderr
    assert box.store.all() == []


def test_a_finished_task_is_kept_when_the_engine_fails_in_the_next_one(box, engine, data_sets):
    engine.fails_on = "Which is"
    assert box.run("bench", "quick", "--items", "small", "--dataset-dir", data_sets).exit_code == ExitCode.NO_ENGINE
    (kept,) = [part for part in box.last.parts() if part.items]
    assert kept.header["task"]["name"] == "gsm8k_platinum"
    engine.fails_on = None
    resumed = box.run("bench", "quick", "--dataset-dir", data_sets, "--resume")
    assert resumed.exit_code == 0
    assert "projected after the first questions" not in resumed.stderr
    answered = [part for part in box.last.parts() if part.items]
    assert [(part.header["task"]["name"], len(part.items)) for part in answered] == [(task, 5) for task in TASKS]
    assert answered[0].items == kept.items
