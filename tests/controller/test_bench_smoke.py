"""`bench smoke` from the command line, against an engine on loopback and the simulated meter."""

import errno
import json
import re
import signal
from dataclasses import dataclass

import pytest
from asyncenergy_controller import metrics
from asyncenergy_controller.errors import ExitCode
from asyncenergy_controller.files import LineWriter
from asyncenergy_controller.wire import find_private, parse_bundle

from tests.controller.bench_cli import Box, wait_for
from tests.controller.bench_engine import OLLAMA, bench_engine
from tests.controller.fake_engine import streamed


@dataclass
class Done:
    """One finished run of eight questions, to look at and leave as it is."""

    box: Box
    result: object
    bundle: dict

    @property
    def run(self):
        return self.bundle["runs"][0]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    with bench_engine() as fake:
        fake.delay_s = 0.03
        box = Box(tmp_path_factory.mktemp("done"), fake.url)
        result = box.run("bench", "smoke", "--items", 8)
        return Done(box, result, read_bundle(box))


def read_bundle(box):
    return json.loads(box.last.bundle_path.read_text())


def test_a_run_ends_with_a_bundle_that_the_server_would_take(done):
    assert done.result.exit_code == 0
    assert len(parse_bundle(done.bundle).runs) == 1
    assert find_private(done.bundle) is None
    assert (done.bundle["suite"], done.run["model"], done.run["quantization"]) == ("smoke", "tiny-model", "Q4_K_M")


@pytest.mark.parametrize("said", ["\u2028\u2029\x85", "\ud83d"], ids=["line separators", "half a surrogate pair"])
def test_whatever_characters_a_model_says_the_run_ends_with_a_bundle(box, engine, said):
    engine._sum = streamed(said, " 7", usage={"prompt_tokens": 9, "completion_tokens": 2})
    assert box.json("bench", "smoke", "--items", 2)["state"] == "finished"
    assert len(parse_bundle(read_bundle(box)).runs) == 1
    assert [row.completion for row in box.last.parts()[0].items] == [f"{said} 7"] * 2


def test_json_shows_the_figures_of_the_bundle(done):
    shown = done.box.json("bench", "show")["runs"][0]["figures"]
    computed = metrics.recompute_run(done.run, baselines=done.bundle["baselines"])
    assert shown["n_items"] == 8
    assert shown["total_joules_gpu_best"] == computed.total_joules_gpu_best > 0
    assert shown["joules_per_correct_answer"] == computed.joules_per_correct_answer
    assert shown["accuracy"] == computed.accuracy


def test_the_table_shows_headline_readings_accuracy_speed_and_tier(done):
    for name in ("J per correct answer", "Accuracy", "counter", "integrated", "wall", "Speed", "First token", "Tier"):
        assert name in done.result.stdout
    assert "No wall meter was read" in done.result.stdout


def test_smoke_asks_forty_questions_each_once_in_a_seeded_order(box, engine):
    box.run("bench", "smoke")
    asked = list(engine.questions)
    assert len(asked) == len(set(asked)) == 40
    assert [row.index for row in box.last.parts()[0].items] != list(range(40))
    engine.asked.clear()
    box.run("bench", "smoke")
    assert engine.questions == asked


def test_another_seed_asks_other_questions(box, engine):
    box.run("bench", "smoke", "--items", 8)
    first = set(engine.questions)
    engine.asked.clear()
    box.run("bench", "smoke", "--items", 8, "--seed", 7)
    assert len(first & set(engine.questions)) < 8
    assert read_bundle(box)["runs"][0]["seed"] == 7


def test_the_phases_follow_each_other_and_fill_the_recording(done):
    ledger = done.run["ledger"]
    assert [phase["phase"] for phase in ledger] == ["loaded_idle", "warmup", "items", "tail"]
    assert [phase["t_end_s"] for phase in ledger[:-1]] == [phase["t_start_s"] for phase in ledger[1:]]
    assert (ledger[0]["t_start_s"], ledger[-1]["t_end_s"]) == (0.0, done.run["trace"]["t_s"][-1])


def test_the_meter_runs_before_the_first_question_and_after_the_last(done):
    assert min(done.run["items"]["t_start_s"]) >= 0.06
    assert done.run["trace"]["t_s"][-1] >= max(done.run["items"]["t_end_s"]) + 0.06


def test_counters_leave_the_machine_counted_from_zero(done):
    counter = done.run["trace"]["gpu_energy_mj"]
    assert next(value for value in counter if value is not None) == 0


def test_each_item_carries_its_index_and_the_answer_that_was_given(done):
    items = done.run["items"]
    assert sorted(items["index"]) == list(range(8))
    assert all(answer.isdigit() for answer in items["answer"])
    assert set(items["correct"]) <= {0.0, 1.0}
    assert all(ttft > 0 for ttft in items["ttft_s"])


