"""Data sets in a folder, in the form that `--dataset-dir` takes."""

import json


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_quick(folder, *, sums=None):
    """Twelve questions of each task of `quick`, or other sums in place of ours."""
    folder.mkdir()
    ours = [{"question": f"What is {i} and 3?", "answer": f"{i} and 3 is {i + 3}.\n#### {i + 3}"} for i in range(12)]
    choices = {"choices": ["1", "2", "3", "4"], "answer": 2, "error_type": "ok", "subject": "anatomy"}
    prompt = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
    write_rows(folder / "gsm8k_platinum_test.jsonl", sums or ours)
    write_rows(folder / "gsm8k_train.jsonl", ours)
    write_rows(folder / "mmlu_redux_test.jsonl", [choices | {"question": f"Which is {i}?"} for i in range(12)])
    write_rows(folder / "ifeval_train.jsonl", [prompt | {"key": i, "prompt": f"Say {i}."} for i in range(12)])
    return folder
