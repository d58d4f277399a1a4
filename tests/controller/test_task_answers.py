"""The final answer is found in what models really write, and compared by value."""

from fractions import Fraction

import pytest
from asyncenergy_controller.tasks import answers
from hypothesis import given
from hypothesis import strategies as st

# Verbatim completions of SmolLM2-135M-Instruct (Q4_1, temperature 0).
REAL_NUMBERS = [
    ("3 + 4 = 7\n\nThis is a classic example of a mathematical identity that has been used for centuries.", "7"),
    ("Tom has 5 apples and buys 8 more, so he has 5 + 8 = 13 apples.\n#### 13\nThe answer is: 13", "13"),
    ("Leo shares 30 / 5 = 6. The answer is 6.", "6"),
    ("Finn has 2 * 10 = 20 nuts. The box has 2 + 10 = 22 nuts. The answer is 22.", "22"),
    ("Iris has 9 apples and gives 3 apples to Iris. So, Iris has 9 - 3 = 4 apples left.", "4"),
    ("Mia has 42 - 7 = 18 stones. Each friend gets 18 / 7 = 2 stones.", "2"),
    ("Each friend gets 4 shells. The answer is 4.", "4"),
    (
        "Jill works 50 weeks a year * 35 hours a week = 180 hours per year.\n"
        "She earns $20 / 180 hours = $0.0025 per hour.\n#### 0.0025",
        "0.0025",
    ),
    ("John spent $200 - $40 = $160 on blue ties.\n#### 160", "160"),
    ("To solve this problem, we need to consider the constraints of only having a few nuts.", None),
]


@pytest.mark.parametrize(("completion", "number"), REAL_NUMBERS)
def test_the_final_number_of_real_completions(completion, number):
    assert answers.final_number(completion) == number


@pytest.mark.parametrize(
    ("completion", "number"),
    [
        ("The answer is $1,234.50.", "1234.5"),
        ("The answer is **72**.", "72"),
        ("The final answer is: 3 * 4 = 12", "12"),
        ("Answer: 12 apples and 3 pears", "12"),
        ("so \\boxed{42} it is, out of 100", "42"),
        ("#### 18\nI checked all 3 steps.", "18"),
        ("The answer is 5. No, the answer is 6.", "6"),
        ("It costs 12,345 dollars", "12345"),
        ("that is 3/4 of it", "3/4"),
        ("x=-5", "-5"),
        ("2 - 3 = -1", "-1"),
        ("10-4", "4"),
        ("a temperature of −7", "-7"),
        ("about $.50", "0.5"),
        ("100%", "100"),
        ("1,2,3", "3"),
        ("version v2.0 has 3", "3"),
        ("<think>maybe 7, maybe 8</think>The answer is 9.", "9"),
        ("maybe 7</think>The answer is 9.", "9"),
        ("<think>the answer is 7, but let me che", None),
        ("<thinking>maybe 7</thinking>It is 18, or 9.", "9"),
        ("maybe 7</thinking>It is done.", None),
        ("The answer is unknown.", None),
        ("", None),
    ],
)
def test_the_last_mark_wins_and_else_the_last_number(completion, number):
    assert answers.final_number(completion) == number


@pytest.mark.parametrize(
    ("completion", "number"),
    [
        ("**Answer**: 18\n\nThat is 9 more than 9.", "18"),
        ("**Final Answer**\n\n18 dollars, with 5 left", "18"),
        ("### Answer:\n18\n\n5 days", "18"),
        ("So the answer is:\n\n**18** eggs\n\nThat leaves 5.", "18"),
        ("The answer is 18. Check: 18 / 2 = 9", "18"),
        ("The answer is **18** (9 * 2 = 18, 16 - 7 = 9)", "18"),
        ("The answer is 18 because 16 - 3 - 4 = 9.", "18"),
        ("The answer would be 18. Let me check: 4 + 5 = 9", "18"),
        ("Answer: 16 - 3 - 4 = 9 eggs. 9 * 2 = $18.", "18"),
        ("Answer: Tom has 5 apples and buys 8 more, so he has 5 + 8 = 13 apples.", "13"),
        ("The answer isn't 5. It is 18", "18"),
        ("The answer is not 5 but 18", "18"),
        ("The answer is 3/4.", "3/4"),
    ],
)
def test_the_stated_number_counts_whatever_is_written_around_it(completion, number):
    assert answers.final_number(completion) == number


