"""What a moderator sees of one run: why it waits, both sets of figures, the trace, its peers, its history."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median_low
from typing import Any

from django.db.models import Count, Q

from bench.models import Decision, Run, Submission
from bench.pages.run import Reading, readings
from bench.presentation import Interval, LogScale, counted, significant, thinned, with_unit
from bench.selectors import rows_of
from bench.verification import Comparison, comparisons

MAX_PEERS = 20
TRACE_POINTS = 600
TRACE_WIDTH, TRACE_HEIGHT = 1000.0, 220.0
ITEMS_HEIGHT = 160.0
MAX_BARS = 500
FULL_SCALE_PCT = 5.0

Gate = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Compared:
    """A claimed figure beside the server's; `x` is its place on the scale of ±5 %, None outside of it."""

    figure: Comparison
    claimed: str
    recomputed: str
    x: str | None
    is_above: bool


@dataclass(frozen=True, slots=True)
class Peer:
    """A run of the same configuration and task, drawn on one scale with the others."""

    name: str
    value: float | None
    drawn: Interval | None
    run_id: str | None = None
    is_claim: bool = False


@dataclass(frozen=True, slots=True)
class Trace:
    """Power over time as SVG lines in a box of 1000 × 220; a gap in the samples stays a gap."""

    lines: list[str]
    window_x: float
    window_width: float
    duration_s: float
    peak_w: float
    lowest_w: float


@dataclass(frozen=True, slots=True)
class Bar:
    """One item of the chart: where it stands in a box of 1000 × 160, and what it says."""

    x: float
    y: float
    width: float
    height: float
    is_right: bool
    number: int
    energy: str
    tokens: str


@dataclass(frozen=True, slots=True)
class Items:
    """The energy of every item in the order in which they were asked; bars up to `most_j`."""

    bars: list[Bar]
    n: int
    most_j: float
    median_y: float


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the history, newest last; `by` is a person's address, for moderators only."""

    at: datetime
    words: str
    note: str
    by: str


@dataclass(frozen=True, slots=True)
class Case:
    """Everything on the desk."""

    title: str
    subtitle: str
    held: list[Gate]
    flagged: list[Gate]
    passed: list[Gate]
    not_applied: list[Gate]
    compared: list[Compared]
    readings: list[Reading]
    trace: Trace | None
    items: Items | None
    rows: list[dict[str, Any]]
    peers: list[Peer]
    scale: LogScale | None
    sender: str
    events: list[Event]


def case(run: Run) -> Case:
    """The case of a run that was fetched with its node, submission and columns."""
    peers, scale = _peers(run)
    return Case(
        title=_title(run),
        subtitle=_subtitle(run),
        held=_gates(run, passed=False, severity="quarantine"),
        flagged=_gates(run, passed=False, severity="flag"),
        passed=_gates(run, passed=True),
        not_applied=_gates(run, passed=None),
        compared=[_compared(figure) for figure in comparisons(run.claimed, run.figures)],
        readings=readings(run.figures),
        trace=_trace(run),
        items=item_chart(run.columns.items()) if hasattr(run, "columns") else None,
        rows=rows_of([run.config_key]),
        peers=peers,
        scale=scale,
        sender=_sender(run),
        events=_events(run),
    )


def _title(run: Run) -> str:
    limit = run.config.get("power_limit_w")
    device = f"{run.gpu_class or 'unknown device'}{f' at {limit:g} W' if limit else ''}"
    return ", ".join(part for part in (run.model, run.quantization, device) if part)


def _subtitle(run: Run) -> str:
    items = counted(run.n_items, "item") if run.n_items is not None else None
    parts = (run.task, run.engine, items, f"methodology {run.methodology}", run.suite)
    return " · ".join(part for part in parts if part)


def _gates(run: Run, *, passed: bool | None, severity: str | None = None) -> list[Gate]:
    return [g for g in run.gates if g["passed"] is passed and severity in (None, g["severity"])]


def _compared(figure: Comparison) -> Compared:
    pct = figure.difference_pct
    inside = pct is not None and abs(pct) <= FULL_SCALE_PCT
    x = f"{50 + 50 * pct / FULL_SCALE_PCT:.1f}%" if pct is not None and inside else None
    claimed, recomputed = (_written(value, figure.unit) for value in (figure.claimed, figure.recomputed))
    return Compared(figure, claimed, recomputed, x, pct is not None and pct > 0)


def _written(value: float | None, unit: str) -> str:
    if value is None:
        return "not measured"
    return with_unit(f"{value:,.6g}", unit) if unit else f"{value:,.6g}"


