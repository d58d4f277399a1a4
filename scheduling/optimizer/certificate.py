"""The certificate as JSON: everything a stranger needs to check the bound."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import scipy

from scheduling.optimizer.curve import SECOND, moment
from scheduling.optimizer.problem import Option, Problem, Run, Task
from scheduling.optimizer.proof import Prices, cheapest_option

VERSION = 1


def certificate(
    problem: Problem, runs: Sequence[Run], fixed: Sequence[Run], prices: Prices, *, cost: float, bound: float
) -> dict[str, Any]:
    """Return the certificate of `runs` and of what is fixed; times are seconds from `t0`, rates per hour or kWh.

    `currency` is left open: prices come without one, and whoever publishes the plan knows it.
    """
    t0 = problem.curve.start
    edges = [_seconds(int(edge) - t0) for edge in prices.edges]
    energy = prices.energy.tolist()
    return {
        "version": VERSION,
        "currency": None,
        "t0": moment(t0).isoformat(),
        "edges_s": edges,
        "price_per_kwh": energy,
        "unpriced": np.flatnonzero(~_priced(problem, prices)).tolist(),
        "prices_sha256": prices_sha256(edges, energy),
        "machine_rows": {
            name: {"capacity": problem.capacity[name], "lambda_per_h": level.tolist()}
            for name, level in prices.machines.items()
        },
        "watt_row": None
        if problem.limit_w is None
        else {"limit_w": problem.limit_w, "lambda_per_kwh": prices.watt.tolist()},
        "jobs": [*(_job(prices, run.task, t0) for run in runs), *(_fixed_job(run, t0) for run in fixed)],
        "placements": [_placement(problem, run, t0) for run in runs],
        "cost": cost,
        "lower_bound": bound,
        "solver": "HiGHS",
        "solver_version": f"SciPy {scipy.__version__}",
    }


def prices_sha256(edges_s: Iterable[float], price_per_kwh: Iterable[float]) -> str:
    """Return the digest of the lines "edge price", the edge in whole seconds and the price with nine decimals."""
    lines = ("%d %.9f\n" % pair for pair in zip(edges_s, price_per_kwh, strict=False))  # noqa: UP031 - the format is the contract's
    return sha256("".join(lines).encode()).hexdigest()


def _priced(problem: Problem, prices: Prices) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return problem.curve.priced[np.searchsorted(problem.curve.edges, prices.edges[:-1], side="right") - 1]


def _seconds(length: int) -> float:
    """Whole seconds as an int, so that they read and compare exactly."""
    return length // SECOND if length % SECOND == 0 else length / SECOND


def _profile(option: Option) -> list[list[float]]:
    return [[_seconds(end - begin), watts] for begin, end, watts in option.steps]


def _job(prices: Prices, task: Task, t0: int) -> dict[str, Any]:
    """`profile` is the way that pays least under the certificate's prices; `modes` has all of them."""
    _, cheapest, _, _ = cheapest_option(prices, task)
    return {
        "id": task.id,
        "earliest_s": _seconds(task.lo - t0),
        "deadline_s": _seconds(task.deadline - t0),
        "profile": _profile(cheapest),
        "modes": [_profile(option) for option in task.fitting],
        "interruptible": task.interruptible,
        "machines": list(task.machines),
    }


def _fixed_job(run: Run, t0: int) -> dict[str, Any]:
    """A run that has begun: its window is the run itself."""
    profile = [[_seconds(end - begin), watts] for begin, end, watts in run.draws()]
    return {
        "id": run.task.id,
        "earliest_s": _seconds(run.start - t0),
        "deadline_s": _seconds(run.end - t0),
        "profile": profile,
        "modes": [profile],
        "interruptible": False,
        "machines": [run.machine],
    }


def _placement(problem: Problem, run: Run, t0: int) -> dict[str, Any]:
    return {
        "id": run.task.id,
        "machine": run.machine,
        "profile": _profile(run.option),
        "pieces_s": [[_seconds(begin - t0), _seconds(end - t0)] for begin, end in run.pieces],
        "cost": run.cost(problem.curve),
    }
