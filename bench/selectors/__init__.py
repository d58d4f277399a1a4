"""Reads of the corpus. Page, JSON, CSV and tools show one number for one row because all call these."""

from bench.costs import COST_FIELDS
from bench.grading import STARS
from bench.recommendation import Wish
from bench.selectors.board import (
    DEFAULT_SORT,
    MAX_LIMIT,
    SORTS,
    BoardQuery,
    board_count,
    board_rows,
    data_version,
    rank_sizes,
    row_with_net,
    rows_of,
    simulated_rows,
)
from bench.selectors.configs import config_detail, configs_of
from bench.selectors.decisions import moderation_log, moderation_log_count
from bench.selectors.facets import board_facets
from bench.selectors.names import names_listed
from bench.selectors.owners import gates_failed, nodes_of, submission_summary, submissions_of
from bench.selectors.picks import recommend
from bench.selectors.repetition import repetitions
from bench.selectors.routing import routing_rows
from bench.selectors.runs import Flag, RunDetail, corpus_counts, run_detail, run_figures
from bench.selectors.sweeps import SweepQuery, recommended_cap, sweep_count, sweep_list
from bench.sweeps import POINT_FIELDS

__all__ = [
    "COST_FIELDS",
    "DEFAULT_SORT",
    "MAX_LIMIT",
    "POINT_FIELDS",
    "SORTS",
    "STARS",
    "BoardQuery",
    "Flag",
    "RunDetail",
    "SweepQuery",
    "Wish",
    "board_count",
    "board_facets",
    "board_rows",
    "config_detail",
    "configs_of",
    "corpus_counts",
    "data_version",
    "gates_failed",
    "moderation_log",
    "moderation_log_count",
    "names_listed",
    "nodes_of",
    "rank_sizes",
    "recommend",
    "recommended_cap",
    "repetitions",
    "routing_rows",
    "row_with_net",
    "rows_of",
    "run_detail",
    "run_figures",
    "simulated_rows",
    "submission_summary",
    "submissions_of",
    "sweep_count",
    "sweep_list",
]
