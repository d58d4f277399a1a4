"""Two to four rows side by side, asked for with tick boxes."""

import pytest

from tests.bench.pages_corpus import make_row
from tests.bench.pages_html import read

pytestmark = pytest.mark.django_db
COMPARE = "/bench/compare/"


def key(letter):
    return letter.ljust(16, "0")


def row(letter, value, low, high, **changes):
    wide = {"jpc_wide_low": low, "jpc_wide_high": high}
    make_row(letter, joules_per_correct_answer=value, jpc_ci_low=low, jpc_ci_high=high, **wide, **changes)


def compared(client, *letters, task="arith"):
    return read(client.get(COMPARE, {"task": task, "row": [key(letter) for letter in letters]}))


def test_every_row_of_the_board_can_be_ticked(client):
    row("a", 100, 90, 110)
    page = read(client.get("/bench/leaderboard/"))
    (box,) = [field for field in page.all("input") if field.get("name") == "row"]
    assert (box["name"], box["value"], box["form"]) == ("row", key("a"), "compare")
    assert box["aria-label"].startswith("Compare SmolLM2-135M-Instruct")


def test_rows_stand_in_the_order_asked_with_their_figures(client):
    row("a", 100, 90, 110, model="first-7b")
    row("b", 700, 650, 760, model="second-7b", accuracy=0.5, accuracy_ci_low=0.4, accuracy_ci_high=0.6)
    text = compared(client, "b", "a").text
    assert text.index("second-7b") < text.index("first-7b")
    assert "700 J" in text
    assert "50.0 %" in text
    assert "A needs 7.00 × the energy of B for a correct answer" in text


def test_rows_that_overlap_cannot_be_told_apart(client):
    row("a", 100, 90, 110)
    row("b", 105, 95, 118)
    assert "A and B can’t be told apart in energy" in compared(client, "a", "b").text


def test_an_interval_that_was_withheld_decides_nothing(client):
    row("a", 100, 90, 110)
    row("b", 900, None, None)
    assert "one has no interval" in compared(client, "a", "b").text


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (
            {"energy_boundary": "cpu_package", "energy_source": "rapl"},
            {"energy_boundary": "wall", "energy_source": "rapl"},
            "A was measured at the processor package, B at the machine at the wall",
        ),
        (
            {"energy_source": "counter"},
            {"energy_source": "amdsmi"},
            "A was read from the device’s energy counter, B from AMD SMI",
        ),
    ],
)
def test_different_kinds_of_energy_are_no_multiples_of_each_other(client, one, other, words):
    row("a", 10, 9, 11, **one)
    row("b", 30, 28, 33, **other)
    row("c", 40, 38, 43, **other)
    text = compared(client, "a", "b", "c").text
    assert f"{words}: the two figures can’t be compared" in text
    assert "the energy of A" not in text
    assert "C needs 1.33 × the energy of B" in text


def test_a_counter_and_the_integration_of_one_board_are_compared(client):
    row("a", 10, 9, 11)
    row("b", 30, 28, 33, energy_source="integrated")
    assert "B needs 3.00 × the energy of A" in compared(client, "a", "b").text


def test_what_differs_is_told_apart_from_what_is_the_same(client):
    row("a", 100, 90, 110, power_limit_w=250.0)
    row("b", 200, 190, 210, power_limit_w=None)
    page = compared(client, "a", "b")
    differs, same = page.text.split("The same in all:")
    assert "Power limit (W) 250 stock" in differs.split("What differs")[1]
    assert "Engine transformers; " in same


def test_no_correct_answer_is_undefined_and_no_energy_is_not_measured(client):
    row("a", None, None, None, accuracy=0, n_items=15)
    row("b", None, None, None, joules_per_token=None)
    text = compared(client, "a", "b").text
    assert "undefined 0 of 15 correct" in text
    assert "not measured" in text


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ({"task": "arith", "row": [key("a")]}, "asked for 1 row"),
        ({"task": "arith", "row": [key("a"), key("a")]}, "asked for 1 row"),
        ({"task": "arith", "row": [key(letter) for letter in "abcde"]}, "asked for 5 rows"),
        ({"task": "arith"}, "asked for 0 rows"),
        ({"row": [key("a"), key("b")]}, "No task is named"),
        ({"task": "arith", "row": [key("a"), "nothing"]}, "A configuration key has 16 letters and digits"),
        ({"task": "arith", "row": [key("a"), "0" * 16]}, "1 row of these can’t be found on arith"),
        ({"task": "gsm8k", "row": [key("a"), key("b")]}, "2 rows of these can’t be found on gsm8k"),
    ],
)
def test_what_cannot_be_compared_is_said_with_a_way_back(client, query, complaint):
    row("a", 100, 90, 110)
    row("b", 200, 190, 210)
    page = read(client.get(COMPARE, query))
    assert complaint in page.text
    assert page.all("table") == []
    assert any(href.startswith("/bench/leaderboard/") for href in page.values("href"))


def test_one_of_three_can_be_left_out(client):
    for letter, value in (("a", 100), ("b", 200), ("c", 400)):
        row(letter, value, value - 1, value + 1)
    page = compared(client, "a", "b", "c")
    assert f"?task=arith&row={key('b')}&row={key('c')}" in page.values("href")
    assert "Leave out" not in compared(client, "a", "b").text


def test_the_page_is_sound_and_asks_the_database_little(client, django_assert_num_queries):
    row("a", 100, 90, 110)
    row("b", 200, 190, 210, marks=[{"code": "truncated", "label": "truncated 48 %", "sentence": "Cut off."}])
    with django_assert_num_queries(2):
        page = compared(client, "a", "b")
    assert page.faults == []
    assert len(page.values("id")) == len(set(page.values("id")))
