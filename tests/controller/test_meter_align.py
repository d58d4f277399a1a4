"""The wall's clock against the GPU's, by the edges that both have seen."""

import json

import numpy as np
import pytest
from asyncenergy_controller.meters.align import align_wall
from hypothesis import given, settings
from hypothesis import strategies as st


def load_w(t_s):
    """A minute of work in pieces of uneven length."""
    edges = [0, 7.3, 11.6, 19.1, 22.4, 31.9, 37.7, 52.2]
    return 90 + 210.0 * (np.searchsorted(edges, t_s, side="right") % 2)


def recording(skew_s, *, wall_every=5, noise_w=3.0, gain=1.15, base_w=60.0, power=load_w, seed=1):
    """One trace at 5 Hz; the wall is seen once a second, later by the skew, with the losses of a power supply."""
    rng = np.random.default_rng(seed)
    t_s = np.arange(0, 60, 0.2)
    wall = base_w + gain * power(t_s - skew_s) + rng.normal(0, noise_w, len(t_s))
    seen = [value if index % wall_every == 0 else None for index, value in enumerate(wall)]
    return t_s.tolist(), (power(t_s) + rng.normal(0, 1, len(t_s))).tolist(), seen


@settings(max_examples=20, deadline=None)
@given(st.floats(-8, 8), st.integers(0, 1000))
def test_the_skew_is_found_within_a_reading(skew_s, seed):
    found = align_wall(*recording(skew_s, seed=seed))
    assert found.reason is None
    assert found.skew_s == pytest.approx(skew_s, abs=0.3)
    assert found.match is not None
    assert found.match > 0.9


def test_samples_missing_on_both_sides_do_not_matter():
    t_s, gpu_w, wall_w = recording(2.4)
    gpu_w[30:45] = [None] * 15
    assert align_wall(t_s, gpu_w, wall_w).skew_s == pytest.approx(2.4, abs=0.3)


def test_a_flat_load_has_no_edges_to_align_by():
    flat = recording(2, power=lambda t_s: np.full_like(t_s, 200.0))
    assert (align_wall(*flat).skew_s, align_wall(*flat).reason) == (None, "no_edges")


def test_a_wall_that_sees_another_machine_does_not_match():
    t_s, gpu_w, _ = recording(0)
    other = np.random.default_rng(3).uniform(100, 500, len(t_s))
    found = align_wall(t_s, gpu_w, [value if i % 5 == 0 else None for i, value in enumerate(other)])
    assert (found.skew_s, found.reason) == (None, "no_match")


def test_a_stuck_plug_does_not_match():
    t_s, gpu_w, _ = recording(0)
    assert align_wall(t_s, gpu_w, [300.0] * len(t_s)).reason == "no_match"


@pytest.mark.parametrize("wall", [[None] * 300, [None] * 295 + [300.0] * 5])
def test_too_few_answers_of_the_wall_are_not_aligned(wall):
    t_s, gpu_w, _ = recording(0)
    assert align_wall(t_s, gpu_w, wall).reason == "too_few_samples"


@pytest.mark.parametrize("skew_s", [-13, -11.5, 11.5, 12, 13, 20])
@pytest.mark.parametrize("period_s", [60, 100])
def test_a_skew_beyond_ten_seconds_is_not_taken_for_a_smaller_one(skew_s, period_s):
    found = align_wall(*recording(skew_s, power=lambda t_s: 90 + 210.0 * (t_s // (period_s / 2) % 2)))
    assert (found.skew_s, found.reason) == (None, "no_match")


@pytest.mark.parametrize("skew_s", [0, 1.5, 3])
@pytest.mark.parametrize("period_s", [4, 7, 12])
def test_a_load_that_repeats_itself_fits_at_several_skews_and_tells_none(skew_s, period_s):
    found = align_wall(*recording(skew_s, power=lambda t_s: 90 + 210.0 * (t_s // (period_s / 2) % 2)))
    assert (found.skew_s, found.reason) == (None, "ambiguous")


def test_a_slow_load_tells_its_skew_though_its_match_falls_slowly():
    found = align_wall(*recording(3.3, power=lambda t_s: 90 + 210.0 * ((t_s > 5) & (t_s < 55))))
    assert found.skew_s == pytest.approx(3.3, abs=0.5)


def test_a_recorded_square_wave_is_aligned(shared_data):
    samples = json.loads((shared_data / "h200_smollm2_trace.json").read_text())["square_wave_20hz"]
    samples = samples["samples"] if isinstance(samples, dict) else samples
    t_s = np.array([sample["ts"] if isinstance(sample, dict) else sample[0] for sample in samples])
    gpu_w = np.array([sample["power_w"] if isinstance(sample, dict) else sample[1] for sample in samples])
    wall = 80 + 1.1 * np.interp(t_s - 1.3, t_s, gpu_w)
    seen = [value if index % 10 == 0 else None for index, value in enumerate(wall)]
    found = align_wall((t_s - t_s[0]).tolist(), gpu_w.tolist(), seen)
    assert found.skew_s == pytest.approx(1.3, abs=0.15)
