"""What the corpus shows on each question of the article: from rows, sweeps and fits to sentences, figures and links."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from asyncenergy_controller.metrics import Standing, overlap
from django.urls import reverse

from bench.energies import kind_of_energy
from bench.pages.board import config_line
from bench.pages.sweeps import href, label
from bench.presentation import between, counted, percent, significant, with_unit
from bench.verification.hardware import MEMORY_BANDWIDTH

Row = Mapping[str, Any]
MOST_POINTS = 8
_SETUP = (
    "model",
    "quantization",
    "engine",
    "engine_version",
    "gpu_class",
    "power_limit_w",
    "concurrency",
    "thinking_mode",
)


@dataclass(frozen=True, slots=True)
class Point:
    """One figure with the place it comes from."""

    label: str
    value: str
    note: str
    href: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the corpus shows; `missing` says what would have to be measured where it shows nothing, `more` leads to
    all that is like it."""

    sentences: list[str] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    missing: str | None = None
    more: str | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """All that the article looks at. `figures` are those of runs with a wall meter, by run id."""

    rows: Sequence[Row]
    sweeps: Sequence[Mapping[str, Any]]
    fits: Sequence[Mapping[str, Any]]
    figures: Mapping[str, Mapping[str, Any]]


def idle(corpus: Corpus) -> Evidence:
    """The share of the gross energy that the loaded, waiting device would have drawn anyway."""
    known = [row for row in corpus.rows if row["joules_per_correct_answer"] and row["net_jpc"] is not None]
    if not known:
        return Evidence(missing="No published run came with a baseline of the loaded, waiting model.")
    ordered = sorted(known, key=_waiting_share, reverse=True)
    shares = [_waiting_share(row) for row in ordered]
    span = _percent(shares[0]) if len(shares) == 1 else f"{percent(shares[-1])} to {_percent(shares[0])}"
    words = f"In {counted(len(known), 'row')} with such a baseline, waiting makes up {span} of the energy."
    return Evidence([words], [_waiting_point(row) for row in ordered[:MOST_POINTS]])


def _waiting_share(row: Row) -> float:
    return float(1 - row["net_jpc"] / row["joules_per_correct_answer"])


def _waiting_point(row: Row) -> Point:
    note = f"{_joules(row['joules_per_correct_answer'])} gross, {_joules(row['net_jpc'])} net per correct answer"
    return Point(_title(row), _percent(_waiting_share(row)), note, _run(row))


def swept(kind: str, what: str) -> Callable[[Corpus], Evidence]:
    """Evidence from the sweep of this kind with the most points; `what` is missing where there is none."""

    def evidence(corpus: Corpus) -> Evidence:
        found = [sweep for sweep in corpus.sweeps if sweep["kind"] == kind and len(_priced(sweep["points"])) > 1]
        if not found:
            return Evidence(missing=f"No two published runs on one machine differ in {what} alone.")
        sweep = max(found, key=lambda sweep: len(_priced(sweep["points"])))
        points = [{**point, "label": label(sweep, point)} for point in _priced(sweep["points"])]
        where = f"{sweep['model']} on {sweep['gpu_class']}, {sweep['task']}"
        shown = [_swept_point(point) for point in points[:MOST_POINTS]]
        return Evidence([_contrast(points, where)], shown, more=reverse("bench:data") + href(sweep))

    return evidence


