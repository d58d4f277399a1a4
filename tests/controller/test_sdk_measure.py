"""The SDK measures blocks and functions, plain and asynchronous, nested and side by side, and reports each once."""

import asyncio
import functools
import inspect
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from asyncenergy_controller.sdk import measure as measuring

from tests.controller.sdk_reports import reported

pytestmark = pytest.mark.usefixtures("folders")


def test_a_block_is_measured_and_reported(energy, server):
    begun_s = time.monotonic()
    with energy.measure("nightly", workflow_id="w1", work_unit_kind="items") as run:
        run.work_units = 12
        time.sleep(0.15)
    took_s = time.monotonic() - begun_s
    assert (run.exit_status, run.reason) == ("success", None)
    (record,) = reported(server, energy)
    assert record["energy_wh"] == run.energy_wh == pytest.approx(40 * record["duration_s"] / 3600, rel=0.6)
    assert record["energy_source"] == "simulated"
    assert 0.15 <= record["duration_s"] <= took_s
    assert (record["controller_id"], record["workflow_id"], record["framework"]) == ("box", "w1", "sdk")
    assert (record["work_units"], record["work_unit_kind"]) == (12, "items")
    assert len(server.samples_of(run.run_id)) == len(run.measurement.samples) >= 2
    assert server.headers[0]["X-API-Key"] == "ae_key"


def test_runs_of_one_name_share_a_digest_that_does_not_tell_the_name(energy, server):
    for name in ("one", "one", "two"):
        with energy.measure(name):
            pass
    prints = [record["fingerprint"] for record in reported(server, energy)]
    assert prints[0] == prints[1] != prints[2]
    assert len(prints[0]) == 32
    assert "one" not in str(server.runs)


def test_a_block_without_a_name_has_no_digest(energy, server):
    with energy.measure():
        pass
    assert "fingerprint" not in reported(server, energy)[0]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ValueError("no"), "error"),
        (KeyboardInterrupt(), "preempted"),
        (SystemExit(0), "success"),
        (SystemExit(), "success"),
        (SystemExit(3), "error"),
        (SystemExit("failed"), "error"),
    ],
)
def test_how_a_block_ends_is_reported_and_its_error_goes_on(energy, server, error, status):
    with pytest.raises(type(error)) as raised, energy.measure() as run:
        raise error
    assert raised.value is error
    assert run.exit_status == status
    assert reported(server, energy)[0]["exit_status"] == status


def test_a_decorated_function_keeps_its_name_its_arguments_and_its_result(energy, server):
    @energy.measure(workflow_id="w1")
    def add(one: int, *, other: int = 2) -> int:
        """Adds."""
        return one + other

    assert add(1, other=4) == 5
    assert (add.__name__, add.__doc__) == ("add", "Adds.")
    assert list(inspect.signature(add).parameters) == ["one", "other"]
    assert add(1) == 3
    assert [record["workflow_id"] for record in reported(server, energy)] == ["w1", "w1"]


def test_functions_of_different_names_are_different_work_and_any_callable_will_do(energy, server):
    def one():
        return 1

    def two():
        return 2

    works = [energy.measure()(work) for work in (one, two, one, functools.partial(max, 3))]
    assert [work() for work in works[:3]] + [works[3](2)] == [1, 2, 1, 3]
    prints = [record.get("fingerprint") for record in reported(server, energy)]
    assert prints[0] == prints[2] != prints[1]
    assert prints[3] is None


def test_a_decorated_function_that_fails_is_reported_as_an_error(energy, server):
    @energy.measure()
    def broken():
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        broken()
    assert reported(server, energy)[0]["exit_status"] == "error"


def test_a_function_that_calls_itself_is_measured_each_time(energy, server):
    @energy.measure()
    def factorial(n):
        return n * factorial(n - 1) if n > 1 else 1

    assert factorial(3) == 6
    records = reported(server, energy)
    assert len(records) == 3
    assert all(record["energy_wh"] > 0 for record in records if "energy_wh" in record)


def test_an_asynchronous_function_is_measured_until_it_is_awaited(energy, server):
    @energy.measure()
    async def wait(seconds):
        await asyncio.sleep(seconds)
        return "done"

    assert inspect.iscoroutinefunction(wait)
    assert asyncio.run(wait(0.12)) == "done"
    assert reported(server, energy)[0]["duration_s"] >= 0.12


def test_an_object_whose_call_is_asynchronous_is_measured_until_it_is_awaited(energy, server):
    class Agent:
        async def __call__(self, seconds):
            await asyncio.sleep(seconds)
            return "done"

    assert asyncio.run(energy.measure()(Agent())(0.12)) == "done"
    assert reported(server, energy)[0]["duration_s"] >= 0.12


def test_an_asynchronous_block_is_measured_while_other_tasks_go_on(energy, server):
    async def work():
        async with energy.measure() as run:
            await asyncio.sleep(0.3)
        return run

    async def both():
        ticks = 0
        task = asyncio.create_task(work())
        while not task.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return await task, ticks

    run, ticks = asyncio.run(both())
    assert run.exit_status == "success"
    assert ticks > 4
    assert len(reported(server, energy)) == 1


