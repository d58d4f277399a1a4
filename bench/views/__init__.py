"""Pages of the corpus. Every figure comes from a selector; nothing here writes."""

from bench.views.board import compare, home, leaderboard
from bench.views.evidence import configuration, moderation_log, run
from bench.views.guide import gates_page, measure, methodology_page
from bench.views.own import own_runs
from bench.views.picker import picker
from bench.views.sweeps import data
from bench.views.verify import verify

__all__ = [
    "compare",
    "configuration",
    "data",
    "gates_page",
    "home",
    "leaderboard",
    "measure",
    "methodology_page",
    "moderation_log",
    "own_runs",
    "picker",
    "run",
    "verify",
]
