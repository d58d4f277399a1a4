"""Pages of the corpus. Every figure comes from a selector; nothing here writes."""

from bench.views.board import compare, home, leaderboard
from bench.views.evidence import moderation_log, run
from bench.views.guide import gates_page, measure, methodology_page

__all__ = ["compare", "gates_page", "home", "leaderboard", "measure", "methodology_page", "moderation_log", "run"]