def test_a_cancelled_task_is_reported_as_preempted(energy, server):
    async def cancelled(begun):
        async with energy.measure():
            begun.set()
            await asyncio.sleep(30)

    async def main():
        begun = asyncio.Event()
        task = asyncio.create_task(cancelled(begun))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert reported(server, energy)[0]["exit_status"] == "preempted"


def test_a_task_cancelled_before_its_work_began_leaves_nothing_behind(energy, server, monkeypatch):
    opening = threading.Event()
    original = measuring._open

    def slowly(settings):
        opening.set()
        time.sleep(0.1)
        return original(settings)

    monkeypatch.setattr(measuring, "_open", slowly)

    async def main():
        task = asyncio.create_task(never())
        await asyncio.to_thread(opening.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0.2)

    async def never():
        async with energy.measure():
            raise AssertionError("the work began")

    before = threading.active_count()
    asyncio.run(main())
    assert not [thread for thread in threading.enumerate() if thread.name == "energy-sampler"]
    assert threading.active_count() <= before + 1
    with energy.measure():
        pass
    assert len(reported(server, energy)) == 1


@pytest.mark.parametrize("kind", ["generator", "asynchronous generator", "partial", "object"])
def test_a_generator_is_refused_because_its_call_measures_nothing(energy, kind):
    def numbers():
        yield 1

    async def later():
        yield 1

    class Stream:
        def __call__(self):
            yield 1

    works = {"generator": numbers, "asynchronous generator": later, "partial": functools.partial(numbers)}
    with pytest.raises(TypeError, match="use `with` inside"):
        energy.measure()(works.get(kind, Stream()))


def test_a_decorator_without_parentheses_is_refused_with_the_way_out(energy):
    with pytest.raises(TypeError, match=r"@energy.measure\(\)"):

        @energy.measure
        def work():
            pass


def test_one_measure_can_be_used_again_and_not_twice_at_once(energy, server):
    measure = energy.measure("again")
    with measure, pytest.raises(RuntimeError, match="of its own"), measure:
        pass
    with measure:
        pass
    assert len(reported(server, energy)) == 2


def test_a_block_inside_another_is_part_of_it_and_both_are_reported(energy, server):
    with energy.measure("outer") as outer, energy.measure("inner") as inner:
        time.sleep(0.15)
    assert 0 < inner.energy_wh <= outer.energy_wh
    assert len(reported(server, energy)) == 2


def test_blocks_side_by_side_have_no_energy_because_it_can_not_be_told_apart(energy, server):
    together = threading.Barrier(2)

    def work(_):
        with energy.measure() as run:
            together.wait(5)
        return run

    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(work, range(2)))
    assert [run.energy_wh for run in runs] == [None, None]
    assert "at the same time" in runs[0].reason
    records = reported(server, energy)
    assert [record["exit_status"] for record in records] == ["success", "success"]
    assert all({"energy_wh", "avg_w", "energy_source"}.isdisjoint(record) for record in records)
    assert server.samples == {}


def test_tasks_side_by_side_have_no_energy_and_the_block_around_them_has(energy, server):
    async def main():
        async with energy.measure() as around:
            inner = await asyncio.gather(work(), work())
        return around, inner

    async def work():
        async with energy.measure() as run:
            await asyncio.sleep(0.2)
        return run

    around, inner = asyncio.run(main())
    assert around.energy_wh > 0
    assert [run.energy_wh for run in inner] == [None, None]
    assert len(reported(server, energy)) == 3


def test_many_threads_report_every_block_once(energy, server):
    def work(number):
        with energy.measure(f"job {number}") as run:
            pass
        return run.run_id

    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(work, range(16)))
    assert {record["run_id"] for record in reported(server, energy)} == ids
    assert len(ids) == 16


def test_a_forked_worker_measures_and_reports_for_itself(energy, server):
    with energy.measure("parent") as parent:
        pid = os.fork()
        if pid == 0:
            try:
                with energy.measure("child"):
                    time.sleep(0.05)
                problem = energy.flush().problem
            finally:
                os._exit(0 if problem is None else 1)
        assert os.waitpid(pid, 0)[1] == 0
    child, own = reported(server, energy)
    assert own["run_id"] == parent.run_id
    assert child["energy_wh"] > 0
    assert child["fingerprint"] != own["fingerprint"]


def test_a_forked_child_that_leaves_its_parents_block_does_not_report_it(energy, server):
    def work():
        with energy.measure("parent") as parent:
            pid = os.fork()
            if pid == 0:
                raise LookupError("the child gives up")
            os.waitpid(pid, 0)
        return parent

    try:
        parent = work()
    except LookupError:
        energy.flush()
        os._exit(0)
    (record,) = reported(server, energy)
    assert (record["run_id"], record["exit_status"]) == (parent.run_id, "success")
    assert record["energy_wh"] > 0


def test_importing_the_package_loads_no_sdk_before_it_is_asked_for():
    code = "import sys, asyncenergy_controller as a; print('asyncenergy_controller.sdk' in sys.modules, a.AsyncEnergy)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("False <class 'asyncenergy_controller.sdk.energy.AsyncEnergy'>")
    with pytest.raises(ImportError):
        from asyncenergy_controller import NoSuchThing  # noqa: F401