def test_the_word_simulated_stands_beside_every_energy(done):
    assert "SIMULATED" in done.result.stderr
    for line in done.result.stdout.splitlines():
        if re.search(r"\d (J|W)\b", line):
            assert "simulated" in line.lower()
    assert done.run["energy_source"] == "simulated"
    assert done.box.json("bench", "list")[0]["simulated"] is True


def test_an_engine_that_can_let_go_of_its_model_is_metered_empty_first(tmp_path):
    with bench_engine(OLLAMA) as engine:
        box = Box(tmp_path, engine.url)
        box.run("bench", "run", "--items", 3, "--repeats", 2)
    first, second = read_bundle(box)["runs"]
    phases = [phase["phase"] for phase in first["ledger"]]
    assert phases == ["empty_idle", "load", "loaded_idle", "warmup", "items", "tail"]
    assert [phase["phase"] for phase in second["ledger"]] == phases[2:]
    assert [body.get("keep_alive") for body in engine.loading] == [0, None]
    assert [baseline["kind"] for baseline in read_bundle(box)["baselines"]] == ["empty", "loaded", "loaded"]
    figures = box.json("bench", "show")["runs"][1]["figures"]
    assert figures["idle_empty_w"] > 0


def test_without_a_meter_accuracy_and_speed_are_measured_and_the_code_says_so(box):
    result = box.run("bench", "smoke", "--items", 8, "--meter", "null")
    assert result.exit_code == ExitCode.NO_METER
    assert "not measured" in result.stdout
    assert "tokens/s" in result.stdout
    assert "no meter was found" in result.stderr
    assert not box.last.bundle_path.exists()
    figures = json.loads((box.last.path / "run.json").read_text())["runs"][0]["figures"]
    assert figures["total_joules_gpu_best"] is None
    assert figures["accuracy"] is not None


def test_missing_token_counts_stay_missing_and_the_table_says_why(box, engine):
    engine.reports_usage = False
    result = box.run("bench", "smoke", "--items", 8)
    assert read_bundle(box)["runs"][0]["items"]["completion_tokens"] == [None] * 8
    assert "no token counts for 8 of 8 questions" in result.stdout
    assert result.exit_code == 0


def test_one_failed_request_leaves_its_tokens_unknown_and_the_energy_of_the_run_whole(box, engine):
    box.run("bench", "smoke", "--items", 8)
    engine.fails_on = engine.questions[3]
    result = box.run("bench", "smoke", "--items", 8)
    assert result.exit_code == 0
    (run,) = read_bundle(box)["runs"]
    at = run["items"]["finish_reason"].index("error")
    tokens = run["items"]["completion_tokens"]
    assert (tokens[at], run["items"]["correct"][at], tokens.count(None)) == (None, 0.0, 1)
    figures = metrics.recompute_run(run)
    assert (figures.total_completion_tokens, figures.joules_per_token, figures.pooled_tokens_per_second) == (None,) * 3
    assert figures.joules_per_item == pytest.approx(figures.total_joules_gpu_best / 8)
    assert figures.joules_per_correct_answer == pytest.approx(figures.total_joules_gpu_best / figures.n_correct)
    assert "failed requests counted as wrong: 1" in result.stdout
    assert "no token counts for 1 of 8 questions, failed requests among them: 1" in result.stdout


def test_several_questions_are_in_flight_and_their_energy_is_counted_once(box, engine):
    engine.delay_s = 0.05
    figures = box.json("bench", "smoke", "--items", 12, "--concurrency", 4)["runs"][0]["figures"]
    assert engine.most_in_flight == 4
    assert sum(figures["item_energy_j"]) <= figures["total_joules_gpu_best"] * 1.0001
    assert read_bundle(box)["runs"][0]["concurrency"] == 4


def test_a_time_limit_is_announced_keeps_what_is_finished_and_resume_asks_the_rest(box, engine):
    engine.delay_s = 0.04
    result = box.run("bench", "smoke", "--items", 20, "--time-limit", 0.5)
    assert result.exit_code == 0
    assert "At this pace" in result.stderr
    assert "time limit of 0.5 s was reached" in result.stderr
    first = len(engine.questions)
    assert 1 <= first < 20
    engine.delay_s = 0.0
    assert box.run("bench", "smoke", "--resume").exit_code == 0
    assert len(engine.questions) == len(set(engine.questions)) == 20
    assert [len(run["items"]["index"]) for run in read_bundle(box)["runs"]] == [first, 20 - first]
    assert len(box.store.all()) == 1


def test_a_time_limit_that_passes_before_the_first_question_is_no_missing_meter(box, engine):
    result = box.run("bench", "smoke", "--items", 8, "--time-limit", 0.1)
    assert engine.questions == []
    assert result.exit_code == 0
    assert "time limit of 0.1 s was reached" in result.stderr


