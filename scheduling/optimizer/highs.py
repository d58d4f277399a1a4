"""Linear and integer programmes as HiGHS takes them, with the limits that keep a plan repeatable."""

from dataclasses import dataclass, field, replace
from time import monotonic

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from scheduling.optimizer.curve import Bools, Floats, Ints

FAILED = 4
COST_RANGE = 1e5  # HiGHS stops at a gap of 1e-6, so money is scaled up: 1e-11 of the dearest start


@dataclass
class Budget:
    """A node limit makes a solve repeatable; the clock is the safety net, and leaves its mark."""

    node_limit: int
    ends_at: float
    time_limited: bool = False

    def seconds_left(self) -> float:
        """What a solve may take; 0 once the time is over, which is noted."""
        left = max(self.ends_at - monotonic(), 0.0)
        self.time_limited |= left == 0
        return left


@dataclass
class Rows:
    """Sparse rows under construction."""

    row: list[Ints] = field(default_factory=list)
    column: list[Ints] = field(default_factory=list)
    weight: list[Floats] = field(default_factory=list)
    limit: list[float] = field(default_factory=list)

    def add(self, row: Ints, column: Ints, weight: Floats, limits: Floats) -> int:
        """Append rows, numbered from 0 in `row`; return the first one's number."""
        first = len(self.limit)
        self.row.append(row + first)
        self.column.append(column)
        self.weight.append(weight)
        self.limit.extend(limits.tolist())
        return first

    def add_one(self, column: Ints, weight: Floats | float, limit: float) -> None:
        self.add(np.zeros(len(column), np.int64), column, np.broadcast_to(weight, len(column)), np.array([limit]))

    def matrix(self, columns: int) -> sparse.csr_array:
        if not self.limit:
            return sparse.csr_array((0, columns))
        at = (np.concatenate(self.row), np.concatenate(self.column))
        return sparse.csr_array((np.concatenate(self.weight), at), shape=(len(self.limit), columns))


@dataclass
class Columns:
    """Columns under construction."""

    cost: list[Floats] = field(default_factory=list)
    upper: list[Floats] = field(default_factory=list)
    integer: list[Bools] = field(default_factory=list)
    count: int = 0

    def add(self, cost: Floats, upper: Floats | float = 1.0, *, integer: bool = True) -> Ints:
        """Append columns; return their numbers."""
        many = len(cost)
        self.cost.append(cost)
        self.upper.append(np.broadcast_to(upper, many).astype(np.float64))
        self.integer.append(np.full(many, integer))
        self.count += many
        return np.arange(self.count - many, self.count)


@dataclass
class Builder:
    """A programme under construction."""

    columns: Columns = field(default_factory=Columns)
    at_most: Rows = field(default_factory=Rows)
    equal: Rows = field(default_factory=Rows)


@dataclass(frozen=True, eq=False)
class Programme:
    """Least cost with `at_most @ x <= at_most_limit`, `equal @ x == equal_limit`, 0 <= x <= upper."""

    at_most: sparse.csr_array
    at_most_limit: Floats
    equal: sparse.csr_array
    equal_limit: Floats
    upper: Floats
    integer: Bools


def with_row(programme: Programme, row: sparse.csr_array, limit: float) -> Programme:
    """Return the programme with one more row that must stay at or below `limit`."""
    return replace(
        programme,
        at_most=sparse.vstack((programme.at_most, row), format="csr"),
        at_most_limit=np.append(programme.at_most_limit, limit),
    )


@dataclass(frozen=True, eq=False)
class Relaxed:
    value: float
    x: Floats
    row_prices: Floats
    reduced: Floats


@dataclass(frozen=True, eq=False)
class Solved:
    """`x` is None where nothing was found; `proved` also stands for "there is no solution"."""

    x: Floats | None
    bound: float
    proved: bool


def relax(programme: Programme, cost: Floats, budget: Budget) -> Relaxed | None:
    """Solve without integrality; None where that has no solution or the time is over."""
    seconds, scale = budget.seconds_left(), _scale(cost)
    if not seconds:
        return None
    result = linprog(  # type: ignore[call-overload]  # the stubs know no sparse rows
        cost * scale,
        A_ub=programme.at_most,
        b_ub=programme.at_most_limit,
        A_eq=programme.equal,
        b_eq=programme.equal_limit,
        bounds=np.column_stack((np.zeros_like(programme.upper), programme.upper)),
        method="highs",
        options={"time_limit": seconds},
    )
    if result.status != 0:
        budget.time_limited |= result.status == 1
        return None
    prices = np.maximum(-result.ineqlin.marginals, 0.0) / scale
    return Relaxed(result.fun / scale, result.x, prices, result.lower.marginals / scale)


def solve(programme: Programme, cost: Floats, budget: Budget) -> Solved:
    """Solve with integrality within the budget."""
    scale = _scale(cost)
    for presolve in (True, False):  # presolve ends in "solve error" now and then, without a fault of the programme
        seconds = budget.seconds_left()
        if not seconds:
            break
        result = milp(
            cost * scale,
            integrality=programme.integer.astype(np.int64),
            bounds=Bounds(np.zeros_like(programme.upper), programme.upper),
            constraints=[
                LinearConstraint(programme.at_most, -np.inf, programme.at_most_limit),
                LinearConstraint(programme.equal, programme.equal_limit, programme.equal_limit),
            ],
            options={
                "mip_rel_gap": 0.0,
                "node_limit": budget.node_limit,
                "time_limit": seconds,
                "presolve": presolve,
            },
        )
        if result.status != FAILED:
            budget.time_limited |= result.status == 1 and "ime limit" in result.message
            bound = result.mip_dual_bound if result.mip_dual_bound is not None else -np.inf
            return Solved(result.x, bound / scale, result.status in (0, 2))
    return Solved(None, -np.inf, False)


def _scale(cost: Floats) -> float:
    largest = float(np.abs(cost).max(initial=0.0))
    return COST_RANGE / largest if largest > 0 else 1.0
