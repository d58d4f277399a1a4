"""From the raw lines of a run to its bundle: measured values, nothing private, nothing guessed."""

from dataclasses import replace
from pathlib import Path

import pytest
from asyncenergy_controller import metrics
from asyncenergy_controller.bench.bundle import BundleRefused, build_bundle, bundle_run
from asyncenergy_controller.bench.machine import node_entry, public_name
from asyncenergy_controller.bench.phases import load_profile, session_baselines
from asyncenergy_controller.bench.plan import Plan, Unit
from asyncenergy_controller.bench.store import ItemRow, Part, PhaseRow, RunDir, RunStore
from asyncenergy_controller.meters.base import MeterInfo, Reading
from asyncenergy_controller.wire import find_private, parse_bundle
from hypothesis import given, settings
from hypothesis import strategies as st

T0_S = 5_000.0
COUNTER_MJ = 7e9
UNIT = Unit(task="arith", n_items=4)
METER = {
    "meter": "nvml",
    "energy_source": "counter",
    "energy_boundary": "gpu_board",
    "device_kind": "gpu",
    "device_count": 1,
    "device_name": "NVIDIA H200",
    "driver_version": "580.159.04",
    "cuda_version": "13.0",
    "power_limit_w": 700.0,
    "stock_power_limit_w": 700.0,
    "vram_gb": 140.0,
    "counter_period_s": 0.1,
    "cpu_energy_range_uj": None,
    "reasons": {},
}
ENGINE = {
    "engine": "llama.cpp",
    "engine_version": "b6000",
    "model_basename": "SmolLM2-135M-Instruct",
    "quantization": "Q4_1",
    "ctx_size": 4096,
    "parallel_slots": 4,
    "prefix_cache": "off",
    "thinking_switch": True,
    "weights_digest": "sha256:" + "ab" * 32,
}
PHASES = (
    PhaseRow("loaded_idle", T0_S, T0_S + 4),
    PhaseRow("warmup", T0_S + 4, T0_S + 6),
    PhaseRow("items", T0_S + 6, T0_S + 16),
    PhaseRow("tail", T0_S + 16, T0_S + 20),
)


def make_header(*, meter=None, engine=None, unit=UNIT, task="arith"):
    return {
        "created_at": "2026-08-20T09:00:00+00:00",
        "unit": unit.model_dump(mode="json"),
        "seed": 1234,
        "max_tokens": 96,
        "order": [0, 1, 2, 3],
        "task": {"name": task, "n_shot": 3, "level": 1, "dataset_revision": "arith-1", "is_canary": False},
        "node": {"node_hash": "c0ffee" * 8, "cpu_model": "Some CPU", "ram_gb": 64.0},
        "sensor": None,
        "engine": ENGINE | (engine or {}),
        "meter": METER | (meter or {}),
    }


def make_readings(t0_s=T0_S, counter_mj=COUNTER_MJ):
    """100 W for 6 s, 300 W for 10 s, 100 W for 4 s, five times a second."""
    for i in range(101):
        t_s = i / 5
        joules = 100 * t_s + 200 * min(max(t_s - 6, 0), 10)
        power_w = 300.0 if 6 < t_s <= 16 else 100.0
        yield Reading(
            t_s=t0_s + t_s, gpu_power_w=power_w, power_field="average", gpu_energy_mj=counter_mj + joules * 1e3
        )


def make_items(t0_s=T0_S):
    for i in range(4):
        yield ItemRow(
            index=i,
            t_start_s=t0_s + 6 + 2.5 * i,
            t_end_s=t0_s + 8.5 + 2.5 * i,
            correct=float(i % 2),
            finish_reason="stop",
            prompt_tokens=50,
            completion_tokens=20,
            answer=str(i),
            ttft_s=0.1,
            streamed=True,
            completion="a completion that stays at home",
        )


