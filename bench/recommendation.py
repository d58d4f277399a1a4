"""Which configuration to run: predicted energy and time for a workload, and why each stands where it does. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

from asyncenergy_controller.metrics import REASONS, CostModel, Standing, overlap

from bench import costs
from bench.energies import comparable, kind_of_energy
from bench.presentation import between, counted, fixed, percent, significant, with_unit

OBJECTIVES = ("energy", "speed", "balanced")
J_PER_KWH = 3.6e6
MIB_PER_GB = 1e9 / 2**20
_REASONS = {
    **REASONS,
    "no_items": "The runs came without items.",
    "not_in_totals": "The runs came as totals without coefficients.",
    "nothing_right": "Nothing was answered right.",
    "shape_unknown": "The claims don't tell the shape that they were measured at: give both token counts.",
}


@dataclass(frozen=True, slots=True)
class Wish:
    """What a reader wants. Token counts of one request; without both, the shape that the task itself has."""

    objective: str = "energy"
    prompt_tokens: float | None = None
    output_tokens: float | None = None
    gpu_class: str | None = None
    task: str | None = None
    max_vram_gb: float | None = None
    min_accuracy: float | None = None
    tier: str | None = None
    price_per_kwh: float | None = None
    limit: int | None = None

    @property
    def has_shape(self) -> bool:
        return self.prompt_tokens is not None or self.output_tokens is not None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row of the board and the cost model of its configuration, as stored."""

    row: Mapping[str, Any]
    cost_model: Mapping[str, Any] | None
    cost_model_reason: str | None


@dataclass(frozen=True, slots=True)
class Prediction:
    """Joules per correct answer with their 95 % interval, seconds an answer; None with a reason where withheld."""

    joules: float | None
    low_j: float | None
    high_j: float | None
    seconds: float | None
    extrapolated: bool
    basis: str

    @property
    def standing(self) -> Standing:
        return Standing(self.joules, self.low_j, self.high_j)


def recommend(candidates: Sequence[Candidate], wish: Wish) -> dict[str, Any]:
    """The task's candidates that satisfy the wish, best first; claims that nobody can derive again come last."""
    task = wish.task or _commonest_task(candidates, wish)
    fitting = [one for one in candidates if one.row["task"] == task and _fits(one.row, wish)]
    predicted = [(one, predict(one, wish)) for one in fitting]
    scored = _scored(predicted, wish.objective)
    ordered = sorted(scored, key=lambda found: _order(*found))
    results = [_result(i, len(ordered), *found, ordered[0][:2], wish) for i, found in enumerate(ordered[: wish.limit])]
    shape = {"prompt_tokens": wish.prompt_tokens, "output_tokens": wish.output_tokens}
    answer = {"objective": wish.objective, "task": task, "shape": shape, "count": len(ordered)}
    return {**answer, "results": results}


def predict(candidate: Candidate, wish: Wish) -> Prediction:
    """What one correct answer of the wished shape takes."""
    row = candidate.row
    if not wish.has_shape:
        basis = "Measured at the shape that the task has."
        limits = (row["jpc_ci_low"], row["jpc_ci_high"])
        seconds = _seconds(row, _mean_output_tokens(row))
        return Prediction(row["joules_per_correct_answer"], *limits, seconds, False, basis)
    prompt, output = _shape(candidate, wish)
    seconds = _seconds(row, output)
    if candidate.cost_model is None or not row["accuracy"]:
        return _unpredicted(candidate.cost_model_reason or "nothing_right", seconds)
    if prompt is None or output is None:
        return _unpredicted("shape_unknown", seconds)
    model = costs.of_payload(candidate.cost_model)
    joules = model.predict_j(prompt, output) / row["accuracy"]
    far = model.extrapolates(prompt, output)
    return Prediction(joules, *_limits(row, joules), seconds, far, _basis(candidate.cost_model, model))


def _unpredicted(reason: str, seconds: float | None) -> Prediction:
    return Prediction(None, None, None, seconds, False, f"No prediction for this shape. {_REASONS[reason]}")


def _commonest_task(candidates: Sequence[Candidate], wish: Wish) -> str | None:
    tasks = [one.row["task"] for one in candidates if _fits(one.row, wish)]
    return max(sorted(set(tasks)), key=tasks.count, default=None)


def _fits(row: Mapping[str, Any], wish: Wish) -> bool:
    """Whether a row satisfies every limit; what is unknown satisfies none."""
    memory = row["peak_gpu_mem_used_mib"]
    most_mib = inf if wish.max_vram_gb is None else wish.max_vram_gb * MIB_PER_GB
    return (
        wish.gpu_class in (None, row["gpu_class"])
        and (wish.max_vram_gb is None or (memory is not None and memory <= most_mib))
        and (wish.min_accuracy is None or (row["accuracy"] or 0.0) >= wish.min_accuracy)
        and (wish.tier is None or (row["tier"] or "none") in wish.tier)
    )


def _shape(candidate: Candidate, wish: Wish) -> tuple[float | None, float | None]:
    """The wished token counts; the one not told is the mean of what was measured, None where that is unknown."""
    measured = candidate.cost_model or {}
    prompt = wish.prompt_tokens if wish.prompt_tokens is not None else measured.get("mean_prompt_tokens")
    if wish.output_tokens is not None:
        return prompt, wish.output_tokens
    mean_output = measured.get("mean_completion_tokens")
    return prompt, _mean_output_tokens(candidate.row) if mean_output is None else mean_output


