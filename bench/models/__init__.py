from bench.models.alias import Alias
from bench.models.board import BoardConfig, BoardRow, BoardState, BoardSweep, DirtyMark, StoredAnswer
from bench.models.corpus import CorpusRelease
from bench.models.decision import Decision
from bench.models.node import Node
from bench.models.run import Run, RunColumns, RunMark
from bench.models.status import WAITING, ReviewStatus
from bench.models.submission import Submission
from bench.models.submitter import Submitter, SubmitterAccount

__all__ = [
    "WAITING",
    "Alias",
    "BoardConfig",
    "BoardRow",
    "BoardState",
    "BoardSweep",
    "CorpusRelease",
    "Decision",
    "DirtyMark",
    "Node",
    "ReviewStatus",
    "Run",
    "RunColumns",
    "RunMark",
    "StoredAnswer",
    "Submission",
    "Submitter",
    "SubmitterAccount",
]
