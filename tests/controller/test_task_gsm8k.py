"""gsm8k on its real questions, asked with worked examples from the training split."""

import json

import pytest
from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.tasks.base import TaskError
from asyncenergy_controller.tasks.datasets import Source
from asyncenergy_controller.tasks.gsm8k import Gsm8k, Gsm8kPlatinum, key_number, worked_solution
from asyncenergy_controller.tasks.registry import get_task

# Verbatim completions of SmolLM2-135M-Instruct (Q4_1) to the questions with these indices; the third is ours.
REAL = [
    (
        1,
        "The robe takes 2 bolts of blue fiber * 2 = 4 bolts of blue fiber.\n"
        "The robe takes 4 bolts of blue fiber * 2 = 8 bolts of blue fiber.\n#### 8",
        "8",
        0.0,
    ),
    (
        17,
        "Jill works 50 weeks a year * 35 hours a week = 180 hours per year.\n"
        "She earns $20 / 180 hours = $0.0025 per hour.\n#### 0.0025",
        "0.0025",
        0.0,
    ),
    (17, "She earns $20 * 35 * 50 + $30 * 15 * 50 = $57,500 a year.\n#### $57,500", "57500", 1.0),
]


@pytest.fixture
def task(shared_data):
    return Gsm8k(Source(shared_data), n_shot=3)


@pytest.mark.parametrize(("index", "completion", "extracted", "score"), REAL)
def test_real_completions_are_marked(task, index, completion, extracted, score):
    item = next(item for item in task.items(n=120, seed=1) if item.index == index)
    assert task.extract(completion) == extracted
    assert task.score(item, task.extract(completion), completion) == score


def test_every_question_has_a_number_as_its_answer(task, shared_data):
    items = task.items(n=120, seed=1)
    rows = [json.loads(line) for line in (shared_data / "gsm8k_test_first120.jsonl").read_text().splitlines()]
    assert sorted(item.index for item in items) == list(range(120))
    for item in items:
        row = rows[item.index]
        assert item.question == row["question"]
        assert item.answer == row["answer"].rsplit("#### ", 1)[1].replace(",", "")
        assert task.score(item, task.extract(row["answer"]), row["answer"]) == 1.0  # its own solution is right


def test_the_same_seed_asks_the_same_questions(task, shared_data):
    again = Gsm8k(Source(shared_data), n_shot=3)
    assert task.items(n=10, seed=1234) == again.items(n=10, seed=1234)
    assert task.items(n=10, seed=1234) != again.items(n=10, seed=1)


def test_worked_examples_come_from_the_training_split_without_calculator_marks(task, shared_data):
    [item] = task.items(n=1, seed=1)
    assert [message["role"] for message in item.messages] == ["system", *["user", "assistant"] * 3, "user"]
    first = json.loads((shared_data / "gsm8k_train_first8.jsonl").read_text().splitlines()[0])
    assert item.messages[1]["content"] == first["question"]
    assert item.messages[2]["content"] == worked_solution(first)
    assert "<<" not in item.messages[2]["content"]
    assert item.messages[2]["content"].endswith("#### 72")


def test_the_data_read_are_named_once_they_are_read(task):
    assert task.dataset_revision is None
    task.items(n=1, seed=1)
    assert task.dataset_revision.startswith("sha256:")


def test_no_examples_means_no_training_split_is_needed(tmp_path):
    (tmp_path / "gsm8k_test.jsonl").write_text('{"question": "1 + 1?", "answer": "#### 2"}\n')
    [item] = Gsm8k(Source(tmp_path), n_shot=0).items(n=1, seed=1)
    assert [message["role"] for message in item.messages] == ["system", "user"]
    with pytest.raises(TaskError, match="no train questions"):
        Gsm8k(Source(tmp_path), n_shot=1).items(n=1, seed=1)


def test_more_examples_than_there_are_training_rows_are_refused(tmp_path):
    for split in ("train", "test"):
        (tmp_path / f"gsm8k_{split}.jsonl").write_text('{"question": "1 + 1?", "answer": "#### 2"}\n')
    with pytest.raises(TaskError, match="2 worked examples wanted, 1 training rows found"):
        Gsm8k(Source(tmp_path), n_shot=2).items(n=1, seed=1)
    with pytest.raises(UsageError, match="0 to 8"):
        Gsm8k(Source(tmp_path), n_shot=9)


@pytest.mark.parametrize("row", [{"question": "?"}, {"question": "?", "answer": "two"}])
def test_rows_of_another_shape_are_refused(tmp_path, row):
    (tmp_path / "gsm8k_test.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(TaskError, match="not what gsm8k expects"):
        Gsm8k(Source(tmp_path), n_shot=0).items(n=1, seed=1)


def test_answers_with_thousands_separators_are_read():
    assert key_number({"answer": "so it is\n#### 57,500"}) == "57500"


def test_platinum_leaves_rejected_questions_out_and_keeps_their_places(tmp_path):
    rows = [
        {"question": f"{n} + 1?", "answer": f"#### {n + 1}", "cleaning_status": status}
        for n, status in enumerate(("consensus", "rejected", "verified", "revised"))
    ]
    (tmp_path / "gsm8k_platinum_test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    items = Gsm8kPlatinum(Source(tmp_path), n_shot=0).items(n=3, seed=1)
    assert sorted(item.index for item in items) == [0, 2, 3]


def test_the_registry_makes_it(shared_data):
    task = get_task("gsm8k", n_shot=2, dataset_dir=shared_data)
    assert (task.name, task.n_shot, task.is_canary) == ("gsm8k", 2, False)
    assert len(task.items(n=4, seed=1)) == 4
