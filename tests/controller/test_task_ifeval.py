"""ifeval: each kind of instruction has texts that follow it and texts that do not."""

import json
import sys

import pytest
from asyncenergy_controller.tasks.base import TaskError
from asyncenergy_controller.tasks.datasets import Source
from asyncenergy_controller.tasks.ifeval import Ifeval
from asyncenergy_controller.tasks.ifeval_rules import RULES, count_sentences, follows

CASES = [
    ("keywords:existence", {"keywords": ["rain", "sun"]}, ["Rain, then sunshine."], ["Rain only."]),
    (
        "keywords:frequency",
        {"keyword": "rain", "frequency": 2, "relation": "at least"},
        ["Rain and rain."],
        ["One rain."],
    ),
    (
        "keywords:frequency",
        {"keyword": "rain", "frequency": 2, "relation": "less than"},
        ["Rain.", "Sun."],
        ["rain rain"],
    ),
    ("keywords:forbidden_words", {"forbidden_words": ["rain"]}, ["A train.", "Sun."], ["Rain.", "no rain!"]),
    (
        "keywords:letter_frequency",
        {"letter": "Z", "let_frequency": 2, "let_relation": "at least"},
        ["Zebra zoo"],
        ["zebra"],
    ),
    (
        "keywords:letter_frequency",
        {"letter": "#", "let_frequency": 1, "let_relation": "less than"},
        ["none"],
        ["# one"],
    ),
    (
        "language:response_language",
        {"language": "de"},
        ["Der Regen fällt auf die Stadt und alle bleiben zu Hause."],
        ["The rain falls on the town and everybody stays at home."],
    ),
    (
        "language:response_language",
        {"language": "hi"},
        ["बारिश शहर पर गिरती है और सब घर पर रहते हैं।"],
        ["पाऊस शहरावर पडतो आणि सगळे घरी राहतात."],
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 3, "relation": "less than"},
        ["One. Two."],
        ["One. Two! Three?"],
    ),
    ("length_constraints:number_words", {"num_words": 3, "relation": "at least"}, ["one two three"], ["one two"]),
    (
        "length_constraints:number_paragraphs",
        {"num_paragraphs": 2},
        ["one\n***\ntwo", "***\none\n***\ntwo\n***"],
        ["one", "one\n\ntwo", "one\n***\n***\ntwo"],
    ),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "Weekend"},
        ["Hello.\n\n**Weekend**, at last.", 'a\n\n\n"weekend" b'],
        ["Hello.\n\nThe weekend.", "Weekend", "Hello.\n\nWeekends are.", "a\n\nweekend\n\nc"],
    ),
    ("detectable_content:number_placeholders", {"num_placeholders": 2}, ["[name] in [town]"], ["[name]", "(a) (b)"]),
    (
        "detectable_content:postscript",
        {"postscript_marker": "P.S."},
        ["Bye.\nP.S. Bring it.", "Bye.\n\np. s. x", "bye P.S. it"],
        ["Bye.", "The ships", "Bye.\nPS: Bring it.", "What does ps show?"],
    ),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, ["x\nP.P.S. more"], ["x\nP.S. more"]),
    (
        "detectable_format:number_bullet_lists",
        {"num_bullets": 2},
        ["* one\n* two", "- one\n- two\n"],
        ["* one", "* one\n* two\n* three", "**bold**\n* one"],
    ),
    (
        "detectable_format:constrained_response",
        {},
        ["My answer is no.", "Well. My answer is maybe."],
        ["I'm not sure.", "My answer is no"],  # the first is verbatim SmolLM2-135M-Instruct
    ),
    (
        "detectable_format:number_highlighted_sections",
        {"num_highlights": 2},
        ["*one* and *two*", "**one** and *two*"],
        ["*one* and two", "* one\n* two", "****"],
    ),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "SECTION", "num_sections": 2},
        ["SECTION 1\na\nSECTION 2\nb"],
        ["SECTION 1\na", "SECTION A\nSECTION B"],
    ),
    (
        "detectable_format:json_format",
        {},
        ['{"a": 1}', '```json\n{"a": [1, 2]}\n```'],
        ["a: 1", '```json\n{"a": 1}\n```\n\nThis JSON is a JSON-formatted string.'],
    ),
    ("detectable_format:title", {}, ["<<Rain>>\nText."], ["Rain", "<< >>", "<<>>"]),
    (
        "combination:two_responses",
        {},
        ["one\n******\ntwo", "******\none\n******\ntwo"],
        ["one", "one\n******\none", "one\n******\n", "one******two******three"],
    ),
    (
        "combination:repeat_prompt",
        {"prompt_to_repeat": "Write about rain."},
        ["write about rain. It falls."],
        ["Rain falls. Write about rain."],
    ),
    ("startend:end_checker", {"end_phrase": "Any questions?"}, ["So. Any questions?", 'So. any questions?"'], ["So."]),
    ("startend:quotation", {}, ['"All of it."'], ['"Not all" of it.', '"', "All of it."]),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 2, "capital_relation": "at least"},
        ["RAIN and SUN"],
        ["RAIN and Sun"],
    ),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 2, "capital_relation": "less than"},
        ["RAIN and Sun"],
        ["RAIN and SUN"],
    ),
    ("change_case:english_capital", {}, ["ALL OF IT, 100 %."], ["Not ALL", "123"]),
    ("change_case:english_lowercase", {}, ["all of it."], ["Not all", "123"]),
    (
        "punctuation:no_comma",
        {},
        ["1. Rain is a natural phenomenon that occurs when water falls from the sky."],
        ["It is a crucial element in the ecosystem, as it helps regulate the climate."],  # both verbatim, as above
    ),
]


