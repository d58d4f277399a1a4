"""Whatever is sent is stored whole or refused with a place: never an error of ours, never half of it."""

import copy
import json
import warnings
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.errors import BundleRefused
from bench.models import Node, Run, RunColumns, Submission
from bench.services import submission_ingest
from tests.wire.bundles import NODE, make_bundle, make_items, make_run, make_trace, make_v2_bundle, make_v2_run

pytestmark = [pytest.mark.campaign, pytest.mark.django_db]
ODD = st.sampled_from(
    [
        None,
        True,
        0,
        -0.0,
        -1,
        1,
        0.5,
        2,
        1e-300,
        1e17,
        1e18,
        1e19,
        10**30,
        2**63,
        "",
        "x",
        "=1",
        [],
        {},
        [None],
        "2026-08-20",
    ]
)
COLUMNS = st.sampled_from([("items", name) for name in make_items()] + [("trace", name) for name in make_trace()])


def base_v3() -> dict[str, Any]:
    sensor = {"counter_period_s": 0.1, "cpu_energy_range_uj": 1e9}
    ledger = [{"phase": "empty_idle", "t_start_s": 0.0, "t_end_s": 2.0}]
    run = make_run(sensor=sensor, ledger=ledger, power_limit_w=350.0, n_correct=6, trace=make_trace(16.0))
    return make_bundle(
        run,
        nodes=[{"node_hash": NODE, "ram_gb": 64.0, "pcie_gen": 4}],
        baselines=[{"node_hash": NODE, "kind": "loaded", "mean_gpu_w": 30.0}],
    )


def assert_stored_whole_or_refused(account, bundle: dict[str, Any]) -> None:
    before = [model.objects.count() for model in (Submission, Run, RunColumns, Node)]
    raw = json.dumps(bundle).encode()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # numpy's word for an overflow
            result = submission_ingest(account=account, raw=raw)
    except BundleRefused:
        assert [model.objects.count() for model in (Submission, Run, RunColumns, Node)] == before
        return
    stored = Run.objects.filter(submission=result.submission)
    assert result.created is (stored.count() == len(bundle["runs"])) or not result.created
    for run in stored:
        assert run.energy_j is None or run.energy_j >= 0
        assert run.n_correct is None or run.n_correct <= run.n_items


@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_field_may_hold_anything(submitter, data):
    bundle = base_v3()
    place: dict[str, Any] = data.draw(
        st.sampled_from([bundle, bundle["runs"][0], bundle["nodes"][0], bundle["baselines"][0]])
    )
    place[data.draw(st.sampled_from(sorted(place)))] = data.draw(ODD)
    assert_stored_whole_or_refused(submitter, bundle)


@given(where=COLUMNS, at=st.integers(0, 11), odd=ODD)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_value_of_a_column_may_be_anything(submitter, where, at, odd):
    bundle = copy.deepcopy(base_v3())
    table, name = where
    column = bundle["runs"][0][table][name]
    if isinstance(column, list):
        column[at] = odd
    else:
        bundle["runs"][0][table][name] = odd
    assert_stored_whole_or_refused(submitter, bundle)


@given(name=st.sampled_from(sorted(make_v2_run())), odd=ODD)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_total_may_be_anything(submitter, name, odd):
    assert_stored_whole_or_refused(submitter, make_v2_bundle({**make_v2_run(), name: odd}))
