"""Which rows form a sweep: on one machine, one task, and different in one setting alone."""

from typing import Any

import pytest

from bench.settling import settled
from bench.sweeps import KINDS
from tests.bench.board_rows import make_entry, make_machine

TWO: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "power_cap": ({"power_limit_w": None}, {"power_limit_w": 250.0}),
    "clock_lock": ({"clock_lock_mhz": None}, {"clock_lock_mhz": 1200.0}),
    "concurrency": ({"concurrency": 1}, {"concurrency": 16}),
    "quantization": (
        {"quantization": "Q4_K_M", "weights_digest": "aa"},
        {"quantization": "Q8_0", "weights_digest": "bb"},
    ),
    "engine": (
        {"engine": "llama.cpp", "engine_version": "b1"},
        {"engine": "vllm", "engine_version": "0.9"},
    ),
    "thinking": ({"thinking_mode": "off"}, {"thinking_mode": "on"}),
    "effort": ({"reasoning_effort": "low"}, {"reasoning_effort": "high"}),
    "output_cap": ({"max_tokens": 64}, {"max_tokens": 256}),
    "cuda_graphs": ({"cuda_graphs": "off"}, {"cuda_graphs": "on"}),
}


def entries(*configs, machines=("a", "a"), tasks=("gsm8k", "gsm8k")):
    return [
        make_entry([make_machine(machine)], config, config_key=f"{i:016x}", task=task, run_id=f"run-{machine}")
        for i, (config, machine, task) in enumerate(zip(configs, machines, tasks, strict=True))
    ]


def test_every_kind_has_its_example():
    assert set(TWO) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_two_rows_that_differ_in_one_setting_form_its_sweep(kind):
    (sweep,) = settled(entries(*TWO[kind])).sweeps
    shown = sweep.as_dict()
    assert shown["kind"] == kind
    assert [point["config_key"] for point in shown["points"]] == [f"{i:016x}" for i in range(2)]
    assert [point["is_stock"] for point in shown["points"]] == [KINDS[kind].has_stock, False]


@pytest.mark.parametrize("kind", KINDS)
def test_what_differs_in_something_else_too_forms_none(kind):
    one, other = TWO[kind]
    assert settled(entries(one, {**other, "ctx_size": 4096})).sweeps == []
    assert settled(entries(one, other, machines=("a", "b"))).sweeps == []
    assert settled(entries(one, other, tasks=("gsm8k", "arith"))).sweeps == []


@pytest.mark.parametrize("kind", [kind for kind, of in KINDS.items() if not of.has_stock])
def test_a_setting_that_was_not_recorded_is_no_point(kind):
    nothing = dict.fromkeys(KINDS[kind].shown)
    assert settled(entries(nothing, TWO[kind][1])).sweeps == []


def test_numbers_stand_in_their_order_and_points_carry_their_intervals():
    machine = make_machine(jpc_ci_low=90.0, jpc_ci_high=110.0)
    found = [make_entry([machine], {"concurrency": n}, config_key=f"{n:016x}", run_id="run-a") for n in (16, 1, 4)]
    (sweep,) = settled(found).sweeps
    points = sweep.as_dict()["points"]
    assert [point["setting"] for point in points] == [1, 4, 16]
    assert {(point["jpc_ci_low"], point["jpc_ci_high"]) for point in points} == {(90.0, 110.0)}


def test_words_that_mean_more_and_less_stand_in_that_order():
    found = [{"reasoning_effort": word} for word in ("high", "low", "medium")]
    (sweep,) = settled(entries(*found, machines="aaa", tasks=["gsm8k"] * 3)).sweeps
    assert [point["setting"] for point in sweep.as_dict()["points"]] == ["low", "medium", "high"]


def test_two_versions_of_one_engine_are_two_points():
    versions = [{"engine": "vllm", "engine_version": version} for version in ("0.9", "0.10")]
    (sweep,) = settled(entries(*versions)).sweeps
    assert [point["setting"] for point in sweep.as_dict()["points"]] == ["vllm 0.10", "vllm 0.9"]


def test_only_caps_and_locks_tell_of_flexibility():
    found = [make_entry(config={"concurrency": n}, config_key=f"{n:016x}") for n in (1, 2, 4, 8)]
    (sweep,) = settled(found).sweeps
    assert (sweep.flexibility, sweep.flex_share) == (None, None)
