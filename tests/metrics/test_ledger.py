"""Where the energy of a recording went, phase by phase."""

import pytest
from asyncenergy_controller.metrics import recompute_run

from .runs import made_run

PHASES = [("empty_idle", 0, 10, 80), ("load", 10, 15, 200), ("loaded_idle", 15, 30, 125), ("warmup", 30, 32, 300)]


def watts(t: float) -> float:
    return next((w for _, start, end, w in PHASES if start <= t < end), 280 if t <= 92 else 125)


def phased_run(**changes):
    ledger = [{"phase": name, "t_start_s": start, "t_end_s": end} for name, start, end, _ in PHASES]
    ledger += [
        {"phase": "items", "t_start_s": 32, "t_end_s": 92},
        {"phase": "tail", "t_start_s": 92, "t_end_s": 97},
    ]
    return made_run(seconds=60, lead_s=32, tail_s=5, watts=watts, ledger=ledger) | changes


def test_each_phase_has_its_joules_and_seconds():
    entries = {entry.phase: entry for entry in recompute_run(phased_run()).ledger}
    assert list(entries) == ["empty_idle", "load", "loaded_idle", "warmup", "items", "tail"]
    assert entries["load"].energy_j == pytest.approx(1000, abs=0.2 * 120)
    assert entries["loaded_idle"].mean_w == pytest.approx(125, rel=0.02)
    assert entries["items"].duration_s == 60


def test_the_phases_add_up_to_the_whole_recording():
    figures = recompute_run(phased_run())
    assert sum(entry.energy_j for entry in figures.ledger) == pytest.approx(figures.recording_joules, rel=0.01)
    assert figures.ledger_difference_pct == pytest.approx(0, abs=1e-6)


def test_a_phase_named_twice_or_left_out_shows():
    run = phased_run()
    assert recompute_run(run | {"ledger": run["ledger"][:-2]}).ledger_difference_pct < -50
    assert recompute_run(run | {"ledger": [*run["ledger"], run["ledger"][4]]}).ledger_difference_pct > 50


def test_warm_up_and_load_are_no_part_of_the_headline():
    assert recompute_run(phased_run()).total_joules_gpu_best == pytest.approx(16_800, rel=0.002)


def test_net_is_gross_without_the_loaded_idle():
    figures = recompute_run(phased_run())
    assert figures.net_joules == pytest.approx(figures.total_joules_gpu_best - 60 * figures.idle_loaded_w)
    assert figures.net_jpc == pytest.approx(figures.net_joules / 20)


def test_net_is_never_clamped_at_0():
    figures = recompute_run(made_run(seconds=60, watts=120), baselines=[{"kind": "loaded", "mean_gpu_w": 125.0}])
    assert figures.net_joules == pytest.approx(-300)


def test_without_an_idle_phase_there_is_no_net():
    figures = recompute_run(made_run())
    assert figures.net_joules is figures.net_jpc is figures.idle_loaded_w is None


def test_wall_net_subtracts_the_empty_idle():
    run = phased_run()
    run["trace"]["wall_power_w"] = [w + 60 for w in run["trace"]["gpu_power_w"]]
    figures = recompute_run(run)
    assert figures.wall_net_joules == pytest.approx(60 * (280 + 60 - 80 - 60), rel=0.01)


def test_a_phase_outside_the_recording_is_unmeasured_with_a_reason():
    run = phased_run(ledger=[{"phase": "tail", "t_start_s": 95, "t_end_s": 120}])
    figures = recompute_run(run)
    assert (figures.ledger[0].energy_j, figures.ledger[0].reason) == (None, "window_not_sampled")
    assert figures.ledger_difference_pct is None


def test_a_phase_whose_first_reading_lacked_the_counter_counts_from_the_next_one():
    # As in a second recording right after a first one, which had read the slow counter a moment ago.
    run = phased_run()
    run["trace"]["gpu_energy_mj"][0] = None
    figures = recompute_run(run)
    first = figures.ledger[0]
    assert (first.t_start_s, first.t_end_s, first.duration_s) == (0, 10, pytest.approx(9.8))
    assert (first.energy_j, first.reason) == (pytest.approx(80 * 9.8, abs=0.2 * 120), None)
    assert figures.idle_empty_w == pytest.approx(first.energy_j / 9.8)
    assert figures.ledger_difference_pct == pytest.approx(0, abs=1e-6)


def test_a_phase_that_was_not_read_for_over_2_s_is_unmeasured():
    run = phased_run()
    run["trace"]["gpu_energy_mj"] = [None if t < 2.1 else mj for t, mj in energies(run)]
    assert (recompute_run(run).ledger[0].energy_j, recompute_run(run).ledger[0].reason) == (None, "window_not_sampled")
    run["trace"]["gpu_energy_mj"] = [None if t > 94.9 else mj for t, mj in energies(phased_run())]
    assert (recompute_run(run).ledger[-1].energy_j, recompute_run(run).ledger[-1].reason) == (
        None,
        "window_not_sampled",
    )


def energies(run):
    return zip(run["trace"]["t_s"], run["trace"]["gpu_energy_mj"], strict=True)


def test_a_plug_that_first_answers_after_a_second_still_knows_the_empty_idle():
    run = phased_run()
    run["trace"]["wall_power_w"] = [w + 60 if i % 5 == 4 else None for i, w in enumerate(run["trace"]["gpu_power_w"])]
    assert recompute_run(run).wall_net_joules == pytest.approx(60 * (280 + 60 - 80 - 60), rel=0.01)


@pytest.mark.parametrize("counter", [True, False])
def test_a_phase_of_no_length_has_no_energy_and_spoils_no_sum(counter):
    ledger = [("loaded_idle", 0, 2), ("warmup", 2, 2), ("items", 2, 62), ("tail", 62, 64)]
    phases = [{"phase": name, "t_start_s": start, "t_end_s": end} for name, start, end in ledger]
    figures = recompute_run(made_run(seconds=60, watts=280, counter=counter, ledger=phases))
    assert [entry.energy_j for entry in figures.ledger] == pytest.approx([560, 0, 16_800, 560])
    assert (figures.ledger[1].mean_w, figures.ledger[1].reason) == (None, None)
    assert figures.ledger_difference_pct == pytest.approx(0, abs=1e-9)


def test_a_phase_that_ends_before_it_starts_is_refused():
    with pytest.raises(ValueError, match=r"phase load ends at 5.0 s, before it starts at 10.0 s"):
        recompute_run(made_run(ledger=[{"phase": "load", "t_start_s": 10, "t_end_s": 5}]))
