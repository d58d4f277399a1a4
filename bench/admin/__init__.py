from bench.admin.aliases import AliasAdmin
from bench.admin.records import DecisionAdmin, NodeAdmin, SubmissionAdmin
from bench.admin.runs import RunAdmin
from bench.admin.submitters import SubmitterAdmin

__all__ = ["AliasAdmin", "DecisionAdmin", "NodeAdmin", "RunAdmin", "SubmissionAdmin", "SubmitterAdmin"]
