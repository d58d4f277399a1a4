"""Arith: the same questions everywhere, none twice, and each can be made again by itself."""

import hashlib
import re

import pytest
from asyncenergy_controller.engine import ChatRequest, detect_engine
from asyncenergy_controller.engine.embedded import embedded_engine
from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.tasks import arith
from asyncenergy_controller.tasks.arith import ArithTask
from hypothesis import given
from hypothesis import strategies as st

LEVELS = st.sampled_from(list(arith.LEVELS))
SEEDS = st.integers(-(2**63), 2**63)
PLACES = st.integers(0, 4999)


@pytest.mark.parametrize(
    ("index", "seed", "level", "question", "answer"),
    [
        (1, 1234, 1, "Kira had 10 stamps and lost 3 of them. How many stamps does Kira still have?", "7"),
        (39, 1234, 1, "Dan has 9 marbles and gives 4 away. How many marbles are left?", "5"),
        (4999, 7, 1, "Hugo has 2 apples and gets 4 more. How many apples does Hugo have now?", "6"),
        (0, -1, 2, "Nils shares 42 cards equally among 7 friends. How many cards does each friend get?", "6"),
    ],
)
def test_these_questions_never_change(index, seed, level, question, answer):
    item = arith.item(index, seed=seed, level=level)
    assert (item.question, item.answer) == (question, answer)


@pytest.mark.parametrize(
    ("level", "sha256"),
    [
        (1, "764cad6233617bfd23631e09612bdf9a3d73a948b951ec8e1baf4ebb40eeb2cf"),
        (2, "773cea7147b43bfae093745e7d3503d4161ad28859d6e5de50184c0baccc98a5"),
        (3, "ed9547a7a1d1b6ebbf6815ad7ebd6a91c8d97297597a02c0a4d3c4e7abad2423"),
        (4, "ed30ec84a5df94ba87b97d2fcaa1189ffe5cd8b8f5693e0c7a7a1e109a158ff8"),
        (5, "74ff0ac4351be51dcff86f89ea664a6c59dc801beae50aebd34ba33dae2eb5e9"),
    ],
)
def test_nor_do_the_first_500_of_a_level(level, sha256):
    items = [arith.item(index, seed=1234, level=level) for index in range(500)]
    whole = "\n".join(f"{item.question} {item.answer}" for item in items)
    assert hashlib.sha256(whole.encode()).hexdigest() == sha256


@given(PLACES, SEEDS, LEVELS)
def test_the_working_ends_on_the_answer_and_every_step_of_it_is_true(index, seed, level):
    item = arith.item(index, seed=seed, level=level)
    steps = re.findall(r"([\d +*/-]+) = (\d+)", item.working)
    assert steps
    for left, right in steps:
        assert eval(left) == int(right)
    assert steps[-1][1] == item.answer


@given(PLACES, SEEDS, LEVELS)
def test_answers_are_never_negative_and_the_question_gives_every_starting_number(index, seed, level):
    item = arith.item(index, seed=seed, level=level)
    assert int(item.answer) > 0
    first_step = re.findall(r"\d+", item.working.split(" = ")[0])
    assert set(first_step) - {"4", "100"} <= set(re.findall(r"\d+", item.question))


@pytest.mark.parametrize("level", arith.LEVELS)
def test_no_question_is_asked_twice(level):
    questions = {arith.item(index, seed=1234, level=level).question for index in range(2000)}
    assert len(questions) == 2000


def test_a_whole_sequence_is_a_permutation_of_all_questions():
    size = arith.capacity(1)
    assert len({arith.item(index, seed=5).question for index in range(size)}) == size


def test_another_seed_asks_other_questions_in_another_order():
    here, there = ([arith.item(i, seed=seed).question for i in range(40)] for seed in (1, 2))
    assert len(set(here) & set(there)) < 5


def test_every_kind_of_story_is_told_about_equally_often():
    answers_of_level_2 = [arith.item(i, seed=3, level=2).working for i in range(800)]
    kinds = [sum(sign in working for working in answers_of_level_2) for sign in "+-*/"]
    assert all(150 < kind < 250 for kind in kinds)


@pytest.mark.parametrize(("index", "level"), [(-1, 1), (20_000_000, 1), (0, 0), (0, 6)])
def test_what_is_outside_the_sequence_is_refused(index, level):
    with pytest.raises(UsageError, match=str(index if level == 1 else level)):
        arith.item(index, seed=1, level=level)


def test_the_task_asks_the_sequence_with_worked_examples_that_are_never_asked():
    task = ArithTask(level=2, n_shot=4)
    items = task.items(n=50, seed=9)
    assert [item.index for item in items] == list(range(50))
    assert [item.question for item in items] == [arith.item(i, seed=9, level=2).question for i in range(50)]
    roles = [message["role"] for message in items[0].messages]
    assert roles == ["system", *["user", "assistant"] * 4, "user"]
    examples = [message["content"] for message in items[0].messages[1:-1]]
    assert all(arith.EXAMPLE_NAME in example for example in examples[::2])
    assert not any(arith.EXAMPLE_NAME in item.question for item in items)


def test_the_worked_examples_end_the_way_answers_are_found():
    task = ArithTask(n_shot=8)
    [item] = task.items(n=1, seed=1)
    for shown, number in zip(item.messages[2:-1:2], range(8), strict=True):
        assert task.extract(shown["content"]) == arith.example(number, level=1).answer


def test_too_many_worked_examples_are_refused():
    with pytest.raises(UsageError, match="0 to 8"):
        ArithTask(n_shot=9)


@pytest.mark.parametrize(("completion", "score"), [("5 + 2 = 7. The answer is 7.", 1.0), ("It is 8.", 0.0), ("", 0.0)])
def test_the_right_number_scores(completion, score):
    task = ArithTask()
    [item] = task.items(n=1, seed=0)
    completion = completion.replace("7", item.answer) if score else completion.replace("8", item.answer + "0")
    assert task.score(item, task.extract(completion), completion) == score


@pytest.mark.engine
def test_a_small_model_gets_the_easiest_level_partly_right():
    task = ArithTask()
    with embedded_engine(threads=1) as ready, detect_engine([ready["url"]]) as client:
        scores = []
        for item in task.items(n=12, seed=1234):
            request = ChatRequest(client.default_model(), item.messages, task.default_max_tokens, stop=task.stop)
            text = client.chat(request).text
            scores.append(task.score(item, task.extract(text), text))
    assert 0.1 <= sum(scores) / len(scores) <= 0.9
