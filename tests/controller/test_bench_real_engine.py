"""Whole benchmarks against a real llama.cpp server with a real model (run with `pytest -m engine`)."""

import json

import pytest
from asyncenergy_controller.engine.embedded import embedded_engine
from asyncenergy_controller.wire import find_private, parse_bundle

from tests.controller.bench_cli import Box, wait_for
from tests.controller.data_sets import write_quick

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def url():
    with embedded_engine(threads=1) as ready:
        yield ready["url"]


@pytest.fixture
def box(tmp_path, url):
    return Box(tmp_path, url)


def runs_of(box):
    bundle = json.loads(box.last.bundle_path.read_text())
    assert parse_bundle(bundle)
    assert find_private(bundle) is None
    return bundle["runs"]


def test_smoke_measures_tokens_and_their_speed(box):
    result = box.json("bench", "smoke", "--items", 6, "--max-tokens", 8)
    figures = result["runs"][0]["figures"]
    assert (result["runs"][0]["engine"], figures["n_items"]) == ("llama.cpp", 6)
    assert figures["total_completion_tokens"] > 6
    assert 0 < figures["ttft_p50_s"] < figures["run_duration_s"]
    assert figures["pooled_tokens_per_second"] > 0


def test_quick_asks_its_three_tasks_the_questions_of_the_folder(box, tmp_path, shared_data):
    sums = [json.loads(line) for line in (shared_data / "gsm8k_test_first120.jsonl").read_text().splitlines()]
    folder = write_quick(tmp_path / "sets", sums=sums)
    box.json("bench", "quick", "--items", "small", "--max-tokens", 4, "--dataset-dir", folder)
    runs = runs_of(box)
    assert [(run["task"], len(run["items"]["index"])) for run in runs] == [
        ("gsm8k_platinum", 5),
        ("mmlu_redux", 5),
        ("ifeval", 5),
    ]
    assert all(0 < tokens <= 4 for run in runs for tokens in run["items"]["completion_tokens"])
    assert min(runs[0]["items"]["prompt_tokens"]) > 150  # five worked examples stand before each question


def test_four_questions_in_flight_overlap_and_no_joule_is_given_twice(box):
    figures = box.json("bench", "run", "--items", 8, "--concurrency", 4, "--max-tokens", 8)["runs"][0]["figures"]
    (run,) = runs_of(box)
    starts, ends = run["items"]["t_start_s"], run["items"]["t_end_s"]
    in_flight = [sum(s <= start < e for s, e in zip(starts, ends, strict=True)) for start in starts]
    assert max(in_flight) == 4
    assert sorted(run["items"]["index"]) == list(range(8))
    assert sum(figures["item_energy_j"]) == pytest.approx(figures["total_joules_gpu_best"], rel=0.05)
    assert sum(figures["item_energy_j"]) <= figures["total_joules_gpu_best"] * 1.0001


def test_kill_dash_nine_keeps_every_finished_answer_and_resume_asks_the_others_only(box):
    process = box.start("bench", "run", "--items", 8, "--max-tokens", 8)
    wait_for(lambda: box.store.all() and sum(len(part.items) for part in box.last.parts()) >= 3, limit_s=60)
    process.kill()
    process.communicate()
    (killed,) = box.last.parts()
    assert 3 <= len(killed.items) < 8
    assert box.run("bench", "run", "--resume").exit_code == 0
    first, second = box.last.parts()
    assert first.items == killed.items
    assert sorted(row.index for part in (first, second) for row in part.items) == list(range(8))
    assert [len(run["items"]["index"]) for run in runs_of(box)] == [len(killed.items), 8 - len(killed.items)]
    assert len(box.store.all()) == 1