def _mean_output_tokens(row: Mapping[str, Any]) -> float | None:
    per_item, per_token = row["joules_per_item"], row["joules_per_token"]
    return per_item / per_token if per_item is not None and per_token else None


def _seconds(row: Mapping[str, Any], output_tokens: float | None) -> float | None:
    """Time to the first token and then the answer: `ttft + c / tokens_per_s`, at the speed of one answer.

    Pooled tokens/s are those of all requests in flight: one answer has its share of them, pooled / concurrency. They
    hold the first wait where it was not measured.
    """
    pooled = row["pooled_tokens_per_second"]
    if output_tokens is None or not pooled:
        return None
    return float((row["ttft_p50_s"] or 0.0) + output_tokens * (row["concurrency"] or 1) / pooled)


def _limits(row: Mapping[str, Any], joules: float) -> tuple[float | None, float | None]:
    """The headline's interval, in proportion."""
    value, low, high = (row[name] for name in ("joules_per_correct_answer", "jpc_ci_low", "jpc_ci_high"))
    if not value or low is None or high is None:
        return None, None
    return joules * low / value, joules * high / value


def _scored(
    predicted: Sequence[tuple[Candidate, Prediction]], objective: str
) -> list[tuple[Candidate, Prediction, float | None]]:
    best_j = min((p.joules for _, p in predicted if p.joules), default=None)
    best_s = min((p.seconds for _, p in predicted if p.seconds), default=None)
    return [(one, p, _score(p, objective, best_j, best_s)) for one, p in predicted]


def _score(p: Prediction, objective: str, best_j: float | None, best_s: float | None) -> float | None:
    """Less is better."""
    if objective == "energy":
        return p.joules
    if objective == "speed":
        return p.seconds
    if p.joules is None or p.seconds is None or not best_j or not best_s:
        return None
    return sqrt(p.joules / best_j * p.seconds / best_s)


def _order(one: Candidate, _: Prediction, score: float | None) -> tuple[Any, ...]:
    row = one.row
    return score is None, not row["verified"], score or 0.0, row["config_key"]


def _result(
    i: int, n: int, one: Candidate, p: Prediction, score: float | None, best: tuple[Candidate, Prediction], wish: Wish
) -> dict[str, Any]:
    cost = None if p.joules is None or wish.price_per_kwh is None else p.joules / J_PER_KWH * wish.price_per_kwh
    is_alike = comparable(best[0].row, one.row)
    tied = i > 0 and is_alike and wish.objective == "energy" and overlap(best[1].standing, p.standing)
    apart = [] if is_alike else [_apart(one.row, best[0].row)]
    return {
        **one.row,
        "predicted_j": p.joules,
        "predicted_j_low": p.low_j,
        "predicted_j_high": p.high_j,
        "predicted_s": p.seconds,
        "predicted_cost": cost,
        "score": score,
        "extrapolated": p.extrapolated,
        "tied_with_best": tied,
        "why": [*_place(i, n, p, score, wish.objective), *apart, *_evidence(one.row, p, tied=tied)],
    }


def _apart(row: Mapping[str, Any], best: Mapping[str, Any]) -> str:
    own, other = (", ".join(part or "unknown" for part in kind_of_energy(one)) for one in (row, best))
    return f"Its energy can't be compared with the best's: it is of another kind ({own}; the best's is {other})."


def _place(i: int, n: int, p: Prediction, score: float | None, objective: str) -> list[str]:
    if score is None:
        return [f"Not ranked by {objective}: it can't be predicted."]
    joules = f"{significant(p.joules)} J per correct answer" if p.joules is not None else "energy unknown"
    seconds = f"{significant(p.seconds)} s an answer" if p.seconds is not None else "time unknown"
    named = {"energy": joules, "speed": seconds, "balanced": f"{joules}, {seconds}"}
    return [f"Number {i + 1} of {n} by {objective}: {named[objective]}."]


def _evidence(row: Mapping[str, Any], p: Prediction, *, tied: bool) -> list[str]:
    """How sure it is: interval, basis, machines and items, and what speaks against it."""
    words = [p.basis]
    if tied:
        words.append("It can't be told apart from the best: their 95 % intervals overlap.")
    if p.low_j is not None and p.high_j is not None:
        span = with_unit(between(significant(p.low_j), significant(p.high_j)), "J")
        words.append(f"95 % interval {span}, from one run's items.")
    if p.extrapolated:
        words.append("The shape lies outside twice the range that the model was fitted on.")
    words.append(_measured(row))
    if not row["verified"]:
        words.append("Claimed by its submitter: nothing derives it again, so it stands below all that is verified.")
    return words


def _measured(row: Mapping[str, Any]) -> str:
    items = counted(row["n_items"], "item") if row["n_items"] is not None else "an unknown number of items"
    right = f"{percent(row['accuracy'])} % right of {items}" if row["accuracy"] is not None else items
    tier = f"tier {row['tier']}" if row["tier"] else "no tier"
    return f"{right}, {counted(row['n_nodes'], 'machine')}, {tier}."


def _basis(stored: Mapping[str, Any], model: CostModel) -> str:
    if stored["claimed"]:
        return "Predicted with coefficients that its submitter claimed."
    prompt, completion = (
        between(*(fixed(end, 0) for end in ends)) for ends in (model.prompt_token_range, model.completion_token_range)
    )
    fit = f", R² {model.r2:.2f}" if model.r2 is not None else ""
    return f"Predicted from {counted(model.n, 'item')} of {prompt} prompt and {completion} output tokens{fit}."
