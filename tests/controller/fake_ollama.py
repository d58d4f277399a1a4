"""Answers of Ollama's own API, as it gives them."""

import json
import time

from tests.controller.fake_engine import send_json, start_stream

TAGS = {"/api/tags": {"models": [{"name": "smollm2:135m"}, {"name": "qwen3.5:9b"}]}}
COUNTS = {"done": True, "done_reason": "stop", "prompt_eval_count": 26, "eval_count": 3}


def send_line(handler, text):
    handler.wfile.write(text.encode() + b"\n")
    handler.wfile.flush()


def in_pieces(*pieces, gap_s=0.0, done=True, counts=COUNTS):
    """One line of JSON for each piece, and the counts in the last one unless withheld."""

    def answer(handler, body):
        start_stream(handler)
        for piece in pieces:
            time.sleep(gap_s)
            send_line(handler, json.dumps({"model": body["model"], "response": piece, "done": False}))
        if done:
            send_line(handler, json.dumps({"model": body["model"], "response": "", **counts}))

    return answer


def whole(text, counts=COUNTS):
    return lambda handler, body: send_json(handler, 200, {"model": body["model"], "response": text, **counts})


def failing_half_way(handler, body):
    start_stream(handler)
    send_line(handler, '{"response": "a", "done": false}')
    send_line(handler, '{"error": "an error was encountered while running the model: CUDA error"}')
