"""Questions and answers as JSON. Times are ISO 8601 in UTC; nothing is rounded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from scheduling.optimizer import Infeasible, Job, Mode, Piece, Placement, Plan, PricePoint

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """What `optimizer.plan` is asked."""

    prices: tuple[PricePoint, ...]
    jobs: tuple[Job, ...]
    now: datetime
    capacity: Mapping[str, int]
    watt_limit: float | None = None
    pinned: tuple[Placement, ...] = ()
    time_limit_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a placed job would be without a plan: begun as early as it can, or at a random moment of its window."""

    pieces: tuple[Piece, ...]
    earliest_cost: float
    random_cost: float | None


@dataclass(frozen=True, slots=True)
class Answer:
    plan: Plan
    baselines: Mapping[str, Baseline] = field(default_factory=dict)


def _text(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat()


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def question_json(question: Question) -> Json:
    return {
        "prices": [[_text(p.start), _text(p.end), p.price_per_kwh] for p in question.prices],
        "jobs": [_job_json(job) for job in question.jobs],
        "now": _text(question.now),
        "capacity": dict(question.capacity),
        "watt_limit": question.watt_limit,
        "pinned": [placement_json(placement) for placement in question.pinned],
        "time_limit_s": question.time_limit_s,
    }


def question_from(data: Json) -> Question:
    return Question(
        prices=tuple(PricePoint(_instant(a), _instant(b), price) for a, b, price in data["prices"]),
        jobs=tuple(_job_from(job) for job in data["jobs"]),
        now=_instant(data["now"]),
        capacity=data["capacity"],
        watt_limit=data["watt_limit"],
        pinned=tuple(placement_from(placement) for placement in data["pinned"]),
        time_limit_s=data["time_limit_s"],
    )


def _job_json(job: Job) -> Json:
    return {
        "id": job.id,
        "duration_s": job.duration_s,
        "power_w": _power_json(job.power_w),
        "earliest_start": _text(job.earliest_start),
        "deadline": _text(job.deadline),
        "priority": job.priority,
        "machine": job.machine,
        "interruptible": job.interruptible,
        "min_run_s": job.min_run_s,
        "restart_wh": job.restart_wh,
        "modes": [_mode_json(mode) for mode in job.modes],
    }


def _job_from(data: Json) -> Job:
    times = {name: _instant(data[name]) for name in ("earliest_start", "deadline")}
    modes = tuple(_mode_from(mode) for mode in data["modes"])
    return Job(**{**data, **times, "power_w": _power_from(data["power_w"]), "modes": modes})


def _power_json(power: Any) -> Any:
    return power if isinstance(power, int | float) else [list(step) for step in power]


def _power_from(power: Any) -> Any:
    return power if isinstance(power, int | float) else tuple((seconds, watts) for seconds, watts in power)


def _mode_json(mode: Mode) -> Json:
    return {"duration_s": mode.duration_s, "power_w": _power_json(mode.power_w), "label": mode.label}


def _mode_from(data: Json) -> Mode:
    return Mode(data["duration_s"], _power_from(data["power_w"]), data["label"])


def _pieces_json(pieces: tuple[Piece, ...]) -> list[list[str]]:
    return [[_text(piece.start), _text(piece.end)] for piece in pieces]


def pieces_from(data: list[list[str]]) -> tuple[Piece, ...]:
    return tuple(Piece(_instant(begin), _instant(end)) for begin, end in data)


def placement_json(placement: Placement) -> Json:
    return {
        "id": placement.id,
        "machine": placement.machine,
        "mode": _mode_json(placement.mode),
        "pieces": _pieces_json(placement.pieces),
        "energy_wh": placement.energy_wh,
        "cost": placement.cost,
    }


def placement_from(data: Json) -> Placement:
    return Placement(**{**data, "mode": _mode_from(data["mode"]), "pieces": pieces_from(data["pieces"])})


def answer_json(answer: Answer) -> Json:
    plan = answer.plan
    same = ("cost", "lower_bound", "solver_bound", "certificate", "proved", "time_limited")
    infeasible = ("id", "reason", "smallest_change", "proof", "later_min", "more_watts")
    return {
        **{name: getattr(plan, name) for name in same},
        "placements": [placement_json(placement) for placement in plan.placements],
        "infeasible": [{name: getattr(one, name) for name in infeasible} for one in plan.infeasible],
        "baseline_costs": dict(plan.baseline_costs),
        "pinned": list(plan.pinned),
        "baselines": {
            name: [_pieces_json(one.pieces), one.earliest_cost, one.random_cost]
            for name, one in answer.baselines.items()
        },
    }


def answer_from(data: Json) -> Answer:
    baselines = {
        name: Baseline(pieces_from(pieces), earliest, random)
        for name, (pieces, earliest, random) in data.pop("baselines").items()
    }
    placements = tuple(placement_from(placement) for placement in data["placements"])
    infeasible = [Infeasible(**one) for one in data["infeasible"]]
    plan = Plan(**{**data, "placements": placements, "infeasible": infeasible, "pinned": tuple(data["pinned"])})
    return Answer(plan, baselines)
