"""What a person is told while a benchmark runs."""

from asyncenergy_controller.bench.plan import Plan, Unit
from asyncenergy_controller.bench.store import ItemRow
from asyncenergy_controller.cli.progress import ProgressBar

PLAN = Plan(suite="quick", units=(Unit(task="arith", n_items=10), Unit(task="ifeval", n_items=10)), time_limit_s=100.0)


def answer(bar, position, n, *, each_s):
    bar.unit_started(position, PLAN.units[position], 0)
    for i in range(n):
        bar.item_done(ItemRow(i, each_s * i, each_s * (i + 1), 1.0, "stop"), 5.0)


def test_a_later_task_that_is_too_slow_for_the_time_limit_is_warned_of_once(capfd):
    with ProgressBar(PLAN, simulated=False) as bar:
        answer(bar, 0, 10, each_s=1.0)
        assert "time limit" not in capfd.readouterr().err
        answer(bar, 1, 8, each_s=50.0)
    assert capfd.readouterr().err.count("the time limit leaves") == 1


def test_the_whole_is_projected_once_and_early(capfd):
    with ProgressBar(PLAN, simulated=False) as bar:
        answer(bar, 0, 3, each_s=1.0)
        assert capfd.readouterr().err.count("Projected for this machine") == 1
        answer(bar, 1, 10, each_s=1.0)
    assert "Projected" not in capfd.readouterr().err