@pytest.mark.parametrize(("name", "given", "good", "bad"), CASES, ids=[case[0] for case in CASES])
def test_texts_that_follow_the_instruction_and_texts_that_do_not(name, given, good, bad):
    assert [text for text in good if not follows(name, text, given)] == []
    assert [text for text in bad if follows(name, text, given)] == []


def test_every_kind_of_instruction_has_a_case():
    assert {case[0] for case in CASES} == set(RULES)
    assert len(RULES) == 25


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("Dr. Smith went home. He slept.", 2),
        ("no end mark", 1),
        ("It is 3.5 m long. “Yes.” Then more", 3),
        ("Wait... what? Yes!", 2),
        ("e.g. this one.", 1),
        ("First line.\nSecond line.", 2),
        ("", 0),
    ],
)
def test_sentences_are_counted(text, count):
    assert count_sentences(text) == count


def task_with(folder, *rules):
    row = {
        "key": 1,
        "prompt": "Write about rain.",
        "instruction_id_list": [name for name, _ in rules],
        "kwargs": [given for _, given in rules],
    }
    (folder / "ifeval_train.jsonl").write_text(json.dumps(row) + "\n")
    return Ifeval(Source(folder))


def test_all_instructions_must_be_followed(tmp_path):
    task = task_with(tmp_path, ("punctuation:no_comma", {}), ("keywords:existence", {"keywords": ["rain"]}))
    [item] = task.items(n=1, seed=1)
    assert item.messages == [{"role": "user", "content": "Write about rain."}]
    scores = {text: task.score(item, None, text) for text in ("Rain falls.", "Rain, it falls.", "It falls.", "")}
    assert scores == {"Rain falls.": 1.0, "Rain, it falls.": 0.0, "It falls.": 0.0, "": 0.0}


def test_thinking_is_not_part_of_the_answer(tmp_path):
    task = task_with(tmp_path, ("punctuation:no_comma", {}))
    [item] = task.items(n=1, seed=1)
    assert task.score(item, None, "<think>Well, yes, so</think>Rain falls.") == 1.0


def test_an_instruction_that_nobody_can_check_is_refused(tmp_path):
    with pytest.raises(TaskError, match="unknown instruction 'new:one'"):
        task_with(tmp_path, ("new:one", {})).items(n=1, seed=1)


def test_an_instruction_without_its_parameters_is_refused_before_anything_is_measured(tmp_path):
    with pytest.raises(TaskError, match="not what ifeval expects.*keywords"):
        task_with(tmp_path, ("keywords:existence", {})).items(n=1, seed=1)


def test_a_missing_language_package_is_said_before_anything_is_measured(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "py3langid", None)
    task = task_with(tmp_path, ("language:response_language", {"language": "de"}))
    with pytest.raises(TaskError, match="pip install"):
        task.items(n=1, seed=1)