def make_part(header=None, readings=None, items=None, phases=PHASES):
    return Part(
        path=Path("000-arith"),
        unit_index=0,
        header=header or make_header(),
        readings=tuple(readings or make_readings()),
        items=tuple(items or make_items()),
        phases=tuple(phases),
        notes=(),
    )


@pytest.fixture
def run(tmp_path):
    with RunStore(tmp_path).create(Plan(suite="smoke", units=(UNIT,))) as run:
        yield run


def test_the_bundle_of_a_run_passes_schema_and_privacy_net(run):
    bundle = build_bundle(run, [make_part()])
    assert len(parse_bundle(bundle).runs[0].trace) == 101
    assert find_private(bundle) is None


def test_the_energy_is_that_of_the_questions_alone():
    figures = metrics.recompute_run(bundle_run(make_part()))
    assert figures.total_joules_gpu_counter == pytest.approx(3000)
    assert figures.joules_per_correct_answer == pytest.approx(1500)
    assert figures.idle_loaded_w == pytest.approx(100)
    assert figures.net_joules == pytest.approx(2000)


@settings(max_examples=15, deadline=None)
@given(t0_s=st.floats(0, 1e7), counter_mj=st.floats(0, 1e12))
def test_clock_and_counter_of_the_machine_leave_no_trace(t0_s, counter_mj):
    part = make_part(
        readings=make_readings(t0_s, counter_mj),
        items=make_items(t0_s),
        phases=[replace(p, t_start_s=p.t_start_s - T0_S + t0_s, t_end_s=p.t_end_s - T0_S + t0_s) for p in PHASES],
    )
    run = bundle_run(part)
    assert run["trace"]["t_s"][0] == run["trace"]["gpu_energy_mj"][0] == 0
    assert metrics.recompute_run(run).total_joules_gpu_best == pytest.approx(3000, abs=0.1)


def test_no_completion_and_no_prompt_is_in_the_bundle(run):
    assert "stays at home" not in str(build_bundle(run, [make_part()]))


def test_a_card_at_its_factory_default_has_no_limit_of_its_own():
    assert "power_limit_w" not in bundle_run(make_part())
    capped = bundle_run(make_part(make_header(meter={"power_limit_w": 500.0})))
    assert (capped["power_limit_w"], capped["gpu_stock_power_limit_w"]) == (500.0, 700.0)


def test_a_phase_that_a_crash_cut_off_ends_with_the_last_reading():
    cut = [*PHASES[:2], PhaseRow("items", T0_S + 6, None)]
    ledger = bundle_run(make_part(phases=cut))["ledger"]
    assert (ledger[-1]["phase"], ledger[-1]["t_end_s"]) == ("items", 20.0)


def test_the_baseline_of_the_waiting_card_is_the_mean_of_its_phase():
    (baseline,) = session_baselines([make_part()])
    assert (baseline["kind"], baseline["mean_gpu_w"], baseline["duration_s"]) == ("loaded", 100.0, 4.0)


def test_a_model_that_was_loaded_on_request_has_a_load_profile():
    readings = [replace(r, gpu_mem_used_mib=900.0) for r in make_readings()]
    loading = [PhaseRow("empty_idle", T0_S, T0_S + 1), PhaseRow("load", T0_S + 1, T0_S + 2.5), *PHASES]
    loading[2] = replace(PHASES[0], t_start_s=T0_S + 2.5)
    profile = load_profile(make_part(readings=readings, phases=loading))
    assert (profile["load_time_s"], profile["vram_after_load_mib"], profile["loaded_idle_mean_w"]) == (1.5, 900, 100)
    assert load_profile(make_part(readings=readings)) is None
    assert load_profile(make_part(phases=loading)) is None


