"""Writes of the corpus. Each owns its transaction and its rule."""

from bench.services.board import board_rebuild
from bench.services.ingest import IngestResult, RunOutcome, submission_ingest
from bench.services.moderation import (
    Outcome,
    run_publish,
    run_reinstate,
    run_reject,
    run_withdraw,
    runs_decide,
    submission_publish_demo,
    submission_publish_reference,
    submission_withdraw,
)
from bench.services.nodes import node_upsert

__all__ = [
    "IngestResult",
    "Outcome",
    "RunOutcome",
    "board_rebuild",
    "node_upsert",
    "run_publish",
    "run_reinstate",
    "run_reject",
    "run_withdraw",
    "runs_decide",
    "submission_ingest",
    "submission_publish_demo",
    "submission_publish_reference",
    "submission_withdraw",
]
