"""What a row is among the others: frontier, efficiency index, sweeps and grades."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import grading
from bench.grading import grade
from bench.settling import settled
from bench.sweeps import recommended_cap_w
from tests.bench.board_rows import make_entry, make_machine, make_row

KEYS = [f"{i:016x}" for i in range(8)]
REFERENCE = {"model": "Qwen3.5-9B", "engine": "llama.cpp"}


def swept(watts: dict[float | None, tuple[float, float]], machine: str = "a"):
    """Rows that differ in the power limit alone: limit -> (tokens/s, mean W)."""
    return [
        make_entry(
            [make_machine(machine, pooled_tokens_per_second=speed, mean_gpu_w=mean, joules_per_token=mean / speed)],
            {"power_limit_w": limit},
            config_key=KEYS[i],
            run_id=f"run-{machine}",
        )
        for i, (limit, (speed, mean)) in enumerate(watts.items())
    ]


FOUR = {None: (100.0, 350.0), 300.0: (99.0, 298.0), 250.0: (96.0, 249.0), 200.0: (70.0, 199.0)}


def test_a_row_is_on_the_frontier_unless_another_of_its_device_is_better_at_both():
    entries = [
        make_entry(config_key=KEYS[0], joules_per_correct_answer=100.0, accuracy=0.5),
        make_entry(config_key=KEYS[1], joules_per_correct_answer=120.0, accuracy=0.4),
        make_entry(config_key=KEYS[2], joules_per_correct_answer=300.0, accuracy=0.9),
        make_entry(config_key=KEYS[3], joules_per_correct_answer=500.0, accuracy=0.1, gpu_class="H200"),
        make_entry(config_key=KEYS[4], joules_per_correct_answer=1.0, accuracy=1.0, verified=False),
    ]
    payloads = settled(entries).payloads
    assert [payloads[key, "gsm8k"]["is_pareto"] for key in KEYS[:5]] == [True, False, True, True, False]


@pytest.mark.parametrize("other", [{"energy_boundary": "wall"}, {"energy_source": "rapl"}])
def test_energies_of_another_boundary_or_source_have_a_frontier_of_their_own(other):
    entries = [
        make_entry(config_key=KEYS[0], joules_per_correct_answer=10.0, accuracy=0.9),
        make_entry(config_key=KEYS[1], joules_per_correct_answer=30.0, accuracy=0.8, **other),
        make_entry(config_key=KEYS[2], joules_per_correct_answer=40.0, accuracy=0.8, energy_source="integrated"),
    ]
    payloads = settled(entries).payloads
    assert [payloads[key, "gsm8k"]["is_pareto"] for key in KEYS[:3]] == [True, True, False]


@given(st.lists(st.tuples(st.floats(1, 1e4), st.floats(0, 1), st.booleans()), max_size=8), st.randoms())
def test_the_order_of_the_rows_changes_nothing(figures, rng: random.Random):
    entries = [
        make_entry(config_key=KEYS[i], joules_per_correct_answer=j, jpc_ci_low=j, jpc_ci_high=j, accuracy=a, verified=v)
        for i, (j, a, v) in enumerate(figures)
    ]
    shuffled = entries[:]
    rng.shuffle(shuffled)
    assert settled(shuffled) == settled(entries)


@given(st.lists(st.tuples(st.floats(1, 1e4), st.floats(0, 1)), min_size=1, max_size=8))
def test_settling_twice_gives_the_same(figures):
    entries = [
        make_entry(config_key=KEYS[i], joules_per_correct_answer=j, jpc_ci_low=j * 0.9, jpc_ci_high=j, accuracy=a)
        for i, (j, a) in enumerate(figures)
    ]
    once = settled(entries)
    again = settled([make_entry(**once.payloads[entry.key]) for entry in entries])
    assert again.payloads == once.payloads


# Efficiency index


def test_the_index_compares_on_the_same_machine_only():
    reference = make_entry(
        [make_machine("a", reference_jpc=1029.0), make_machine("b", reference_jpc=800.0)],
        REFERENCE,
        config_key=KEYS[0],
        task="gsm8k_platinum",
        joules_per_correct_answer=1029.0,
    )
    on_a = make_entry(config_key=KEYS[1], task="gsm8k_platinum", joules_per_correct_answer=343.0)
    on_c = make_entry([make_machine("c")], config_key=KEYS[2], task="gsm8k_platinum", run_id="run-c")
    other_task = make_entry(config_key=KEYS[3], task="gsm8k")
    found = settled([reference, on_a, on_c, other_task]).payloads
    assert [found[KEYS[i], "gsm8k_platinum"]["efficiency_index"] for i in range(3)] == [1.0, 3.0, None]
    assert found[KEYS[3], "gsm8k"]["efficiency_index"] is None


def test_the_index_never_compares_claimed_with_derived_energy():
    reference = make_entry(
        [make_machine(reference_jpc=1029.0)], REFERENCE, config_key=KEYS[0], task="gsm8k_platinum", verified=False
    )
    derived = make_entry(config_key=KEYS[1], task="gsm8k_platinum")
    assert settled([reference, derived]).payloads[KEYS[1], "gsm8k_platinum"]["efficiency_index"] is None


# Sweeps


def test_rows_that_differ_in_the_power_limit_alone_form_a_sweep():
    (sweep,) = settled(swept(FOUR)).sweeps
    shown = sweep.as_dict()
    assert [point["setting"] for point in shown["points"]] == [None, 300.0, 250.0, 200.0]
    assert (shown["kind"], shown["unit"], shown["node"]) == ("power_cap", "W", "node-a")
    assert shown["flex_band_w"] == pytest.approx(350 - 249)
    assert shown["knee_savings_pct"] == pytest.approx(100 * (1 - (249 / 96) / (350 / 100)))
    assert shown["turndown_ratio"] == pytest.approx(350 / 199)
    assert "machine" not in str(shown)


def test_three_points_make_a_sweep_but_no_flexibility():
    three = {limit: FOUR[limit] for limit in (None, 300.0, 250.0)}
    (sweep,) = settled(swept(three)).sweeps
    assert (sweep.flexibility, sweep.as_dict()["flex_band_w"]) == (None, None)
    assert recommended_cap_w([sweep.as_dict()], 5) == 250.0


def test_points_of_two_machines_are_two_sweeps():
    other = swept({None: (100.0, 350.0)}, "b") + swept({300.0: (99.0, 298.0)}, "b")
    entries = swept({None: (100.0, 350.0)})
    assert settled(entries + other[1:]).sweeps == []


def test_the_deepest_cap_within_the_tolerance():
    shown = [sweep.as_dict() for sweep in settled(swept(FOUR)).sweeps]
    assert [recommended_cap_w(shown, pct) for pct in (0, 1, 5, 30)] == [None, 300.0, 250.0, 200.0]


def test_a_cap_holds_in_every_sweep():
    gentle = [sweep.as_dict() for sweep in settled(swept(FOUR)).sweeps]
    steep = [sweep.as_dict() for sweep in settled(swept({**FOUR, 250.0: (80.0, 249.0)})).sweeps]
    assert recommended_cap_w(gentle + steep, 5) == 300.0


def test_a_cap_is_never_above_stock_and_never_guessed_without_stock():
    above = {None: (100.0, 350.0), 400.0: (101.0, 390.0)}
    no_stock = {300.0: (99.0, 298.0), 250.0: (96.0, 249.0)}
    for watts in (above, no_stock):
        (sweep,) = settled(swept(watts)).sweeps
        assert recommended_cap_w([sweep.as_dict()], 50) is None


def test_a_configuration_that_gives_up_power_easily_gets_flexibility_stars():
    grades = settled(swept(FOUR)).grades
    assert {found.grades["flexibility_stars"] for found in grades.values()} == {3.0}  # 101 of 350 W


# Grades


def test_one_graded_task_gives_no_capability_and_no_letter():
    found = grade([make_row(task="gsm8k")], None)
    assert (found.grades["capability_pct"], found.letter) == (None, None)
    assert found.grades["speed_stars"] == 3.0


def test_two_tasks_with_an_index_give_a_letter():
    rows = [
        make_row(task="gsm8k_platinum", accuracy=0.81, efficiency_index=2.5),
        make_row(task="mmlu_redux", accuracy=0.71, pooled_tokens_per_second=90.0),
    ]
    found = grade(rows, 0.35)
    assert found.grades["capability_pct"] == pytest.approx(76.0)
    assert (found.grades["capability_stars"], found.grades["efficiency_stars"]) == (4.0, 4.0)
    assert found.letter == "B"


@pytest.mark.parametrize("change", [{"verified": False}, {"flags": ["truncated"]}, {"task": "longctx_summary"}])
def test_what_is_claimed_cut_or_without_a_key_is_not_graded(change):
    assert grade([make_row(**change)], None) == grading.Grade({}, None)


@given(st.floats(0, 1e5), st.floats(0, 1e5))
def test_less_memory_never_costs_a_star(one, other):
    low, high = sorted((one, other))
    stars = [grade([make_row(peak_gpu_mem_used_mib=mib)], None).grades["footprint_stars"] for mib in (low, high)]
    assert stars[0] >= stars[1]
