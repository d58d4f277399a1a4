"""Which configuration to run: the pick with its reasons, and every candidate with a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.energies import comparable, on_the_front
from bench.pages.board import config_line
from bench.pages.likeness import config_lines
from bench.pages.words import BOUNDARIES, in_words, other_energy, pace
from bench.presentation import LogScale, between, percent, significant, with_unit
from bench.recommendation import J_PER_KWH, Wish

Result = Mapping[str, Any]
ANSWERS = 1000
MOST_TICKS = 8
OBJECTIVES = {"energy": "least energy", "speed": "least time", "balanced": "least of both"}


@dataclass(frozen=True, slots=True)
class Point:
    """Where the chart draws a candidate: joules and percent, each with its interval where there is one."""

    joules: float
    low_j: float | None
    high_j: float | None
    accuracy: float
    accuracy_low: float | None
    accuracy_high: float | None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A configuration of the table; the chart shows it under the same number. Costs are for 1,000 correct answers."""

    number: int
    result: Result
    config: str
    verdict: str
    on_front: bool
    is_pick: bool
    kwh: float | None
    cost_ct: float | None
    point: Point | None


@dataclass(frozen=True, slots=True)
class Pick:
    """The first of what satisfies the wish. Costs are for a thousand correct answers."""

    result: Result
    title: str
    why: list[str]
    kwh: float | None
    cost_ct: float | None
    answer_j: float | None
    measured_at: str


@dataclass(frozen=True, slots=True)
class Plot:
    """The axes of the chart: marks of the logarithmic one, and where the percent begin."""

    low: float
    high: float
    ticks: str
    least_pct: int


def pick(fitting: Sequence[Result], wish: Wish) -> Pick | None:
    """The best that satisfies the wish; None where nothing can be ranked, or only claims while something verified
    fits: claims stand below all that is verified."""
    if not fitting or fitting[0]["score"] is None or _is_claim_above_verified(fitting):
        return None
    best = fitting[0]
    joules, accuracy = best["predicted_j"], best["accuracy"]
    return Pick(
        result=best,
        title=_title(best),
        why=[*best["why"], *_alternatives(best, fitting[1:], wish), *_memory(best, wish)],
        kwh=_kwh(best),
        cost_ct=_cost_ct(best),
        answer_j=None if joules is None or accuracy is None else joules * accuracy,
        measured_at=in_words(BOUNDARIES, best["energy_boundary"]) or "an unknown boundary",
    )


def _is_claim_above_verified(fitting: Sequence[Result]) -> bool:
    return not fitting[0]["verified"] and any(one["verified"] for one in fitting)


def candidates(everything: Sequence[Result], fitting: Sequence[Result], chosen: Pick | None) -> list[Candidate]:
    """All that was measured for the task, least energy first. The frontier is that of the pick's kind of energy."""
    fits = {result["config_key"] for result in fitting}
    ordered = sorted(everything, key=lambda result: (result["predicted_j"] is None, result["predicted_j"] or 0.0))
    alike = _alike(ordered, chosen)
    front = on_the_front(ordered, "predicted_j", lambda _: None)
    said = config_lines(ordered)
    picked = chosen.result["config_key"] if chosen else None
    return [
        Candidate(
            number=number,
            result=one,
            config=said.get(one["config_key"]) or config_line(one),
            verdict=_verdict(one, fits, picked, is_alike=is_alike, on_front=member),
            on_front=is_alike and member,
            is_pick=one["config_key"] == picked,
            kwh=_kwh(one),
            cost_ct=_cost_ct(one),
            point=_point(one),
        )
        for number, (one, is_alike, member) in enumerate(zip(ordered, alike, front, strict=True), 1)
    ]


def _alike(ordered: Sequence[Result], chosen: Pick | None) -> list[bool]:
    """Whose energy may be weighed against the pick's; without a pick, against that of the first verified one."""
    measure = chosen.result if chosen else next((one for one in ordered if one["verified"]), None)
    return [measure is None or comparable(one, measure) for one in ordered]


def nothing(everything: Sequence[Result], fitting: Sequence[Result], wish: Wish) -> str:
    """Why there is no pick, where there are candidates."""
    if fitting and fitting[0]["score"] is not None:
        ranked = OBJECTIVES.get(wish.objective, wish.objective)
        return f"Only claims can be ranked by {ranked} here, and they stand below all that is verified"
    if fitting:
        return "None of the candidates can be ranked by " + OBJECTIVES.get(wish.objective, wish.objective)
    limits = [
        f"is at least {with_unit(f'{100 * wish.min_accuracy:g}', '%')} right" if wish.min_accuracy is not None else "",
        f"is known to fit in {with_unit(f'{wish.max_vram_gb:g}', 'GB')}" if wish.max_vram_gb is not None else "",
    ]
    return "No measured configuration " + " and ".join(limit for limit in limits if limit)


