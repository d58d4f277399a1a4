"""Places jobs in their cheapest feasible hours, and proves how close to the cheapest that is. No Django, no I/O."""

from scheduling.optimizer.baseline import random_start_mean
from scheduling.optimizer.planner import UnsoundPlanError, plan
from scheduling.optimizer.types import Infeasible, Job, Mode, Piece, Placement, Plan, PricePoint
from scheduling.optimizer.verify import verify

__all__ = [
    "Infeasible",
    "Job",
    "Mode",
    "Piece",
    "Placement",
    "Plan",
    "PricePoint",
    "UnsoundPlanError",
    "plan",
    "random_start_mean",
    "verify",
]
