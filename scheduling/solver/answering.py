"""One question answered in this process: the plan, and what its jobs would be without it."""

from dataclasses import replace

from scheduling.optimizer import Job, Piece, plan, random_start_mean
from scheduling.optimizer.baseline import earliest_runs
from scheduling.optimizer.curve import moment
from scheduling.optimizer.problem import problem_from
from scheduling.solver.codec import Answer, Baseline, Question


def answered(question: Question) -> Answer:
    made = plan(
        question.prices,
        question.jobs,
        now=question.now,
        capacity=question.capacity,
        watt_limit=question.watt_limit,
        pinned=question.pinned,
        time_limit_s=question.time_limit_s,
    )
    placed = {placement.id for placement in made.placements} - set(made.pinned)
    return Answer(made, _baselines(question, placed))


def _baselines(question: Question, placed: set[str]) -> dict[str, Baseline]:
    """First come, first served beside what has begun; the same rule as the plan's own baseline."""
    problem = problem_from(
        question.prices,
        question.jobs,
        now=question.now,
        capacity=question.capacity,
        watt_limit=question.watt_limit,
        pinned=question.pinned,
    )
    jobs = {job.id: replace(job, modes=()) for job in question.jobs}
    runs = earliest_runs(problem, [task for task in problem.tasks if task.id in placed])
    return {
        run.task.id: Baseline(
            tuple(Piece(moment(begin), moment(end)) for begin, end in run.pieces),
            run.cost(problem.curve),
            _random_cost(question, jobs[run.task.id]),
        )
        for run in runs
    }


def _random_cost(question: Question, job: Job) -> float | None:
    near = [price for price in question.prices if price.start < job.deadline and price.end > job.earliest_start]
    return random_start_mean(near, job, now=question.now) if near else None