def plot(everything: Sequence[Result]) -> Plot | None:
    """Axes that hold every candidate with both figures; None where there is nothing to draw."""
    drawn = [one for one in everything if one["predicted_j"] and one["accuracy"] is not None]
    ends = [one[name] for one in drawn for name in ("predicted_j", "predicted_j_low", "predicted_j_high")]
    scale = LogScale.over(ends)
    if scale is None:
        return None
    lowest = min(one["accuracy_ci_low"] if one["accuracy_ci_low"] is not None else one["accuracy"] for one in drawn)
    ticks = " ".join(f"{value:g}" for value in scale.tick_values(most=MOST_TICKS))
    return Plot(scale.low, scale.high, ticks, 10 * int(10 * lowest))


def _kwh(result: Result) -> float | None:
    return None if result["predicted_j"] is None else ANSWERS * float(result["predicted_j"]) / J_PER_KWH


def _cost_ct(result: Result) -> float | None:
    return None if result["predicted_cost"] is None else ANSWERS * float(result["predicted_cost"])


def _point(result: Result) -> Point | None:
    if not result["predicted_j"] or result["accuracy"] is None:
        return None
    return Point(
        joules=result["predicted_j"],
        low_j=result["predicted_j_low"],
        high_j=result["predicted_j_high"],
        accuracy=100 * result["accuracy"],
        accuracy_low=_pct(result["accuracy_ci_low"]),
        accuracy_high=_pct(result["accuracy_ci_high"]),
    )


def _pct(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _title(result: Result) -> str:
    parts = [result["model"], result["quantization"], f"on {result['engine']}"]
    limit = result["power_limit_w"]
    told = ", ".join(part for part in parts if part) + (f" at {with_unit(f'{limit:g}', 'W')}" if limit else "")
    return told if result["concurrency"] == 1 else f"{told}, {pace(result['concurrency'])}"


def _verdict(result: Result, fits: set[str], picked: str | None, *, is_alike: bool, on_front: bool) -> str:
    if result["config_key"] == picked:
        return "our pick"
    if result["config_key"] not in fits:
        return "not what you asked"
    if result["predicted_j"] is None:
        return "no energy known"
    if not result["verified"]:
        return "claimed"
    if not is_alike:
        return "other energy"
    return "frontier" if on_front else "beaten"


def _alternatives(best: Result, others: Sequence[Result], wish: Wish) -> list[str]:
    """The runner-up, and what is right more often."""
    words = [_runner_up(best, others[0], wish)] if others and others[0]["score"] is not None else []
    alike = [one for one in others if one["predicted_j"] and comparable(best, one)]
    better = [one for one in alike if (one["accuracy"] or 0) > (best["accuracy"] or 0)]
    if better:
        more = min(better, key=lambda one: (not one["verified"], one["predicted_j"]))
        figures = f"{_percent(more['accuracy'])} for {_joules(more['predicted_j'])}"
        words.append(f"Need more right? {_named(more)}: {figures}.")
    return words


def _runner_up(best: Result, other: Result, wish: Wish) -> str:
    if wish.objective != "energy":
        return f"The runner-up is {_named(other)}. Predicted times carry no interval, so a small lead means little."
    said = f"The runner-up, {_named(other)} at {_joules(other['predicted_j'])}{_interval(other)},"
    if not comparable(best, other):
        return other_energy(said, other, "the pick", best)
    if best["verified"] and not other["verified"]:
        return f"{said} is only claimed: nothing derives it again."
    if other["tied_with_best"]:
        return f"{said} can’t be told apart from it. Take whichever you know."
    if None in (best["predicted_j_low"], other["predicted_j_low"]):
        return f"{said} may be as good: one of the two has no interval."
    return f"{said} needs {significant(other['predicted_j'] / best['predicted_j'])} × the energy."


def _memory(best: Result, wish: Wish) -> list[str]:
    mib = best["peak_gpu_mem_used_mib"]
    if mib is None:
        return []
    gb = with_unit(significant(mib * 2**20 / 1e9), "GB")
    return [f"It needed {gb}{f' of your {wish.max_vram_gb:g}' if wish.max_vram_gb else ''} at the most."]


def _named(result: Result) -> str:
    return f"{result['model']} ({config_line(result)})"


def _joules(value: float) -> str:
    return with_unit(significant(value), "J")


def _percent(value: float) -> str:
    return with_unit(percent(value), "%")


def _interval(result: Result) -> str:
    low, high = result["predicted_j_low"], result["predicted_j_high"]
    return "" if low is None or high is None else f" ({between(significant(low), significant(high))})"
