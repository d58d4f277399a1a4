"""What is printed for programs can always be printed."""

import io
import json
import sys

from asyncenergy_controller.cli.console import show_json


def test_half_a_pair_of_surrogates_in_a_result_is_printed(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", out)
    show_json({"error": "the engine said \ud83d, and ü"})
    out.flush()
    assert json.loads(out.buffer.getvalue()) == {"error": "the engine said \ud83d, and ü"}
