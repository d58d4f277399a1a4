"""Answers questions from standard input, one JSON line each, until it ends."""

import json
import sys

from scheduling.optimizer import UnsoundPlanError
from scheduling.solver.answering import answered
from scheduling.solver.codec import answer_json, question_from


def main() -> None:
    for line in sys.stdin:
        try:
            reply: dict[str, object] = {"answer": answer_json(answered(question_from(json.loads(line))))}
        except (ValueError, UnsoundPlanError) as error:
            reply = {"error": str(error)}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
