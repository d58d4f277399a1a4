"""What a bundle may hold, and how a refusal names the place."""

import pytest
from asyncenergy_controller import wire

from tests.wire.bundles import make_bundle, make_items, make_run, make_trace, make_v2_bundle, make_v2_run


def refused(bundle) -> wire.WireError:
    with pytest.raises(wire.WireError) as caught:
        wire.parse_bundle(bundle)
    return caught.value


def test_a_version_3_bundle_is_taken():
    bundle = wire.parse_bundle(make_bundle())
    assert isinstance(bundle, wire.BundleV3)
    assert len(bundle.runs[0].items) == 12


def test_a_run_without_its_optional_parts_is_taken():
    run = make_run()
    for optional in ("weights", "sensor", "ledger", "settings", "concurrency", "temperature", "created_at"):
        del run[optional]
    bundle = wire.parse_bundle(make_bundle(run))
    assert isinstance(bundle, wire.BundleV3)
    assert bundle.runs[0].settings.prefix_cache is None


@pytest.mark.parametrize("version", ["1", "2"])
def test_old_bundles_are_taken_and_their_suite_is_quick(version):
    bundle = wire.parse_bundle(make_v2_bundle(schema_version=version))
    assert (bundle.schema_version, bundle.suite) == (version, "quick")


@pytest.mark.parametrize("version", ["4", 3, None, "", "9" * 500])
def test_an_unknown_version_is_refused_and_named(version):
    assert refused(make_bundle(schema_version=version)).errors[0]["attr"] == "schema_version"


def test_an_unknown_key_is_refused_with_its_path():
    assert refused(make_bundle(make_run(colour="red"))).errors[0]["attr"] == "runs.0.colour"


@pytest.mark.parametrize("bad", ["12", True, None])
def test_types_are_strict(bad):
    assert refused(make_bundle(make_run(max_tokens=bad))).errors


def test_columns_of_one_table_have_one_length():
    items = make_items() | {"correct": [1.0]}
    assert "one length" in refused(make_bundle(make_run(items=items))).detail


def test_the_trace_must_rise_strictly_and_the_sample_is_named():
    trace = make_trace()
    trace["t_s"][5] = trace["t_s"][4]
    assert "sample 5" in refused(make_bundle(make_run(trace=trace))).detail


def test_the_power_field_may_come_as_a_column_but_never_mixed():
    n = len(make_trace()["t_s"])
    same = make_run(trace=make_trace() | {"power_field": ["average"] * n})
    bundle = wire.parse_bundle(make_bundle(same))
    assert isinstance(bundle, wire.BundleV3)
    assert bundle.runs[0].trace.power_field == "average"
    mixed = make_run(trace=make_trace() | {"power_field": ["average"] * (n - 1) + ["instant"]})
    assert "one field" in refused(make_bundle(mixed)).detail


def test_too_many_items_are_refused():
    assert refused(make_bundle(make_run(items=make_items(wire.MAX_ITEMS + 1)))).errors


@pytest.mark.parametrize("name", ["=cmd()", "+1", "-x", "@a", "", "a" * 121, "naïve", "a\nb"])
def test_names_that_could_be_formulas_or_fool_a_reader_are_refused(name):
    assert refused(make_bundle(make_run(model=name))).errors[0]["attr"] == "runs.0.model"


@pytest.mark.parametrize("answer", ["x" * 33, "a b", "<b>"])
def test_an_answer_is_short_and_plain(answer):
    items = make_items() | {"answer": [answer] + [None] * 11}
    assert refused(make_bundle(make_run(items=items))).errors


@pytest.mark.parametrize("moment", ["2026-08-20T09:00:00", "yesterday", "20:00"])
def test_naive_times_are_refused(moment):
    assert refused(make_bundle(generated_at=moment)).errors[0]["attr"] == "generated_at"


def test_optional_fields_of_version_2_are_left_out_rather_than_null():
    assert "n_items" in refused(make_v2_bundle(make_v2_run(n_items=None))).detail
    assert wire.parse_bundle(make_v2_bundle(make_v2_run(accuracy=None)))


def test_a_bundle_without_runs_is_refused():
    assert refused(make_bundle(runs=[])).errors[0]["attr"] == "runs"


def test_one_measurement_has_one_identity_whenever_it_was_written():
    later = make_run(created_at="2027-01-01T00:00:00+00:00")
    assert wire.run_identity(make_run()) == wire.run_identity(later)
    assert wire.run_identity(make_run()) != wire.run_identity(make_run(seed=1))
