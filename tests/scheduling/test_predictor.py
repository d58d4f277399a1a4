"""Duration and power before a job runs: measured history, else the corpus, else the nameplate, else nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.predictor import Known, PastRun, Prediction, Unpredictable, predict, relative_shape

SECONDS = st.floats(1, 1e5)
RUNS = st.lists(st.builds(PastRun, SECONDS, st.one_of(st.none(), st.floats(0.001, 1e4))), min_size=1, max_size=30)


def run(duration_s=1000.0, energy_wh=100.0, shape=()):
    return PastRun(duration_s, energy_wh, shape)


def test_history_comes_before_the_corpus_and_the_corpus_before_the_nameplate():
    everything = Known([run()] * 5, est_duration_s=50, nameplate_w=999, prior_w=500)
    assert predict(everything).method == "history"
    assert predict(Known([], 50, 999, 500)).method == "bench_prior"
    assert predict(Known([], 50, 999)).method == "nameplate"


def test_an_estimate_keeps_a_quarter_free():
    prediction = predict(Known([], est_duration_s=3600, nameplate_w=300))
    assert (prediction.duration_s, prediction.reserve_s, prediction.energy_wh) == (3600, 4500, 300)


def test_of_fewer_than_five_runs_the_longest_and_a_tenth_counts():
    prediction = predict(Known([run(900), run(1000), run(800)]))
    assert prediction.duration_s == prediction.reserve_s == 1100


def test_of_five_runs_the_median_counts_for_cost_and_the_ninth_decile_for_the_deadline():
    prediction = predict(Known([run(seconds) for seconds in (100, 110, 120, 130, 500)]))
    assert (prediction.duration_s, prediction.reserve_s) == (120, 500)
    assert prediction.n_runs == 5


def test_recent_runs_weigh_more():
    faster_now = [run(100)] * 12 + [run(1000)] * 16
    slower_now = [run(1000)] * 12 + [run(100)] * 16
    assert predict(Known(faster_now)).duration_s < predict(Known(slower_now)).duration_s


def test_runs_without_measured_energy_tell_the_duration_but_not_the_power():
    prediction = predict(Known([run(1000, None)] * 6, est_duration_s=50, nameplate_w=200))
    assert (prediction.method, prediction.duration_s) == ("nameplate", 1000)
    assert prediction.mean_w == pytest.approx(200)


@pytest.mark.parametrize(
    ("known", "missing"),
    [
        (Known(), ("est_duration_s", "nameplate_watts")),
        (Known(nameplate_w=300), ("est_duration_s",)),
        (Known(est_duration_s=60), ("nameplate_watts",)),
        (Known([run(100, None)]), ("nameplate_watts",)),
    ],
)
def test_without_a_basis_it_asks_instead_of_guessing(known, missing):
    answer = predict(known)
    assert isinstance(answer, Unpredictable)
    assert answer.missing == missing
    assert all(name in answer.sentence for name in missing)


def test_the_median_profile_is_followed():
    ramp = tuple([0.5] * 4 + [1.5] * 4)
    prediction = predict(Known([run(1000, 100, ramp)] * 5 + [run(1000, 100, (8.0, *[0.0] * 7))]))
    assert prediction.profile == ((500.0, pytest.approx(180)), (500.0, pytest.approx(540)))
    assert prediction.energy_wh == pytest.approx(100)


@given(runs=RUNS)
def test_whatever_the_history_the_reserve_holds_the_typical_run(runs):
    answer = predict(Known(runs, nameplate_w=100))
    assert isinstance(answer, Prediction)
    assert answer.reserve_s >= answer.duration_s > 0
    assert answer.reserve_s == int(answer.reserve_s), "starts then fall on whole seconds"
    assert sum(seconds for seconds, _ in answer.profile) == pytest.approx(answer.duration_s)
    assert answer.reserve_s <= max(r.duration_s for r in runs) * 1.1 + 1
    assert all(watts >= 0 for _, watts in answer.profile)


@given(buckets=st.lists(st.floats(0.01, 100), min_size=1, max_size=120))
def test_a_shape_keeps_the_energy_and_its_mean_is_one(buckets):
    shape = relative_shape(buckets)
    assert sum(shape) / len(shape) == pytest.approx(1)
    half = sum(relative_shape(buckets, 2)[:1])
    assert half == pytest.approx(
        sum(b * max(0, min(1, len(buckets) / 2 - i)) for i, b in enumerate(buckets)) / sum(buckets) * 2
    )


@pytest.mark.parametrize("buckets", [[], [None, 1.0], [0.0, 0.0]])
def test_a_profile_with_a_hole_has_no_shape(buckets):
    assert relative_shape(buckets) == ()
