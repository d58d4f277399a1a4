"""What the items gave: accuracy, tokens, speed, and joules per item, per token and per correct answer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .columns import Array, number, to_list
from .energy import share_energy_j
from .intervals import MIN_BOOTSTRAP_ITEMS, bootstrap_jpc_interval, wilson_interval
from .readings import ratio
from .recording import Recording

BOOTSTRAP_SEED = 1234
MIN_ITEMS_BESIDE_FIRST = 4


@dataclass(frozen=True, kw_only=True)
class AnswerFigures:
    """Scores of all items. An item without a score was not answered correctly."""

    n_items: int
    n_correct: int
    accuracy: float | None
    accuracy_ci_low: float | None
    accuracy_ci_high: float | None
    truncated_pct: float | None


@dataclass(frozen=True, kw_only=True)
class SpeedFigures:
    """Tokens and their speed. A total is None if one count is missing; TTFT needs every request to have streamed."""

    total_prompt_tokens: int | None
    total_completion_tokens: int | None
    mean_tokens_per_second: float | None
    pooled_tokens_per_second: float | None
    ttft_p50_s: float | None
    ttft_p95_s: float | None
    itl_mean_ms: float | None


@dataclass(frozen=True, kw_only=True)
class CostFigures:
    """The headline and its relatives in J; the interval is the 95 % bootstrap of this one run."""

    joules_per_correct_answer: float | None
    jpc_ci_low: float | None
    jpc_ci_high: float | None
    jpc_ci_reason: str | None
    joules_per_item: float | None
    joules_per_token: float | None
    item_energy_j: tuple[float | None, ...]
    remainder_j: float | None
    first_item_ratio: float | None


def answer_figures(recording: Recording) -> AnswerFigures:
    """Accuracy is the mean score; a cut answer counts by its score like any other."""
    n, score = recording.n_items, float(np.nansum(recording.item("correct")))
    low, high = wilson_interval(score, n) if n else (None, None)
    return AnswerFigures(
        n_items=n,
        n_correct=round(score),
        accuracy=score / n if n else None,
        accuracy_ci_low=low,
        accuracy_ci_high=high,
        truncated_pct=_truncated_pct(recording),
    )


def speed_figures(recording: Recording) -> SpeedFigures:
    """Tokens per second of completion tokens: pooled over the window, and the mean over items."""
    completion = recording.item("completion_tokens")
    durations_s = recording.item("t_end_s") - recording.item("t_start_s")
    total = _total(completion)
    ttft_s = _streamed_ttft_s(recording, durations_s)
    p50, p95 = np.percentile(ttft_s, (50, 95)).tolist() if ttft_s is not None else (None, None)
    return SpeedFigures(
        total_prompt_tokens=_total(recording.item("prompt_tokens")),
        total_completion_tokens=total,
        mean_tokens_per_second=_mean_speed(completion, durations_s),
        pooled_tokens_per_second=ratio(total, recording.duration_s),
        ttft_p50_s=p50,
        ttft_p95_s=p95,
        itl_mean_ms=_inter_token_ms(completion, durations_s, ttft_s),
    )


def cost_figures(
    recording: Recording, best_j: float | None, answers: AnswerFigures, speed: SpeedFigures
) -> CostFigures:
    """Divide the energy of the run by what came out of it. Zero correct answers leave the headline undefined."""
    energy = item_energies(recording, best_j)
    score = recording.item("correct")
    interval = bootstrap_jpc_interval(energy, score, best_j, seed=BOOTSTRAP_SEED)
    low, high = interval or (None, None)
    remainder = None if best_j is None else number(best_j - energy.sum())
    return CostFigures(
        joules_per_correct_answer=ratio(best_j, answers.n_correct),
        jpc_ci_low=low,
        jpc_ci_high=high,
        jpc_ci_reason=None if interval else _why_no_interval(energy, score, best_j),
        joules_per_item=ratio(best_j, answers.n_items),
        joules_per_token=ratio(best_j, speed.total_completion_tokens),
        item_energy_j=tuple(to_list(energy)),
        remainder_j=remainder,
        first_item_ratio=_first_item_ratio(recording, energy),
    )


def item_energies(recording: Recording, best_j: float | None) -> Array:
    """Joules of each item on the reading that the run's energy comes from, NaN where not measured."""
    if best_j is None or recording.best.channel is None:
        return np.full(recording.n_items, np.nan)
    return share_energy_j(recording.best.channel, recording.item("t_start_s"), recording.item("t_end_s"))


def _truncated_pct(recording: Recording) -> float | None:
    reasons: Sequence[str | None] | None = (recording.run.get("items") or {}).get("finish_reason")
    return 100 * sum(reason == "length" for reason in reasons) / len(reasons) if reasons else None


def _streamed_ttft_s(recording: Recording, durations_s: Array) -> Array | None:
    """Times to the first token if every request really streamed: a first token after the end, or of several at the
    end, was not seen arriving."""
    ttft_s = recording.item("ttft_s")
    if not ttft_s.size or recording.run.get("streaming_used") is False:
        return None
    at_end = (ttft_s == durations_s) & (recording.item("completion_tokens") <= 1)
    return ttft_s if ((ttft_s >= 0) & ((ttft_s < durations_s) | at_end)).all() else None


def _total(tokens: Array) -> int | None:
    return int(tokens.sum()) if tokens.size and not np.isnan(tokens).any() else None


def _mean_speed(tokens: Array, durations_s: Array) -> float | None:
    """Mean over items of tokens / s, None if an item lacks a count or took no time."""
    if not tokens.size or np.isnan(tokens).any() or not (durations_s > 0).all():
        return None
    return float((tokens / durations_s).mean())


def _inter_token_ms(tokens: Array, durations_s: Array, ttft_s: Array | None) -> float | None:
    """Mean time from one token to the next over all tokens after the first, in ms."""
    if ttft_s is None or np.isnan(tokens).any():
        return None
    later = np.maximum(tokens - 1, 0)
    return ratio(1e3 * float((durations_s - ttft_s)[later > 0].sum()), float(later.sum()))


def _first_item_ratio(recording: Recording, energy: Array) -> float | None:
    """Energy per completion token of the item that started first, over the median of the others."""
    tokens = recording.item("completion_tokens")
    if energy.size <= MIN_ITEMS_BESIDE_FIRST or np.isnan(energy).any() or not (tokens > 0).all():
        return None
    first = int(recording.item("t_start_s").argmin())
    per_token = energy / tokens
    return ratio(float(per_token[first]), float(np.median(np.delete(per_token, first))))


def _why_no_interval(energy: Array, score: Array, best_j: float | None) -> str:
    if best_j is None:
        return "energy_unmeasured"
    paired = int((~(np.isnan(energy) | np.isnan(score))).sum())
    return "too_few_items" if paired < MIN_BOOTSTRAP_ITEMS else "too_few_correct_answers"
