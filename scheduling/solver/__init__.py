"""The optimizer in a process of its own, so that a search that does not end can be killed."""

from scheduling.solver.client import Solver, SolverFailure, solve
from scheduling.solver.codec import Answer, Baseline, Question

__all__ = ["Answer", "Baseline", "Question", "Solver", "SolverFailure", "solve"]
