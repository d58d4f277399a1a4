"""Results go to stdout, talk goes to stderr."""

import json
import sys
from typing import Any

from rich.console import Console, RenderableType


def say(text: str) -> None:
    """Talk to the person; never part of a result."""
    Console(stderr=True, highlight=False, soft_wrap=True, markup=False).print(text)


def show(result: RenderableType) -> None:
    """Print a result."""
    Console(highlight=False, markup=False, soft_wrap=isinstance(result, str)).print(result)


def show_json(value: Any) -> None:
    """Print a result for a program."""
    json.dump(value, sys.stdout, indent=2, allow_nan=False)  # ASCII: a model's text may hold what no terminal can show
    sys.stdout.write("\n")
