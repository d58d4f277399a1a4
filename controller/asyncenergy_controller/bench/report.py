"""The tables at the end of a benchmark. A figure that is missing stands there in words, with its reason."""

from collections.abc import Iterable, Iterator

from rich.table import Table

from asyncenergy_controller.bench.numbers import number
from asyncenergy_controller.bench.results import PartResult, RunResult
from asyncenergy_controller.metrics import REASONS, RunFigures

Row = tuple[str, str]


def result_tables(result: RunResult) -> Iterator[Table]:
    """One table a part, and an overview where there are several."""
    for part in result.parts:
        yield _part_table(part)
    if len(result.parts) > 1:
        yield _overview(result.parts)


def _part_table(part: PartResult) -> Table:
    run = part.run
    title = f"{part.unit.label} · {run['model']} · {run['engine']} · {run.get('gpu_name') or 'no device'}"
    table = Table(title=_marked(part, title), show_header=False, title_justify="left")
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for row in part_rows(part):
        table.add_row(*row)
    return table


def _marked(part: PartResult, title: str) -> str:
    return f"{title} · SIMULATED ENERGY" if part.is_simulated else title


def part_rows(part: PartResult) -> Iterator[Row]:
    """Name and value of everything worth reading, the headline first."""
    yield "J per correct answer", _headline(part)
    yield "Accuracy", _accuracy(part)
    yield from _readings(part)
    yield from _energy_ratios(part)
    yield from _speed(part)
    yield from _idle(part)
    yield "Tier", _tier(part.figures)
    if part.is_simulated:
        yield "Simulated", "the energy is invented; accuracy and speed are real. Never published as measured."
    for text in part.part.notes:
        yield "Note", text


def _headline(part: PartResult) -> str:
    figures = part.figures
    if figures.joules_per_correct_answer is None:
        return _why_no_energy(part) or "undefined: no answer was correct"
    low, high = figures.jpc_ci_low, figures.jpc_ci_high
    known = low is not None and high is not None
    interval = f"{number(low)} .. {number(high)}" if known else f"no interval: {in_words(figures.jpc_ci_reason)}"
    return f"{_energy(part, figures.joules_per_correct_answer)} ({interval})"


def _why_no_energy(part: PartResult) -> str | None:
    """None where energy was measured."""
    if part.figures.total_joules_gpu_best is not None:
        return None
    return f"not measured: {part.meter_reasons.get('energy') or in_words(part.figures.energy_reason)}"


def _accuracy(part: PartResult) -> str:
    figures = part.figures
    if figures.accuracy is None:
        return "no question was answered"
    low, high = figures.accuracy_ci_low, figures.accuracy_ci_high
    interval = f" ({100 * low:.1f} .. {100 * high:.1f} %)" if low is not None and high is not None else ""
    failed = f", failed requests counted as wrong: {part.n_failed}" if part.n_failed else ""
    unasked = part.unit.n_items - figures.n_items
    elsewhere = f", {unasked} of the task not in this part" if unasked else ""
    return f"{100 * figures.accuracy:.1f} %{interval}, {figures.n_correct} of {figures.n_items}{failed}{elsewhere}"


def _readings(part: PartResult) -> Iterator[Row]:
    """The three independent readings."""
    figures = part.figures
    drift = figures.counter_vs_integration_pct_diff
    yield "Energy, counter", _reading(part, figures.total_joules_gpu_counter, figures.counter_reason, "gpu_energy_mj")
    integrated = _reading(part, figures.total_joules_gpu, figures.integration_reason, "gpu_power_w")
    yield "Energy, integrated", integrated + (f", {drift:+.2f} % of the counter" if drift is not None else "")
    yield "Energy, wall", _reading(part, figures.wall_joules, figures.wall_reason, "wall_power_w")


def _reading(part: PartResult, value: float | None, reason: str | None, channel: str) -> str:
    if value is not None:
        return _energy(part, value)
    reasons = part.meter_reasons
    return f"not measured: {reasons.get(channel) or reasons.get('energy') or in_words(reason)}"


def _energy(part: PartResult, value: float, unit: str = "J") -> str:
    """Whatever comes from an invented power says so beside each number."""
    return f"{number(value)} {unit}{' simulated' if part.is_simulated else ''}"


def _energy_ratios(part: PartResult) -> Iterator[Row]:
    figures = part.figures
    if figures.joules_per_token is not None:
        yield "J per token", _energy(part, figures.joules_per_token)
    elif figures.total_completion_tokens is None:
        yield "J per token", _not_counted(part)
    if figures.joules_per_item is not None:
        yield "J per question", _energy(part, figures.joules_per_item)
    if figures.mean_gpu_w is not None:
        yield "Mean power", f"{_energy(part, figures.mean_gpu_w, 'W')} over {figures.run_duration_s:.1f} s"


def _not_counted(part: PartResult) -> str:
    unknown = sum(row.completion_tokens is None for row in part.part.items)
    failed = f", failed requests among them: {part.n_failed}" if part.n_failed else ""
    return f"unknown: the engine reported no token counts for {unknown} of {len(part.part.items)} questions{failed}"


def _speed(part: PartResult) -> Iterator[Row]:
    figures = part.figures
    pooled, mean = figures.pooled_tokens_per_second, figures.mean_tokens_per_second
    if pooled is None:
        yield "Speed", _not_counted(part)
    else:
        yield "Speed", f"{pooled:.1f} tokens/s" + (f" (mean of the questions {mean:.1f})" if mean is not None else "")
    p50, p95 = figures.ttft_p50_s, figures.ttft_p95_s
    known = p50 is not None and p95 is not None
    yield "First token", f"{p50:.3f} s, 95 % within {p95:.3f} s" if known else "unknown: not every answer was streamed"
    if figures.truncated_pct:
        yield "Cut off", f"{figures.truncated_pct:.0f} % of the answers reached the token limit"


def _idle(part: PartResult) -> Iterator[Row]:
    figures = part.figures
    if figures.idle_loaded_w is None:
        return
    yield "Waiting, model loaded", _energy(part, figures.idle_loaded_w, "W")
    if figures.idle_empty_w is not None:
        yield "Waiting, empty", _energy(part, figures.idle_empty_w, "W")
    if figures.net_joules is not None:
        per_correct = f", {_energy(part, figures.net_jpc)} per correct answer" if figures.net_jpc is not None else ""
        yield "Net of waiting", _energy(part, figures.net_joules) + per_correct


def _tier(figures: RunFigures) -> str:
    return " ".join([f"{figures.tier or 'none'}:", *figures.tier_reasons]).removesuffix(":")


def _overview(parts: Iterable[PartResult]) -> Table:
    table = Table(
        "task", "correct", "accuracy", "per correct answer", "in all", "tokens/s", "tier", title="All of them"
    )
    for part in parts:
        figures = part.figures
        table.add_row(
            part.unit.label,
            f"{figures.n_correct}/{figures.n_items}",
            f"{100 * figures.accuracy:.1f} %" if figures.accuracy is not None else "-",
            *(_or_dash(part, value) for value in (figures.joules_per_correct_answer, figures.total_joules_gpu_best)),
            number(figures.pooled_tokens_per_second),
            figures.tier or "-",
        )
    return table


def _or_dash(part: PartResult, joules: float | None) -> str:
    return "-" if joules is None else _energy(part, joules)


def in_words(reason: str | None) -> str:
    """The sentence for a reason code; what is no code stays as it is."""
    return REASONS.get(reason or "", reason or "No reason was recorded.")