def _priced(points: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [point for point in points if point["joules_per_correct_answer"] is not None]


def _contrast(points: Sequence[Mapping[str, Any]], where: str) -> str:
    """The cheapest point against the dearest, and whether their intervals leave any doubt."""
    ordered = sorted(points, key=lambda point: point["joules_per_correct_answer"])
    best, worst = ordered[0], ordered[-1]
    times = worst["joules_per_correct_answer"] / best["joules_per_correct_answer"]
    told = f"{where}: {best['label']} needs {_joules(best['joules_per_correct_answer'])} for a correct answer, "
    told += f"{worst['label']} {_joules(worst['joules_per_correct_answer'])}, {significant(times)} times as much."
    return told + _doubt(best, worst)


def _doubt(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    standings = [Standing(p["joules_per_correct_answer"], p["jpc_ci_low"], p["jpc_ci_high"]) for p in (one, other)]
    if any(standing.low is None for standing in standings):
        return " One of the two has no interval, so how sure that is can’t be said."
    return " Their intervals overlap, so they can’t be told apart." if overlap(*standings) else ""


def _swept_point(point: Mapping[str, Any]) -> Point:
    return Point(point["label"], _joules(point["joules_per_correct_answer"]), _per_answer(point), _run(point))


def hardware(corpus: Corpus) -> Evidence:
    """One model, engine and task on several devices; and what their makers say of the memory."""
    group = _largest(corpus.rows, [*(name for name in _SETUP if name != "gpu_class"), "task"], "gpu_class")
    devices = sorted({row["gpu_class"] for row in corpus.rows if row["gpu_class"] in MEMORY_BANDWIDTH})
    sources = [
        Point(
            device,
            with_unit(f"{MEMORY_BANDWIDTH[device].gb_per_s:,g}", "GB/s"),
            f"memory bandwidth, by the {MEMORY_BANDWIDTH[device].source}",
            f"{reverse('bench:leaderboard')}?{urlencode({'gpu_class': device})}",
        )
        for device in devices
    ]
    if not group:
        return Evidence([], sources, "No configuration is published on two kinds of device yet.")
    return Evidence([_over(group, "gpu_class")], [*_row_points(group, "gpu_class"), *sources])


def models(corpus: Corpus) -> Evidence:
    """Several models for one task on one device."""
    group = _largest(corpus.rows, ("gpu_class", "task"), "model")
    if not group:
        return Evidence(missing="No two models are published on one device and task yet.")
    return Evidence([_over(group, "model")], _row_points(group, "model"))


def tasks(corpus: Corpus) -> Evidence:
    """One setup on several tasks, by item: correct answers of two tasks are not the same thing."""
    group = _largest(corpus.rows, _SETUP, "task", figure="joules_per_item")
    if not group:
        return Evidence(missing="No setup is published on two tasks yet.")
    ordered = sorted(group, key=lambda row: row["joules_per_item"])
    least, most = ordered[0], ordered[-1]
    times = significant(most["joules_per_item"] / least["joules_per_item"])
    told = f"{_title(least)}: an item of {most['task']} takes {times} times the energy of one of {least['task']}."
    points = [
        Point(row["task"], _joules(row["joules_per_item"]), f"per item, {_percent(row['accuracy'])} right", _run(row))
        for row in ordered[:MOST_POINTS]
    ]
    return Evidence([told], points)


def length(corpus: Corpus) -> Evidence:
    """What a token of the question and one of the answer cost, where a fit tells them apart."""
    known = [fit for fit in corpus.fits if fit["cost_model"] and not fit["cost_model"]["claimed"]]
    if not known:
        return Evidence(missing="No published configuration has enough items of different length for a fit.")
    words = f"{counted(len(known), 'configuration')} {'has' if len(known) == 1 else 'have'} a fit."
    return Evidence([words], [_fit_point(fit) for fit in known[:MOST_POINTS]])


def _fit_point(fit: Mapping[str, Any]) -> Point:
    model = fit["cost_model"]
    asked, fixed = _joules(model["alpha_j_per_prompt_token"]), _joules(model["e_fixed_j"])
    value = f"{_joules(model['beta_j_per_completion_token'])} per token of the answer"
    parts = f"{asked} per token of the question, {fixed} for any answer"
    return Point(_title(fit), value, parts, reverse("bench:configuration", args=[fit["config_key"]]))


def wall(corpus: Corpus) -> Evidence:
    """Energy at the wall over that of the device."""
    rows = [row for row in corpus.rows if corpus.figures.get(row["run_id"], {}).get("node_overhead_ratio")]
    if not rows:
        return Evidence(missing="No run with a meter at the wall is published yet.")
    points = [
        Point(
            _title(row), f"{corpus.figures[row['run_id']]['node_overhead_ratio']:.2f} ×", "wall over device", _run(row)
        )
        for row in rows[:MOST_POINTS]
    ]
    return Evidence([f"{counted(len(rows), 'row')} with a wall meter:"], points)


def machines(corpus: Corpus) -> Evidence:
    """Rows that several machines measured."""
    rows = [row for row in corpus.rows if row["spread_min"] is not None]
    if not rows:
        return Evidence(missing="No configuration was measured on two machines yet.")
    ordered = sorted(rows, key=lambda row: row["spread_max"] / row["spread_min"], reverse=True)
    points = [
        Point(
            _title(row),
            with_unit(between(significant(row["spread_min"]), significant(row["spread_max"])), "J"),
            f"per correct answer on {counted(row['n_nodes'], 'machine')}",
            _run(row),
        )
        for row in ordered[:MOST_POINTS]
    ]
    times = ordered[0]["spread_max"] / ordered[0]["spread_min"]
    return Evidence([f"At the widest, machines of one kind differ {significant(times)} times."], points)


ANSWERS: dict[str, Callable[[Corpus], Evidence]] = {
    "idle": idle,
    "concurrency": swept("concurrency", "the number of questions in flight"),
    "hardware": hardware,
    "model": models,
    "quantization": swept("quantization", "the number format"),
    "engine": swept("engine", "the engine"),
    "task": tasks,
    "thinking": swept("thinking", "thinking"),
    "power-limit": swept("power_cap", "the power limit"),
    "length": length,
    "wall": wall,
    "machines": machines,
}


def _largest(
    rows: Iterable[Row], same: Sequence[str], differs: str, figure: str = "joules_per_correct_answer"
) -> list[Row]:
    """Of all rows of one kind of energy that agree in `same`, those with the most different values of `differs`; empty
    below two. What is claimed is never held against what is verified."""
    groups: dict[Hashable, dict[Any, Row]] = defaultdict(dict)
    for row in rows:
        if row[figure] is not None and row[differs] is not None:
            alike = row["verified"], kind_of_energy(row), *(row[name] for name in same)
            groups[alike].setdefault(row[differs], row)
    best = max(groups.values(), key=len, default={})
    return list(best.values()) if len(best) > 1 else []


def _over(group: Sequence[Row], differs: str) -> str:
    ordered = sorted(group, key=lambda row: row["joules_per_correct_answer"])
    best, worst = ordered[0], ordered[-1]
    where = f"On {best['task']}" if differs == "gpu_class" else f"On {best['task']} with {best['gpu_class']}"
    times = significant(worst["joules_per_correct_answer"] / best["joules_per_correct_answer"])
    told = f"{where}, {worst[differs]} needs {times} times the energy of {best[differs]} for a correct answer."
    return told + _doubt(best, worst)


def _row_points(group: Sequence[Row], differs: str) -> list[Point]:
    ordered = sorted(group, key=lambda row: row["joules_per_correct_answer"])
    return [
        Point(
            row[differs],
            _joules(row["joules_per_correct_answer"]),
            _per_answer(row),
            _run(row),
        )
        for row in ordered[:MOST_POINTS]
    ]


def _per_answer(row: Row) -> str:
    return f"per correct answer{_interval(row)}, {_percent(row['accuracy'])} right"


def _title(row: Row) -> str:
    return f"{row['model']}, {config_line(row)}"


def _run(row: Row) -> str:
    return reverse("bench:run", args=[row["run_id"]])


def _joules(value: float) -> str:
    return with_unit(significant(value), "J")


def _percent(share: float) -> str:
    return with_unit(percent(share), "%")


def _interval(row: Row) -> str:
    low, high = row["jpc_ci_low"], row["jpc_ci_high"]
    return "" if low is None else f" ({between(significant(low), significant(high))})"