def _peers(run: Run) -> tuple[list[Peer], LogScale | None]:
    others = Run.objects.filter(config_key=run.config_key, task=run.task, status=Run.Status.PUBLISHED)
    found = list(others.exclude(pk=run.pk).select_related("node").only("figures", "node__public_id")[:MAX_PEERS])
    claimed = run.claimed.get("joules_per_correct_answer")
    shown = [value for one in (run, *found) for value in _span(one.figures)]
    scale = LogScale.over([*shown, claimed])
    peers = [Peer("this run, recomputed", _headline(run), _drawn(run, scale))]
    if claimed is not None:
        peers.append(
            Peer("this run, claimed", claimed, scale.interval(claimed, None) if scale else None, is_claim=True)
        )
    peers += [Peer(_machine(one), _headline(one), _drawn(one, scale), run_id=str(one.pk)) for one in found]
    return peers, scale


def _machine(run: Run) -> str:
    return f"machine {run.node.public_id}" if run.node else "unnamed machine"


def _headline(run: Run) -> float | None:
    value: float | None = run.figures.get("joules_per_correct_answer")
    return value


def _span(figures: Mapping[str, Any]) -> list[float | None]:
    return [figures.get(name) for name in ("joules_per_correct_answer", "jpc_ci_low", "jpc_ci_high")]


def _drawn(run: Run, scale: LogScale | None) -> Interval | None:
    value, low, high = _span(run.figures)
    if scale is None or value is None:
        return None
    return scale.interval(value, None if low is None or high is None else (low, high))


def _trace(run: Run) -> Trace | None:
    if not hasattr(run, "columns"):
        return None
    samples = run.columns.trace()
    times, watts = samples["t_s"], samples.get("gpu_power_w") or []
    measured = [power for power in watts if power is not None]
    if not measured or len(times) < 2:
        return None
    items = run.columns.items()
    duration_s, peak_w = times[-1] - times[0], max(measured)
    to_x = TRACE_WIDTH / duration_s
    start_s, end_s = min(items["t_start_s"]), max(items["t_end_s"])
    return Trace(
        lines=_lines(times, watts, to_x, TRACE_HEIGHT / peak_w if peak_w else 0.0),
        window_x=round((start_s - times[0]) * to_x, 1),
        window_width=round((end_s - start_s) * to_x, 1),
        duration_s=duration_s,
        peak_w=peak_w,
        lowest_w=min(measured),
    )


def _lines(times: Sequence[float], watts: Sequence[float | None], to_x: float, to_y: float) -> list[str]:
    """SVG point lists, one for each stretch without a missing sample."""
    points: list[list[str]] = [[]]
    for i in thinned(watts, TRACE_POINTS):
        power = watts[i]
        if power is None:
            points.append([])
        else:
            points[-1].append(f"{(times[i] - times[0]) * to_x:.1f},{TRACE_HEIGHT - power * to_y:.1f}")
    return [" ".join(line) for line in points if len(line) > 1]


def item_chart(items: Mapping[str, Any]) -> Items | None:
    """None where no item has an energy. Of very many items the first are drawn."""
    energies: list[float | None] = items.get("energy_j") or []
    measured = [energy for energy in energies if energy is not None]
    if not measured or not max(measured):
        return None
    most_j, n = max(measured), min(len(energies), MAX_BARS)
    width = TRACE_WIDTH / n
    bars = [_bar(items, i, width, most_j) for i in range(n) if energies[i] is not None]
    return Items(bars, len(energies), most_j, _down(median_low(measured), most_j))


def _bar(items: Mapping[str, Any], i: int, width: float, most_j: float) -> Bar:
    energy, tokens = items["energy_j"][i], items["completion_tokens"][i]
    y = _down(energy, most_j)
    return Bar(
        x=round(i * width, 2),
        y=y,
        width=round(0.8 * width, 2),
        height=round(ITEMS_HEIGHT - y, 2),
        is_right=items["correct"][i] >= 0.5,
        number=items["index"][i],
        energy=with_unit(significant(energy), "J"),
        tokens="unknown" if tokens is None else str(tokens),
    )


def _down(value: float, most: float) -> float:
    """SVG counts from the top."""
    return round(ITEMS_HEIGHT * (1 - value / most), 2)


def _sender(run: Run) -> str:
    """Which machine sent it and how its earlier submissions fared; no account."""
    if run.node is None:
        return "a machine without a name"
    sent = Submission.objects.filter(runs__node=run.node, received_at__lte=run.received_at)
    counts = sent.aggregate(
        n=Count("pk", distinct=True), published=Count("pk", distinct=True, filter=Q(status=Run.Status.PUBLISHED))
    )
    before = counted(counts["n"], "submission")
    return f"machine {run.node.public_id}, {before} so far, {counts['published']} published"


def _events(run: Run) -> list[Event]:
    decisions = run.decisions.select_related("by").order_by("at", "pk")
    received = Event(run.received_at, "received", "", "")
    return [received, *(_event(decision) for decision in decisions)]


def _event(decision: Decision) -> Event:
    words = f"{decision.get_action_display()} by {decision.decider}: {decision.get_reason_code_display()}"
    return Event(decision.at, words, decision.note, decision.by.email if decision.by else "")
