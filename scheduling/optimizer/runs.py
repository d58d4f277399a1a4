"""Which slots to run in, where each run must last and each new one costs something: dynamic programming."""

import numpy as np

from scheduling.optimizer.curve import Bools, Floats

SLACK = 1e-15


def cheapest_runs(costs: Floats, restart_costs: Floats, need: int, least: int) -> list[tuple[int, int]] | None:
    """Return the cheapest runs as (first slot, slot after the last), `need` slots in all, each of at least `least`.

    `costs` is infinite for a closed slot; a run that begins in slot i after another one costs `restart_costs[i]`.
    Of equal plans the one that ends first. None where no plan fits. Time and space grow with slots x need.
    """
    if len(costs) < need:
        return None
    idle, began, stopped = _tables(costs, restart_costs, need, least)
    return _walk_back(began, stopped, need, least) if np.isfinite(idle[-1, need]) else None


def _tables(costs: Floats, restart_costs: Floats, need: int, least: int) -> tuple[Floats, Bools, Bools]:
    """idle[t, a]: least money with a slots done before t, not running; how each state was reached."""
    slots = len(costs)
    idle = np.full((slots + 1, need + 1), np.inf)
    idle[:, 0] = 0.0
    began = np.zeros((slots + 1, need + 1), dtype=bool)
    stopped = np.zeros((slots + 1, need + 1), dtype=bool)
    running = np.full(need + 1, np.inf)
    for t in range(1, slots + 1):
        running = np.concatenate(([np.inf], running[:-1] + costs[t - 1]))
        if t >= least:
            fresh = idle[t - least, : need + 1 - least] + costs[t - least : t].sum()
            fresh[1:] += restart_costs[t - least]
            began[t, least:] = fresh < running[least:] - SLACK
            running[least:] = np.where(began[t, least:], fresh, running[least:])
        stopped[t] = running < idle[t - 1] - SLACK
        idle[t] = np.where(stopped[t], running, idle[t - 1])
    return idle, began, stopped


def _walk_back(began: Bools, stopped: Bools, need: int, least: int) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    t, done = len(began) - 1, need
    while done:
        while not stopped[t, done]:
            t -= 1
        end = t
        while not began[t, done]:
            t, done = t - 1, done - 1
        t, done = t - least, done - least
        runs.append((t, end))
    return runs[::-1]
