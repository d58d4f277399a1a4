"""math500: formulas are one answer where they mean one thing."""

import json

import pytest
from asyncenergy_controller.tasks.datasets import Source
from asyncenergy_controller.tasks.math500 import Math500, boxed, normal_form, same_answer
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (r"\frac{3}{4}", "3/4"),
        (r"\dfrac34", "0.75"),
        (r"x^2+1", "x^2 + 1"),
        (r"\left( 3, \frac{\pi}{2} \right)", r"(3,\frac{\pi}{2})"),
        (r"90^\circ", "90"),
        (r"\text{Evelyn}", "Evelyn"),
        ("1,000", "1000"),
        ("x = 5", "5"),
        (r"5\text{ cm}", "5"),
        (r"\$18.90", "18.9"),
        (r"10\%", "10"),
        (r"\frac{\sqrt{2}}{2}", r"\sqrt{2}/2"),
        (r"11\sqrt2", r"11\sqrt{2}"),
        (r"(-\infty, 2]", r"(-\infty,2]"),
        (r"-\frac{1}{3}", "-1/3"),
        (r"\{1, 2\}", "{1,2}"),
        ("2220", "2{,}220"),
        (r"11,\! 111,\! 100", "11111100"),
        (r"\$32,\!348", "32,348"),
        (r"3 \frac{1}{2}", r"\frac{7}{2}"),
        (r"11\frac12", "11.5"),
        ("1 4/5", "9/5"),
        (r"-1\frac{1}{2}", "-1.5"),
        ("1,-2", "-2, 1"),
        ("1, 1/2", r"\frac{1}{2}, 1"),
        ("100, 200", "200, 100"),
        (r"\left( 3, \frac{\pi}{2} \right)", r"(3, \pi/2)"),
        (r"\frac{4 \sqrt{3}}{3}", r"4\sqrt{3}/3"),
        (r"\frac{1}{2x}", "1/(2x)"),
        (r"\frac{1}{2}", r"\cfrac{1}{2}"),
        (r"\sqrt{\frac{1}{2}}", r"\sqrt{\dfrac12}"),
        (r"\begin{pmatrix} -1/3 \\ 2/3 \end{pmatrix}", r"\begin{bmatrix}-\frac{1}{3}\\\frac{2}{3}\end{bmatrix}"),
        ("145^\\circ", "145°"),
        (r"12\pi", "12π"),
        (r"\text{(C)}", "C"),
        (r"\text{(C)}", r"\textbf{(C)}"),
        ("2516_8", "2516_{8}"),
        ("x^{2}", "x^2"),
        ("2x", "f(x) = 2x"),
        ("18", r"18~\text{cm}^2"),
        ("10", r"10\text{ apples}"),
        ("10", "10 apples"),
        (r"15\mbox{ cm}^2", r"15 \text{ cm}^{2}"),
        ("18", r"\textrm{18}"),
        ("18", "{18}"),
        ("5", r"\(5\)"),
        (r"\text{ellipse}", "Ellipse"),
    ],
)
def test_one_answer_in_two_spellings(left, right):
    assert same_answer(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("3", "4"),
        ("3/4", "3"),
        ("x+1", "x-1"),
        ("(1,2)", "(2,1)"),
        ("7", None),
        ("3,4,5", "345"),
        ("-2,1", "-21"),
        ("100, 200", "100200"),
        ("1,1", "1"),
        (r"3\frac{1}{2}", "31/2"),
        (r"\frac{1}{2x}", r"\frac{1}{2}x"),
        (r"\frac{x+2}{7}", "x+2/7"),
        ("2516_8", "2516"),
        ("E", "e"),
        ("x^2", "x2"),
    ],
)
def test_two_answers(left, right):
    assert not same_answer(left, right)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"so \boxed{\frac{1}{2}} and \boxed{x^{2}}.", "x^{2}"),
        (r"\boxed {7}", "7"),
        (r"\fbox{7}", "7"),
        (r"\boxed{1} then \boxed{2", "1"),
        ("no box", None),
    ],
)
def test_the_last_whole_box_counts(text, content):
    assert boxed(text) == content


@given(st.text(max_size=60))
def test_normal_forms_are_final(text):
    once = normal_form(text)
    assert same_answer(text, text)
    assert isinstance(once, str)


# The first two are verbatim completions of SmolLM2-135M-Instruct (Q4_1).
@pytest.mark.parametrize(
    ("completion", "answer", "score"),
    [
        ("Then, we can add 1/8 to get 3/4 + 1/8 = (3 + 1)/8 + 1 = 4/8.\n\nSo, the answer is 4/8.", r"\frac{7}{8}", 0.0),
        (
            "We can divide both sides of the equation by 2, which gives us x = 3.\n\n"
            "So, the solution to the equation 2x + 3 = 11 is x = 3.",
            "4",
            0.0,
        ),
        (r"Thus $\boxed{\dfrac{7}{8}}$.", r"\frac{7}{8}", 1.0),
        ("<think>\\boxed{1}</think> It is \\boxed{2}.", "2", 1.0),
        ("The answer is $x = 4$.", "4", 1.0),
        ("The final answer is:\n\n\\[ 4 \\]", "4", 1.0),
        ("**Answer**: 4. Indeed 4 + 1 = 5.", "4", 1.0),
        (r"So \boxed{-2, 1}.", "1,-2", 1.0),
        (r"So \boxed{3\tfrac{1}{2}}.", r"\frac{7}{2}", 1.0),
        ("", "4", 0.0),
    ],
)
def test_completions_are_marked(tmp_path, completion, answer, score):
    row = {"problem": "Find x.", "solution": "...", "answer": answer, "subject": "Algebra", "level": 1}
    (tmp_path / "math500_test.jsonl").write_text(json.dumps(row) + "\n")
    task = Math500(Source(tmp_path))
    [item] = task.items(n=1, seed=1)
    assert item.answer == answer
    assert task.score(item, task.extract(completion), completion) == score