def test_a_run_is_not_resumed_with_another_model(box, engine):
    box.run("bench", "smoke", "--items", 20, "--time-limit", 0.1)
    box.last.set_status("stopped", "the time limit was reached")
    other = {"/v1/models": {"data": [{"id": "other-model.Q8_0.gguf", "object": "model"}]}}
    with bench_engine(other) as engine_of_another_model:
        result = Box(box.home, engine_of_another_model.url).run("bench", "smoke", "--resume")
        assert engine_of_another_model.asked == []
    assert result.exit_code == ExitCode.USAGE
    assert "begun with tiny-model Q4_K_M, and the engine serves other-model Q8_0" in result.stderr
    assert box.run("bench", "smoke", "--resume").exit_code == 0


def test_resume_without_anything_to_resume_says_so(box):
    result = box.run("bench", "smoke", "--resume")
    assert result.exit_code == ExitCode.USAGE
    assert "no unfinished smoke run" in result.stderr


def test_an_engine_that_stops_answering_keeps_what_is_finished_and_names_the_engine(box, engine):
    engine.fails_from = 10
    result = box.run("bench", "smoke")
    assert result.exit_code == ExitCode.NO_ENGINE
    assert "out of memory" in result.stderr
    assert len(read_bundle(box)["runs"][0]["items"]["index"]) == 8
    engine.fails_from = None
    box.run("bench", "smoke", "--resume")
    assert sum(len(run["items"]["index"]) for run in read_bundle(box)["runs"]) == 40


def test_a_disk_that_was_full_for_a_moment_leaves_no_hole_in_the_trace(box, engine, monkeypatch):
    engine.delay_s, add, tried = 0.05, LineWriter.add, []

    def sometimes_full(writer, row):
        if "gpu_power_w" in row:
            tried.append(row)
            if 3 <= len(tried) <= 6:
                raise OSError(errno.ENOSPC, "No space left on device")
        add(writer, row)

    monkeypatch.setattr(LineWriter, "add", sometimes_full)
    assert box.run("bench", "smoke", "--items", 8).exit_code == 0
    assert [reading.t_s for reading in box.last.parts()[0].readings] == [row["t_s"] for row in tried]


def test_a_disk_that_is_full_ends_the_run_and_loses_no_answer_that_was_written(box, engine, monkeypatch):
    add = LineWriter.add

    def full(writer, row):
        if "finish_reason" in row and len(engine.questions) >= 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        add(writer, row)

    monkeypatch.setattr(LineWriter, "add", full)
    result = box.run("bench", "smoke", "--items", 8)
    assert result.exit_code == ExitCode.FAILED
    assert "No space left" in result.stderr
    monkeypatch.setattr(LineWriter, "add", add)
    assert box.run("bench", "smoke", "--resume").exit_code == 0
    assert [len(run["items"]["index"]) for run in read_bundle(box)["runs"]] == [4, 4]


def test_no_engine_has_its_own_code(tmp_path):
    result = Box(tmp_path, "http://127.0.0.1:9").run("bench", "smoke")
    assert result.exit_code == ExitCode.NO_ENGINE
    assert "127.0.0.1:9" in result.stderr


@pytest.mark.campaign
def test_kill_dash_nine_leaves_items_and_trace_and_resume_goes_on(box, engine):
    engine.delay_s = 0.05
    process = box.start("bench", "smoke", "--items", 30)
    wait_for(lambda: len(engine.questions) >= 9)
    process.kill()
    process.communicate()
    (part,) = box.last.parts()
    assert len(part.items) >= 5
    assert len(part.readings) >= 5
    assert box.last.status[0] == "interrupted"
    assert box.json("bench", "show")["runs"][0]["figures"]["n_items"] == len(part.items)
    engine.delay_s = 0.0
    assert box.run("bench", "smoke", "--resume").exit_code == 0
    runs = read_bundle(box)["runs"]
    assert sorted(index for run in runs for index in run["items"]["index"]) == list(range(30))


@pytest.mark.campaign
def test_ctrl_c_while_the_engine_warms_up_waits_for_one_answer_alone(box, engine):
    engine.delay_s = 0.3
    process = box.start("bench", "run", "--items", 60, "--concurrency", 60)
    wait_for(lambda: len(engine.asked) >= 2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert len(engine.asked) < 20
    assert engine.questions == []


@pytest.mark.campaign
def test_ctrl_c_finishes_the_question_in_flight_and_keeps_a_bundle(box, engine):
    engine.delay_s = 0.05
    process = box.start("bench", "smoke", "--items", 200)
    wait_for(lambda: len(engine.questions) >= 5)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=20)
    assert process.returncode == ExitCode.INTERRUPTED
    assert b"keeping what is finished" in stderr
    assert box.last.status == ("interrupted", "interrupted by SIGINT")
    assert len(read_bundle(box)["runs"][0]["items"]["index"]) == len(engine.questions)