def test_a_plug_that_answers_late_is_put_in_step_and_its_lag_is_recorded():
    lag_s = 2.0
    readings = list(make_readings())
    late = [
        replace(r, wall_power_w=150 + (300 if 6 < i / 5 - lag_s <= 16 else 100)) if i % 5 == 0 else r
        for i, r in enumerate(readings)
    ]
    run = bundle_run(make_part(readings=late))
    figures = metrics.recompute_run(run)
    assert run["sensor"]["wall_skew_s"] == pytest.approx(lag_s, abs=0.6)
    assert figures.wall_joules == pytest.approx(4500, rel=0.05)
    assert figures.wall_above_gpu_pct == 100


def test_unknown_token_counts_stay_null():
    items = [replace(row, prompt_tokens=None, completion_tokens=None) for row in make_items()]
    run = bundle_run(make_part(items=items))
    assert run["items"]["completion_tokens"] == [None] * 4
    assert metrics.recompute_run(run).joules_per_token is None


def test_answers_of_a_task_whose_answers_are_not_ours_stay_at_home():
    assert "answer" not in bundle_run(make_part(make_header(task="ifeval")))["items"]


def test_streaming_counts_only_where_every_answer_streamed():
    first, *others = make_items()
    assert bundle_run(make_part())["streaming_used"] is True
    assert bundle_run(make_part(items=[replace(first, streamed=False), *others]))["streaming_used"] is False


def test_settings_that_were_given_are_kept_under_their_names():
    unit = UNIT.model_copy(update={"settings": {"kv_cache": "q8_0", "batch": 512.0}, "reasoning_effort": "low"})
    kept = bundle_run(make_part(make_header(unit=unit)))["settings"]
    assert (kept["kv_cache"], kept["extra"], kept["reasoning_effort"]) == ("q8_0", {"batch": 512.0}, "low")
    assert (kept["prefix_cache"], kept["ctx_size"], kept["arith_level"]) == ("off", 4096, 1)


def test_a_thinking_mode_the_engine_can_not_switch_is_not_claimed():
    assert bundle_run(make_part())["thinking_mode"] == "off"
    assert "thinking_mode" not in bundle_run(make_part(make_header(engine={"thinking_switch": False})))


def test_a_path_in_a_name_keeps_the_bundle_from_being_made(run):
    part = make_part(make_header(engine={"model_basename": "/home/somebody/model"}))
    with pytest.raises(BundleRefused, match=r"runs\.0\.model.*path"):
        build_bundle(run, [part])


def test_without_energy_there_is_no_bundle_and_the_meters_reason_is_given(run):
    meter = {"energy_boundary": None, "energy_source": None, "reasons": {"energy": "no meter was found"}}
    with pytest.raises(BundleRefused, match="no meter was found"):
        build_bundle(run, [make_part(make_header(meter=meter))])


def test_a_run_without_an_answer_has_no_bundle(run):
    with pytest.raises(BundleRefused, match="no question was answered"):
        build_bundle(run, [replace(make_part(), items=())])


def test_the_node_hash_is_the_same_next_time_and_another_on_another_machine(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    info = MeterInfo(meter="nvml", device_name="NVIDIA H200")
    first = node_entry(here, info)["node_hash"]
    assert node_entry(here, info)["node_hash"] == first
    assert node_entry(there, info)["node_hash"] != first
    assert node_entry(here, replace(info, device_name="NVIDIA L4"))["node_hash"] != first
    assert len(first) == 64
    assert (here / "salt").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("Intel(R) Xeon(R) CPU @ 2.20GHz", "Intel(R) Xeon(R) CPU @ 2.20GHz"),
        ("=cmd|x", "cmd-x"),
        ("Ø™", None),
        ("", None),
        (None, None),
    ],
)
def test_product_names_are_cut_to_what_a_bundle_allows(raw, name):
    assert public_name(raw) == name


def test_a_run_read_from_disk_is_the_run_that_was_written(run):
    part = run.new_part(0, "arith", make_header())
    for reading in make_readings():
        part.add_reading(reading)
    for row in make_items():
        part.add_item(row)
    part.close()
    (read,) = RunDir(run.path).parts()
    assert (read.readings, read.items) == (tuple(make_readings()), tuple(make_items()))
