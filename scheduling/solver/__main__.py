"""Answers questions from standard input, one JSON line each, until it ends."""

import json
import os
import sys
from typing import TextIO

from scheduling.optimizer import UnsoundPlanError
from scheduling.solver.answering import answered
from scheduling.solver.codec import answer_json, question_from


def main() -> None:
    answers = _answers_only()
    for line in sys.stdin:
        try:
            reply: dict[str, object] = {"answer": answer_json(answered(question_from(json.loads(line))))}
        except (ValueError, UnsoundPlanError) as error:
            reply = {"error": str(error)}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


def _answers_only() -> TextIO:
    """Keep standard output for answers: HiGHS prints notes of its own there, which go to standard error instead."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


if __name__ == "__main__":
    main()
