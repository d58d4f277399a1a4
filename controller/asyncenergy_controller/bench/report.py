"""The tables at the end of a benchmark. A figure that is missing stands there in words, with its reason."""

from collections.abc import Iterable, Iterator

from rich.table import Table

from asyncenergy_controller.bench.results import PartResult, RunResult
from asyncenergy_controller.bench.words import in_words, why_no_headline, why_no_tokens
from asyncenergy_controller.metrics import RunFigures

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
    figures = part.figures
    yield "J per correct answer", _headline(part)
    yield "Accuracy", _accuracy(part)
    yield from _readings(part)
    yield from _energy_ratios(figures)
    yield from _speed(figures)
    yield from _idle(figures)
    yield "Tier", _tier(figures)
    if part.is_simulated:
        yield "Simulated", "the energy is invented; accuracy and speed are real. Never published as measured."
    for text in part.part.notes:
        yield "Note", text


def _headline(part: PartResult) -> str:
    figures = part.figures
    value = figures.joules_per_correct_answer
    if value is None:
        return why_no_headline(figures)
    low, high = figures.jpc_ci_low, figures.jpc_ci_high
    interval = f"{number(low)} .. {number(high)}" if low is not None and high is not None else None
    return f"{number(value)} J ({interval or 'no interval: ' + in_words(figures.jpc_ci_reason)}){_simulated(part)}"


def _accuracy(part: PartResult) -> str:
    figures = part.figures
    if figures.accuracy is None:
        return "no question was answered"
    low, high = figures.accuracy_ci_low, figures.accuracy_ci_high
    interval = f" ({100 * low:.1f} .. {100 * high:.1f} %)" if low is not None and high is not None else ""
    asked = f"{figures.n_correct} of {figures.n_items}"
    failed = f", {part.n_failed} requests failed and count as wrong" if part.n_failed else ""
    unasked = part.unit.n_items - figures.n_items
    return (
        f"{100 * figures.accuracy:.1f} %{interval}, {asked}{failed}{f', {unasked} not in this part' if unasked else ''}"
    )


def _readings(part: PartResult) -> Iterator[Row]:
    """The three independent readings."""
    figures = part.figures
    drift = figures.counter_vs_integration_pct_diff
    yield "Energy, counter", _joules(part, figures.total_joules_gpu_counter, figures.counter_reason, "gpu_energy_mj")
    integrated = _joules(part, figures.total_joules_gpu, figures.integration_reason, "gpu_power_w")
    yield "Energy, integrated", integrated + (f", {drift:+.2f} % of the counter" if drift is not None else "")
    yield "Energy, wall", _joules(part, figures.wall_joules, figures.wall_reason, "wall_power_w")


def _joules(part: PartResult, value: float | None, reason: str | None, channel: str) -> str:
    if value is not None:
        return f"{number(value)} J{_simulated(part)}"
    return f"not measured: {part.meter_reasons.get(channel) or in_words(reason)}"


def _simulated(part: PartResult) -> str:
    return " simulated" if part.is_simulated else ""


def _energy_ratios(figures: RunFigures) -> Iterator[Row]:
    per_token = figures.joules_per_token
    yield "J per token", f"{number(per_token)} J" if per_token is not None else why_no_tokens(figures)
    if figures.joules_per_item is not None:
        yield "J per question", f"{number(figures.joules_per_item)} J"
    if figures.mean_gpu_w is not None:
        yield "Mean power", f"{figures.mean_gpu_w:.1f} W over {figures.run_duration_s:.1f} s"


def _speed(figures: RunFigures) -> Iterator[Row]:
    pooled, mean = figures.pooled_tokens_per_second, figures.mean_tokens_per_second
    if pooled is None:
        yield "Speed", "unknown: the engine reported no token counts"
    else:
        yield "Speed", f"{pooled:.1f} tokens/s" + (f" (mean of the questions {mean:.1f})" if mean is not None else "")
    p50, p95 = figures.ttft_p50_s, figures.ttft_p95_s
    known = p50 is not None and p95 is not None
    yield "First token", f"{p50:.3f} s, 95 % within {p95:.3f} s" if known else "unknown: not every answer was streamed"
    if figures.truncated_pct:
        yield "Cut off", f"{figures.truncated_pct:.0f} % of the answers reached the token limit and count as wrong"


def _idle(figures: RunFigures) -> Iterator[Row]:
    if figures.idle_loaded_w is None:
        return
    yield "Waiting, model loaded", f"{figures.idle_loaded_w:.1f} W"
    if figures.idle_empty_w is not None:
        yield "Waiting, empty", f"{figures.idle_empty_w:.1f} W"
    if figures.net_joules is not None:
        net = f", {number(figures.net_jpc)} J per correct answer" if figures.net_jpc is not None else ""
        yield "Net of waiting", f"{number(figures.net_joules)} J{net}"


def _tier(figures: RunFigures) -> str:
    why = "; ".join(in_words(reason) for reason in figures.tier_reasons)
    return f"{figures.tier or 'none'}{f': {why}' if why else ''}"


def _overview(parts: Iterable[PartResult]) -> Table:
    table = Table("task", "correct", "accuracy", "J/correct", "J", "tokens/s", "tier", title="All of them")
    for part in parts:
        figures = part.figures
        table.add_row(
            part.unit.label,
            f"{figures.n_correct}/{figures.n_items}",
            f"{100 * figures.accuracy:.1f} %" if figures.accuracy is not None else "-",
            number(figures.joules_per_correct_answer),
            number(figures.total_joules_gpu_best) + _simulated(part),
            number(figures.pooled_tokens_per_second),
            figures.tier or "-",
        )
    return table


def number(value: float | None) -> str:
    """Four significant digits, never rounded to 0; a dash for what was not measured."""
    if value is None:
        return "-"
    return f"{value:.1f}" if abs(value) >= 1000 else f"{value:.4g}"
