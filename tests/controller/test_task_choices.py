"""Multiple choice: how questions are put, which are asked, and how letters are marked."""

import json
from collections import Counter

import pytest
from asyncenergy_controller.tasks.base import TaskError
from asyncenergy_controller.tasks.choices import SUBJECTS, GpqaDiamond, Hellaswag, MmluRedux, put
from asyncenergy_controller.tasks.datasets import Source


def save(folder, name, rows):
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Source(folder)


@pytest.fixture
def mmlu(tmp_path):
    rows = [
        {
            "subject": subject,
            "question": f"{subject} question {n}",
            "choices": ["one", "two", "three", "four"],
            "answer": n % 4,
            "error_type": "wrong_groundtruth" if n % 5 == 4 else "ok",
        }
        for subject in ("law", "art")
        for n in range(20)
    ]
    return save(tmp_path, "mmlu_redux_test", rows), rows


def test_mmlu_asks_only_sound_questions_and_none_of_the_examples(mmlu):
    source, rows = mmlu
    items = MmluRedux(source).items(n=22, seed=1)  # 16 sound ones in each subject, less five examples
    assert all(rows[item.index]["error_type"] == "ok" for item in items)
    shown = {message["content"] for item in items for message in item.messages[1:-1:2]}
    assert len(shown) == 10
    assert not shown & {item.messages[-1]["content"] for item in items}
    with pytest.raises(TaskError, match="ask for 1 to 22"):
        MmluRedux(source).items(n=23, seed=1)


def test_the_same_questions_are_asked_whatever_the_number_of_examples(mmlu):
    source, _ = mmlu
    indices = [[item.index for item in MmluRedux(source, n_shot=n).items(n=10, seed=1)] for n in (0, 5)]
    assert indices[0] == indices[1]


def test_mmlu_examples_are_of_the_questions_own_subject(mmlu):
    source, rows = mmlu
    for item in MmluRedux(source, n_shot=2).items(n=8, seed=3):
        subject = rows[item.index]["subject"]
        assert all(subject in message["content"] for message in item.messages[1:-1:2])
        assert [message["content"] for message in item.messages[2:-1:2]] == ["The answer is A.", "The answer is B."]


def test_mmlu_marks_the_letter(mmlu):
    task = MmluRedux(mmlu[0])
    item = next(item for item in task.items(n=20, seed=1) if item.answer == "C")
    assert item.messages[-1]["content"].endswith("A. one\nB. two\nC. three\nD. four")
    for completion, score in [("The answer is C.", 1.0), ("C. three", 1.0), ("The answer is B.", 0.0), ("", 0.0)]:
        assert task.score(item, task.extract(completion), completion) == score


def test_mmlu_rows_without_a_subject_or_a_check_are_refused(tmp_path):
    row = {"question": "?", "choices": ["a", "b", "c", "d"], "answer": 0}
    with pytest.raises(TaskError, match="not what mmlu_redux expects.*subject"):
        MmluRedux(save(tmp_path, "mmlu_redux_test", [row | {"error_type": "ok"}])).items(n=1, seed=1)
    with pytest.raises(TaskError, match="none of its 1 rows"):
        MmluRedux(save(tmp_path, "mmlu_redux_test", [row | {"subject": "art"}])).items(n=1, seed=1)


def test_a_question_whose_answer_is_not_known_is_refused(tmp_path):
    row = {"activity_label": "x", "ctx": "y", "endings": ["a", "b", "c", "d"], "label": -1}
    with pytest.raises(TaskError, match="not what hellaswag expects.*choice -1"):
        Hellaswag(save(tmp_path, "hellaswag_validation", [row])).items(n=1, seed=1)


def test_mmlu_has_57_subjects():
    assert len(set(SUBJECTS)) == 57


@pytest.fixture
def gpqa(tmp_path):
    rows = [
        {
            "Question": f"Question {n}?",
            "Correct Answer": f"right {n}\n",
            "Incorrect Answer 1": "wrong one",
            "Incorrect Answer 2": "wrong two",
            "Incorrect Answer 3": "wrong three",
        }
        for n in range(80)
    ]
    return GpqaDiamond(save(tmp_path, "gpqa_diamond_train", rows))


def test_gpqa_hides_the_right_choice_at_a_place_that_never_changes(gpqa):
    first, second = gpqa.items(n=80, seed=1), gpqa.items(n=80, seed=2)
    assert {item.index: item.answer for item in first} == {item.index: item.answer for item in second}
    assert min(Counter(item.answer for item in first).values()) >= 10
    for item in first:
        assert f"{item.answer}. right {item.index}" in item.messages[-1]["content"].splitlines()


def test_gpqa_is_answered_after_thinking(gpqa):
    [item] = gpqa.items(n=1, seed=1)
    completion = f"A seems off, B too.\n\n**The answer is {item.answer}.**"
    assert gpqa.score(item, gpqa.extract(completion), completion) == 1.0


def test_hellaswag_is_a_canary_and_takes_its_label_as_text_or_number(tmp_path):
    rows = [
        {"activity_label": "Cooking", "ctx": "He puts the pan on", "endings": ["a", "b", "c", "d"], "label": label}
        for label in ("2", 2)
    ]
    task = Hellaswag(save(tmp_path, "hellaswag_validation", rows))
    items = task.items(n=2, seed=1)
    assert task.is_canary
    assert [item.answer for item in items] == ["C", "C"]
    assert items[0].messages[-1]["content"].startswith("Cooking: He puts the pan on ...")


def test_a_question_with_other_than_four_choices_is_refused(tmp_path):
    with pytest.raises(ValueError, match="3 choices"):
        put("?", ["a", "b", "c"])
    rows = [{"activity_label": "x", "ctx": "y", "endings": ["a"], "label": "0"}]
    with pytest.raises(TaskError, match="not what hellaswag expects"):
        Hellaswag(save(tmp_path, "hellaswag_validation", rows)).items(n=1, seed=1)
