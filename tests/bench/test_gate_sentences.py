"""What a gate says when it has found nothing must not read as a finding."""

import pytest

from tests.bench.test_gates import GATE, PASSING_AND_FAILING, evidence

ALARMS = (
    "in step with",
    "slowed itself down in 0",
    "0 other processes",
    " 0 s ahead",
    "went backwards",
    "sent before, under",
    "known from another",
    "read nothing",
    "submitter's word",
    "is simulated",
    "totals only",
)


def sentence(code, case):
    (result,) = GATE[code].results(evidence(**case))
    return result.sentence


@pytest.mark.parametrize("code", PASSING_AND_FAILING)
def test_a_passed_gate_raises_no_alarm(code):
    said = sentence(code, PASSING_AND_FAILING[code][0])
    assert not [words for words in ALARMS if words in said], said


@pytest.mark.parametrize("code", PASSING_AND_FAILING)
def test_passed_and_failed_are_told_in_different_words_or_numbers(code):
    honest, other = PASSING_AND_FAILING[code]
    assert sentence(code, honest) != sentence(code, other)


@pytest.mark.parametrize("code", ["clock_skew", "clock_ahead"])
def test_a_clock_that_is_behind_or_right_is_not_ahead(code):
    for seconds in (-86400.0, 0.0):
        assert sentence(code, {"ahead_s": seconds}).startswith("The bundle's clock is not ahead of ours (")


def test_a_clock_within_the_limit_shows_both_numbers():
    assert sentence("clock_skew", {"ahead_s": 42.0}) == "The bundle's clock is 42 s ahead of ours (mark over 60 s)."
