"""What is packed comes out again: text byte for byte, columns value for value."""

import json
from math import nan

import numpy as np
import pytest
from asyncenergy_controller.metrics import recompute_run
from asyncenergy_controller.wire import run_identity
from hypothesis import given
from hypothesis import strategies as st

from bench.columns import as_arrays
from bench.derivation import sent_runs
from bench.packing import pack, pack_columns, unpack, unpack_columns
from tests.wire.bundles import make_bundle, make_run

NUMBERS = st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), max_size=30)


@given(st.binary(max_size=200))
def test_bytes_come_out_as_they_went_in(raw):
    assert unpack(pack(raw)) == raw


@given(st.dictionaries(st.sampled_from(["t_s", "gpu_power_w", "wall_power_w"]), NUMBERS), st.none() | st.text("ab"))
def test_columns_come_out_with_their_gaps(columns, word):
    arrays = {name: np.asarray(column, dtype=np.float64) for name, column in columns.items()}
    assert unpack_columns(pack_columns({**arrays, "power_field": word})) == {**columns, "power_field": word}


def test_masks_stay_whole_numbers():
    packed = pack_columns({"throttle_mask": np.array([0.0, nan, 4.0])})
    assert json.dumps(unpack_columns(packed)) == '{"throttle_mask": [0, null, 4]}'


def test_lists_and_arrays_of_one_run_have_one_identity_and_the_same_figures():
    run = make_run()
    run["trace"]["gpu_power_w"][3] = None
    assert run_identity(run) == run_identity(as_arrays(run))
    assert recompute_run(run) == recompute_run(as_arrays(run))


@pytest.mark.parametrize(("table", "column"), [("trace", "gpu_power_w"), ("items", "t_end_s"), ("items", "correct")])
def test_one_other_number_is_another_run(table, column):
    run, other = make_run(), make_run()
    other[table][column][5] += 0.25
    assert run_identity(run) != run_identity(other)


def test_whole_numbers_may_be_written_with_or_without_a_point():
    run, other = make_run(), make_run()
    run["trace"]["gpu_util_pct"] = [float(i) for i in range(81)]
    other["trace"]["gpu_util_pct"] = list(range(81))
    assert run_identity(run) == run_identity(other)


def test_another_finish_reason_is_another_run():
    run, other = make_run(), make_run()
    other["items"]["finish_reason"] = ["length"] * 12
    identities = {sent.identity for sent in sent_runs(make_bundle(run, other))}
    assert len(identities) == 2
