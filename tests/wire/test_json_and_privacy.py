"""Bodies that other parsers would let through, and values that would name a machine."""

import json

import pytest
from asyncenergy_controller import wire
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.bundles import make_bundle

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), inner, max_size=3
    ),
    max_leaves=10,
)  # fmt: skip


def depth(value) -> int:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return 1 + max(map(depth, inner), default=0)
    return 0


@given(VALUES)
def test_every_honest_body_is_read_as_it_was_written(value):
    raw = json.dumps(value, ensure_ascii=False).encode()
    if depth(value) <= wire.MAX_NESTING:
        assert wire.check_json_bytes(raw) == value


@given(st.integers(1, 40), st.sampled_from(["[]", "{}"]))
def test_depth_is_counted_exactly(levels, kind):
    open_, close = ('{"a":', "}") if kind == "{}" else ("[", "]")
    raw = (open_ * levels + "1" + close * levels).encode()
    if levels <= wire.MAX_NESTING:
        wire.check_json_bytes(raw)
    else:
        with pytest.raises(wire.WireError) as caught:
            wire.check_json_bytes(raw)
        assert caught.value.code == "too_deep"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b'{"a": NaN}', "not_finite"),
        (b'{"a": -Infinity}', "not_finite"),
        (b'{"a": 1e999}', "not_finite"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not_finite"),
        (rb'{"a": "x\u0000"}', "nul"),
        (rb'{"a": "\ud800"}', "unreadable"),
        (b'{"a": 1, "a": 2}', "unreadable"),
        (b"\xff\xfe", "unreadable"),
        (b"", "unreadable"),
        (b"[" * 100_000, "too_deep"),
    ],
)
def test_hostile_bodies_are_refused_with_a_code(raw, code):
    with pytest.raises(wire.WireError) as caught:
        wire.check_json_bytes(raw)
    assert caught.value.code == code
    assert caught.value.detail.endswith(".")


def test_a_backslash_before_u0000_is_only_text():
    assert wire.check_json_bytes(rb'{"a": "\\u0000"}') == {"a": r"\u0000"}


@pytest.mark.parametrize(
    "key", ["gpu_uuid", "Serial", "hostname", "entity_id", "mac", "mac_address", "eth0-mac", "macAddress"]
)
def test_private_keys_are_found_wherever_they_stand(key):
    bundle = make_bundle(nodes=[{"deep": [{key: 1}]}])
    finding = wire.find_private(bundle)
    assert finding is not None
    assert finding.path == f"nodes.0.deep.0.{key}"


@pytest.mark.parametrize("key", ["machine", "machines", "macro", "format", "emacs"])
def test_innocent_keys_pass(key):
    assert wire.find_private({key: 1}) is None


@pytest.mark.parametrize("value", ["/models/a.gguf", "file:/home/ann/x", "C:\\m\\a", "/Users/ann", "x /root"])
def test_paths_are_found(value):
    finding = wire.find_private({"runs": [{"model": value}]})
    assert finding is not None
    assert (finding.path, finding.code) == ("runs.0.model", "private_path")


@pytest.mark.parametrize("value", ["org/model", "a/b/c", "Q4_K_M", "https://example.org/x"])
def test_repository_names_pass(value):
    assert wire.find_private({"model": value}) is None


def test_an_honest_bundle_passes_the_net():
    assert wire.find_private(make_bundle()) is None


def test_the_consent_text_says_what_is_asked_of_it():
    for said in ("raw power trace", "CC BY 4.0", "can't be recalled", "withdraw"):
        assert said in wire.CONSENT_TEXT
