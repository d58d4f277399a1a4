"""The solver runs in a process of its own: asked by JSON lines, killed when overdue, started again when gone."""

import json
import os
import signal
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.optimizer import Job, Mode, PricePoint, plan, verify
from scheduling.solver import Question, Solver, SolverFailure
from scheduling.solver.answering import answered
from scheduling.solver.codec import answer_from, answer_json, question_from, question_json
from tests.scheduling.people import NOON, at

PRICES = tuple(PricePoint(at(12 + i), at(13 + i), 0.1 + 0.07 * ((i * 5) % 7)) for i in range(24))


def job(name="a", **fields):
    return Job(
        **{"id": name, "duration_s": 3600.0, "power_w": 300.0, "earliest_start": NOON, "deadline": at(30), **fields}
    )


def question(*jobs, **fields):
    return Question(PRICES, jobs or (job(),), NOON, {"m": 1}, **fields)


@pytest.fixture(scope="module")
def solver():
    one = Solver()
    yield one
    one.close()


def test_the_answer_is_the_plan_that_the_optimizer_makes_here(solver):
    jobs = (job("a"), job("b", power_w=((1800.0, 400.0), (600.0, 10.5)), modes=(Mode(5000.0, 150.0, "150 W"),)))
    answer = solver.ask(question(*jobs))
    here = plan(PRICES, jobs, now=NOON, capacity={"m": 1})
    assert answer.plan == here
    assert verify(answer.plan, PRICES, jobs, now=NOON, capacity={"m": 1}) == []


def test_each_placed_job_has_its_baseline(solver):
    answer = solver.ask(question(job("a"), job("b"), job("never", deadline=at(12.5))))
    assert set(answer.baselines) == {"a", "b"}
    assert {name: one.earliest_cost for name, one in answer.baselines.items()} == answer.plan.baseline_costs
    assert sorted(one.pieces[0].start for one in answer.baselines.values()) == [NOON, at(13)]
    assert all(one.random_cost > 0 for one in answer.baselines.values())


@pytest.mark.campaign
def test_a_process_that_was_killed_is_started_again(solver):
    solver.ask(question())
    os.kill(solver._child.pid, signal.SIGKILL)
    solver._child.wait()
    assert solver.ask(question()).plan.placements


@pytest.mark.campaign
def test_an_answer_that_is_overdue_is_cut_off_and_the_next_one_comes(solver):
    solver.ask(question())
    os.kill(solver._child.pid, signal.SIGSTOP)  # a search that never ends
    began = time.monotonic()
    with pytest.raises(SolverFailure, match="overdue"):
        solver.ask(question(), within_s=0.3)
    assert time.monotonic() - began < 10
    assert solver.ask(question()).plan.placements


def test_a_question_without_sense_is_an_error_of_the_asker_and_the_process_lives(solver):
    pid = solver._child.pid if solver._child else None
    with pytest.raises(SolverFailure, match="above 0") as caught:
        solver.ask(question(job(duration_s=-1.0)))
    assert caught.value.permanent
    assert solver.ask(question()).plan.placements
    assert pid in (None, solver._child.pid)


def test_threads_take_turns(solver):
    answers = {}

    def ask(i):
        answers[i] = solver.ask(question(job(f"job-{i}")))

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert {i: answer.plan.placements[0].id for i, answer in answers.items()} == {i: f"job-{i}" for i in range(6)}


@settings(max_examples=30)
@given(
    seconds=st.lists(st.integers(1, 5000), min_size=1, max_size=4),
    watts=st.floats(0, 5000, allow_nan=False),
    priority=st.integers(-5, 5),
    limit=st.one_of(st.none(), st.floats(1, 1e5)),
)
def test_a_question_is_the_same_after_its_journey(seconds, watts, priority, limit):
    profile = tuple((float(s), watts) for s in seconds)
    one = job("x", duration_s=float(sum(seconds)), power_w=profile, priority=priority, machine="m")
    asked = question(one, watt_limit=limit)
    assert question_from(json.loads(json.dumps(question_json(asked)))) == asked


def test_an_answer_is_the_same_after_its_journey():
    answer = answered(question(job("a"), job("never", deadline=at(12.5))))
    assert answer_from(json.loads(json.dumps(answer_json(answer)))) == answer
