"""The text of jobs.json: JSON that people may write comments into."""

import json

import pytest
from asyncenergy_controller.jobs.text import decode, plain_json
from hypothesis import given
from hypothesis import strategies as st

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
COMMENTS = st.one_of(
    st.text(st.characters(exclude_characters="\n"), max_size=10).map(lambda text: f"//{text}\n"),
    st.text(max_size=10).filter(lambda text: "*/" not in text).map(lambda text: f"/*{text}*/"),
)


def test_comments_of_both_kinds_and_a_last_comma_are_read_over():
    text = """// first
    { /* a */ "a": "// no comment", // b
      "b": ["/* nor this */", 1,], /* over
      lines */
      "c": "quote \\" // still inside",
    } // the end"""
    assert decode(text) == {"a": "// no comment", "b": ["/* nor this */", 1], "c": 'quote " // still inside'}


@given(VALUES)
def test_plain_json_means_what_it_means_everywhere(value):
    assert decode(json.dumps(value)) == value


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=8), max_size=3), COMMENTS, COMMENTS)
def test_a_comment_between_two_parts_changes_nothing(value, first, second):
    text = json.dumps(value, indent=1)
    broken_up = f"{first}{text[0]}{second}{text[1:]}{first}"
    assert decode(broken_up) == value


@given(st.text(alphabet='"\\/*,{}[] \na', max_size=40))
def test_every_character_stays_at_its_line_and_column(text):
    plain = plain_json(text)
    assert len(plain) == len(text)
    assert [i for i, c in enumerate(plain) if c == "\n"] == [i for i, c in enumerate(text) if c == "\n"]


def test_an_error_names_its_line_whatever_comments_come_before():
    with pytest.raises(ValueError, match="line 4 column 3"):
        decode('{ // one\n /* two\n three */ "a": 1\n  "b": 2}')


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"a": 1, "a": 2}', "'a' stands there twice"),
        ('{"a": NaN}', "NaN"),
        ('{"a": Infinity}', "Infinity"),
        ('{"a": 1e999}', "1e999"),
        ('{"a": "\\ud800"}', "surrogates"),
        ("", "Expecting value"),
        ('{"a": 1', "Expecting"),
        ('{"a": 1 /* open', "Expecting"),
        ('{"a": 1,,}', "Expecting"),
        ("# no comment of ours\n{}", "Expecting value"),
    ],
)
def test_what_is_no_json_is_an_error_in_words(text, named):
    with pytest.raises(ValueError, match=named):
        decode(text)


def test_remarks_may_be_written_again_and_again():
    assert decode('{"_note": 1, "_note": 2}') == {"_note": 2}
