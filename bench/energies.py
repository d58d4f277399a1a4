"""Which energies may be held against each other, and what no other beats. Pure: no Django, no I/O."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from asyncenergy_controller.metrics import pareto_front

from bench.configuration import source_family

Row = Mapping[str, Any]
Kind = tuple[str | None, str | None]


def kind_of_energy(row: Row) -> Kind:
    """What was metered, and through which family of sources: joules of another kind measure something else."""
    return row["energy_boundary"], source_family(row["energy_source"])


def comparable(one: Row, other: Row) -> bool:
    """Whether one row's joules may be called more, less or a multiple of the other's."""
    return kind_of_energy(one) == kind_of_energy(other)


def on_the_front(rows: Sequence[Row], cost: str, within: Callable[[Row], Hashable]) -> list[bool]:
    """Which rows of one task no other verified row of the same kind of energy beats in both `cost` and accuracy, among
    those that agree in `within`. What is only claimed takes no part: it is on no front, and beats nobody off one."""
    members: dict[Hashable, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        if row["verified"]:
            members[kind_of_energy(row), within(row)].append(i)
    front = [False] * len(rows)
    for group in members.values():
        costs, shares = ([rows[i][name] for i in group] for name in (cost, "accuracy"))
        for i, is_member in zip(group, pareto_front(costs, shares), strict=True):
            front[i] = is_member
    return front