@pytest.mark.parametrize(
    ("completion", "number"),
    [
        (r"The answer is $57{,}500$", "57500"),
        (r"\boxed{1{,}234}", "1234"),
        (r"11,\!111,\!100 in all", "11111100"),
        (r"#### 57\,500", "57500"),
        ("#### 1\u00a0234", "1234"),
        ("#### 1\u202f234", "1234"),
        (r"\boxed{\frac{3}{4}}", "3/4"),
        (r"\boxed{\$1,234}", "1234"),
        (r"\boxed{18\text{ dollars}}", "18"),
        ("#### １８", "18"),
        ("The answer is ١٨.", "18"),
    ],
)
def test_numbers_are_read_in_every_way_of_writing_them(completion, number):
    assert answers.final_number(completion) == number


@pytest.mark.parametrize("text", ["3,4", "-2,1", "1,23,4", ",5"])
def test_a_list_of_numbers_is_no_number(text):
    assert answers.canonical_number(text) is None


@pytest.mark.parametrize(
    ("left", "right"),
    [("18", "18.0"), ("1,000", "1000"), ("0.5", "1/2"), (".5", "2/4"), ("-0", "0"), ("$12.", "12"), ("+3", "3")],
)
def test_equal_values_are_equal(left, right):
    assert answers.same_number(left, right)


@pytest.mark.parametrize(("left", "right"), [("18", "81"), ("1", None), ("5", "5/0"), ("7", "seven"), ("1", "1.0001")])
def test_other_values_are_not(left, right):
    assert not answers.same_number(left, right)


@given(st.integers(-(10**12), 10**12))
def test_any_whole_number_is_found_however_it_is_written(number):
    for written in (str(number), f"{number:,}", f"{number}.00", f"${number}"):
        found = answers.final_number(f"There are 3 steps. The answer is {written}.")
        assert answers.as_fraction(found) == number


@given(st.fractions(max_denominator=999).filter(lambda value: abs(value) < 10**9))
def test_fractions_keep_their_value(value):
    assert answers.as_fraction(f"{value.numerator}/{value.denominator}") == Fraction(value)


@given(st.text(max_size=60))
def test_no_text_breaks_the_search(text):
    found = answers.final_number(text)
    assert found is None or answers.canonical_number(found) == found


# Verbatim completions of the same model to multiple-choice questions.
@pytest.mark.parametrize(
    ("completion", "letter"),
    [
        ("The answer is C.", "C"),
        ("C. Mercury", "C"),
        ("A. Paris is the capital of France.", "A"),
        ("B. Helium\n\nThe correct answer is C. Argon", "C"),
        ("The answer is **(D)**", "D"),
        ("Answer: b", None),
        ("A planet is a large body. Any of them fits.", None),
        ("It cannot be A or B, so it must be\nD", "D"),
        ("The answer is Carbon dioxide", None),
        ("", None),
    ],
)
def test_the_letter_that_a_completion_settles_on(completion, letter):
    assert answers.final_choice(completion) == letter


@pytest.mark.parametrize(
    "completion",
    [
        "The correct answer is option **C**.",
        "The correct option is C.",
        "**Answer**: C",
        "Correct Answer - C",
        "### Answer\n\nC. Mercury\n\nIt is the only planet.",
        r"The final answer is $\boxed{\text{C}}$",
        r"\boxed{\textbf{(C)}}",
        'The answer is "C".',
        "The answer is `C`",
        r"The answer is \(C\).",
        "The answer is $C$.",
        "The answer is _C_.",
        "The answer is most likely C.",
        "The answer would be C.",
        "The answer is C. A is a planet.",
        "The answer is C, not A.",
        "The answer is C, A is a star.",
        "The answer is C and B is wrong.",
        "The answer is C. Let me check: the answer should be C.",
        "Option C is correct.",
        "A. Paris\nB. London\nC. Rome\nD. Berlin\n\nC is the correct answer.",
        "A, B and D are wrong.\nC",
        "- C",
        "C - Mercury",
        "<think>The answer is A.</think>\n\nThe answer is C.",
    ],
)
def test_the_letter_is_found_in_prose_markdown_and_latex(completion):
    assert answers.final_choice(completion) == "C"


@pytest.mark.parametrize(
    "completion",
    [
        "The answer is A or B.",
        "The answer is both A and C.",
        "The answer is A, B and D.",
        "The answer is not A.",
        "A. Paris\nB. London\nC. Rome\nD. Berlin",
        "<think>The answer is A.",
    ],
)
def test_who_does_not_settle_on_one_letter_chose_none(completion):
    assert answers.final_choice(completion) is None
