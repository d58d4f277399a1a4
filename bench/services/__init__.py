"""Writes of the corpus. Each owns its transaction and its rule."""

from bench.services.accounts import account_delete
from bench.services.aliases import alias_list_names, alias_preview, alias_set
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
from bench.services.nodes import node_count, node_upsert
from bench.services.reference import Loaded, reference_load
from bench.services.submitters import submitter_ban, submitter_lift_ban, submitter_part, submitters_merge

__all__ = [
    "IngestResult",
    "Loaded",
    "Outcome",
    "RunOutcome",
    "account_delete",
    "alias_list_names",
    "alias_preview",
    "alias_set",
    "board_rebuild",
    "node_count",
    "node_upsert",
    "reference_load",
    "run_publish",
    "run_reinstate",
    "run_reject",
    "run_withdraw",
    "runs_decide",
    "submission_ingest",
    "submission_publish_demo",
    "submission_publish_reference",
    "submission_withdraw",
    "submitter_ban",
    "submitter_lift_ban",
    "submitter_part",
    "submitters_merge",
]
