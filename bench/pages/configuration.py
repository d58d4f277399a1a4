"""One configuration over all its tasks: rows on one scale, cost of an answer by its length, how to measure it again."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from asyncenergy_controller.tasks.registry import TASK_NAMES

from bench.pages.board import Line, board, config_line, shared_rank
from bench.pages.words import BOUNDARIES, COST_REASONS, SETTINGS, STOCK, in_words, pace
from bench.presentation import Interval, between, counted, fixed, share_interval, significant, with_unit

Detail = Mapping[str, Any]
EXTRA = "extra_"
DEFAULTS = {"--concurrency": 1, "--thinking": "off"}  # what the controller does unasked


@dataclass(frozen=True, slots=True)
class TaskLine:
    """A row of the board with both its intervals drawn."""

    line: Line
    rank: str | None
    accuracy: Interval | None
    board_href: str
    run_line: str


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A part of the cost of an answer; `error` is its standard error, None at the bound 0 and where it is claimed."""

    term: str
    joules: float
    unit: str
    error: float | None


@dataclass(frozen=True, slots=True)
class Costs:
    """The fitted parts with what they rest on, or why there are none."""

    coefficients: list[Coefficient]
    basis: str
    claimed: bool


def context(detail: Detail, rank_sizes: Mapping[str, Mapping[int, int]]) -> dict[str, Any]:
    """All that the configuration page shows; `rank_sizes` by task."""
    rows, config = detail["rows"], detail["config"]
    drawn = board(rows, sort="task")
    return {
        "detail": detail,
        "first": rows[0],
        "title": f"{config['model']}, {pace(config['concurrency'])}",
        "subtitle": config_line(rows[0]),
        "lines": [_task_line(line, rank_sizes[line.row["task"]]) for line in drawn.lines],
        "scale": drawn.scale,
        "costs": costs(detail["cost_model"], detail["cost_model_reason"]),
        "machine_costs": detail["machine_costs"] if len(detail["machine_costs"]) > 1 else [],
        "settings": settings(config),
        "unset": unset(config),
        "commands": [(row["task"], command(row["task"], config)) for row in rows if row["task"] in TASK_NAMES],
        "stars": _stars(detail["grades"]),
        "runs": [{**run, "date": date.fromisoformat(run["date"]) if run["date"] else None} for run in detail["runs"]],
    }


def _task_line(line: Line, rank_sizes: Mapping[int, int]) -> TaskLine:
    row = line.row
    low, high = row["accuracy_ci_low"], row["accuracy_ci_high"]
    accuracy = share_interval(row["accuracy"], low, high) if row["accuracy"] is not None and low is not None else None
    machines = counted(row["n_nodes"], "machine")
    rank = shared_rank(row["rank"], rank_sizes)
    return TaskLine(line, rank, accuracy, f"?task={row['task']}", f"{counted(row['n_runs'], 'run')} on {machines}")


def settings(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was set, in words; a limit or lock that was not set is the device's own."""
    known = {name: STOCK.get(name) if value is None else value for name, value in config.items()}
    return [(term(name), plain(name, value)) for name, value in known.items() if value is not None]


def unset(config: Mapping[str, Any]) -> list[str]:
    """Settings that nobody recorded."""
    return [term(name) for name, value in config.items() if value is None and name not in STOCK]


def costs(model: Mapping[str, Any] | None, reason: str | None) -> Costs:
    """What an answer costs by its length; without a fit `basis` says why."""
    if model is None:
        return Costs([], in_words(COST_REASONS, reason) or "There is no fit.", False)
    parts = [
        Coefficient("Any answer", model["e_fixed_j"], "J", model["e_fixed_se_j"]),
        Coefficient("Each token of the question", model["alpha_j_per_prompt_token"], "J", model["alpha_se"]),
        Coefficient("Each token of the answer", model["beta_j_per_completion_token"], "J", model["beta_se"]),
    ]
    return Costs(parts, _basis(model), bool(model.get("claimed")))


def _basis(model: Mapping[str, Any]) -> str:
    if model.get("claimed"):
        return "Claimed by the submitter: nothing here can derive it again."
    prompt, answer = (
        between(*(fixed(end, 0) for end in model[name])) for name in ("prompt_token_range", "completion_token_range")
    )
    told = f"Fitted on {counted(model['n'], 'item')} of {prompt} tokens asked and {answer} answered"
    told += f", R² {model['r2']:.2f}" if model["r2"] is not None else ""
    if (model.get("n_machines") or 1) < 2:
        return f"{told}, on one machine."
    spread = with_unit(between(*(significant(model[f"mean_item_j_{end}"]) for end in ("min", "max"))), "J")
    return f"{told}; the median of {model['n_machines']} machines, whose predictions for a mean item span {spread}."


def command(task: str, config: Mapping[str, Any]) -> str:
    """The line that measures this again, as far as the settings are the controller's to set."""
    options = {
        "--task": task,
        "--concurrency": config.get("concurrency"),
        "--max-tokens": config.get("max_tokens"),
        "--n-shot": config.get("n_shot"),
        "--thinking": config.get("thinking_mode"),
        "--reasoning-effort": config.get("reasoning_effort"),
    }
    told = {name: value for name, value in options.items() if value is not None and value != DEFAULTS.get(name)}
    words = [word for name, value in told.items() for word in (name, plain(name, value))]
    return shlex.join(["async-energy-controller", "bench", "run", *words])


def is_setting(name: str) -> bool:
    """Whether a field is a setting and no figure."""
    return name in SETTINGS or name.startswith(EXTRA)


def term(name: str) -> str:
    """A setting in words; engines have settings of their own."""
    return SETTINGS.get(name) or name.removeprefix(EXTRA).replace("_", " ")


def plain(name: str, value: Any) -> str:
    """A setting’s value in words."""
    if name == "energy_boundary":
        return BOUNDARIES.get(value, str(value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _stars(grades: Mapping[str, float | None]) -> list[tuple[str, float | None]]:
    """Stars by what they are for."""
    return [(name.removesuffix("_stars"), value) for name, value in grades.items() if name.endswith("_stars")]
