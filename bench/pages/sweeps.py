"""Sweeps as small charts with their tables: what one setting does, all else the same."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from bench.presentation import with_unit

Sweep = Mapping[str, Any]
MOST_POINTS = 40
HEADLINE, PER_TOKEN = "joules_per_correct_answer", "joules_per_token"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of sweep in words. `missing` says what nobody has published; `ordered` joins its points by a line."""

    code: str
    title: str
    words: str
    axis: str
    missing: str
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """One setting; `drawn_j` is what the chart shows, with its interval where there is one."""

    label: str
    point: Mapping[str, Any]
    drawn_j: float | None
    low_j: float | None
    high_j: float | None

    @property
    def none_correct(self) -> bool:
        return self.point[HEADLINE] is None and self.point["accuracy"] == 0


@dataclass(frozen=True, slots=True)
class Chart:
    """One sweep; `anchor` names its table. `total` counts its points, of which a page holds so many."""

    anchor: str
    kind: Kind
    title: str
    where: str
    quantity: str
    points: list[Point]
    total: int
    said: str | None


@dataclass(frozen=True, slots=True)
class Shelf:
    """The sweeps of a kind that are shown, how many there are, and where all of them are."""

    kind: Kind
    charts: list[Chart]
    total: int
    href: str


KINDS = {
    kind.code: kind
    for kind in (
        Kind(
            "power_cap",
            "Power caps",
            "A lower limit on the card’s power. It gives up speed, little at first.",
            "Power limit (W)",
            "two runs that differ in their power limit alone",
            ordered=True,
        ),
        Kind(
            "clock_lock",
            "Clock locks",
            "The card’s clock held at one value.",
            "Clock (MHz)",
            "two runs that differ in their locked clock alone",
            ordered=True,
        ),
        Kind(
            "concurrency",
            "Concurrency",
            "Several questions in flight share each reading of the weights, and the waiting.",
            "Questions at a time",
            "two runs that differ in their number of questions at a time alone",
            ordered=True,
        ),
        Kind(
            "quantization",
            "Number formats",
            "The same model with fewer or more bits for each weight.",
            "Number format",
            "two runs of one model in two number formats",
        ),
        Kind(
            "thinking",
            "Thinking",
            "Tokens spent before the answer.",
            "Thinking",
            "two runs with thinking on and off, all else the same",
        ),
        Kind(
            "effort",
            "Reasoning effort",
            "How much a model is asked to think.",
            "Effort",
            "two runs that differ in reasoning effort alone",
        ),
        Kind(
            "engine",
            "Engines",
            "The same weights served by another program or version.",
            "Engine",
            "two runs that differ in the engine alone",
        ),
        Kind(
            "output_cap",
            "Output caps",
            "The most tokens an answer may have. A cut answer is scored by what it says, and has cost its energy.",
            "Most tokens",
            "two runs that differ in the token limit alone",
            ordered=True,
        ),
        Kind(
            "cuda_graphs",
            "CUDA graphs",
            "Whether the engine records its kernel launches once and replays them.",
            "CUDA graphs",
            "two runs with CUDA graphs on and off, all else the same",
        ),
        Kind(
            "item_count",
            "Item count",
            "The same run with more items: does the figure settle?",
            "Items",
            "two runs of one configuration with different numbers of items",
            ordered=True,
        ),
        Kind(
            "repeats",
            "Repeats",
            "The same run again on the same machine: how far does the figure wander?",
            "Run",
            "two runs of one configuration on one machine",
            ordered=True,
        ),
        Kind(
            "nodes",
            "The same cell across machines",
            "One configuration on several machines. Their energies are never averaged.",
            "Machine",
            "one configuration measured on two machines",
        ),
    )
}


def shelves(sweeps: Sequence[Sweep], *, only: str | None, most: int, link: Callable[[str], str]) -> list[Shelf]:
    """The sweeps by kind, those with most points first; kinds without any are there to say so."""
    kinds = [KINDS[only]] if only in KINDS else list(KINDS.values())
    return [_shelf(kind, [one for one in sweeps if one["kind"] == kind.code], most, link(kind.code)) for kind in kinds]


def _shelf(kind: Kind, sweeps: Sequence[Sweep], most: int, href: str) -> Shelf:
    ordered = sorted(sweeps, key=lambda sweep: -sum(point[HEADLINE] is not None for point in sweep["points"]))
    charts = [chart(sweep, kind, number) for number, sweep in enumerate(ordered[:most])]
    return Shelf(kind, charts, len(ordered), href)


def chart(sweep: Sweep, kind: Kind, number: int) -> Chart:
    """Joules per correct answer where at least two points have it, else joules per token."""
    priced = sum(point[HEADLINE] is not None for point in sweep["points"]) > 1
    name = HEADLINE if priced else PER_TOKEN
    return Chart(
        anchor=f"{kind.code}-{number}",
        kind=kind,
        title=f"{sweep['model']} on {sweep['gpu_class'] or 'an unknown device'}",
        where=_where(sweep),
        quantity="Joules per correct answer (J)" if priced else "Joules per token (J)",
        points=[_point(sweep, point, name) for point in sweep["points"][:MOST_POINTS]],
        total=len(sweep["points"]),
        said=_said(sweep),
    )


def _point(sweep: Sweep, point: Mapping[str, Any], name: str) -> Point:
    low, high = (point["jpc_ci_low"], point["jpc_ci_high"]) if name == HEADLINE else (None, None)
    return Point(label(sweep, point), point, point[name], low, high)


def label(sweep: Sweep, point: Mapping[str, Any]) -> str:
    """A setting in words: ``250 W``, ``stock``, ``16 at a time``."""
    setting, kind = point["setting"], sweep["kind"]
    if point["is_stock"]:
        return "stock"
    text = f"{setting:g}" if isinstance(setting, int | float) else str(setting)
    words = {"concurrency": f"{text} at a time", "item_count": f"{text} items", "repeats": f"run {text}"}
    words |= {name: f"{name.replace('_', ' ')} {text}" for name in ("thinking", "effort", "cuda_graphs")}
    return words.get(kind) or (with_unit(text, sweep["unit"]) if sweep["unit"] else text)


def title(sweep: Sweep) -> str:
    return f"{KINDS[sweep['kind']].title}: {sweep['task']}, {len(sweep['points'])} settings"


def href(sweep: Sweep) -> str:
    """The view of the data page that shows this sweep."""
    return "?" + urlencode({name: sweep[name] for name in ("kind", "gpu_class", "model", "task") if sweep[name]})


def _where(sweep: Sweep) -> str:
    engine = " ".join(part for part in (sweep["engine"], sweep["engine_version"]) if part)
    node = f"machine {sweep['node']}" if sweep["node"] else None
    return " · ".join(part for part in (sweep["task"], sweep["quantization"], engine, node) if part)


def _said(sweep: Sweep) -> str | None:
    """What a sweep of caps or clocks tells of the card, where it has points enough."""
    if sweep.get("flex_band_w") is None:
        return None
    band, saving = with_unit(f"{sweep['flex_band_w']:.0f}", "W"), with_unit(f"{sweep['knee_savings_pct']:.1f}", "%")
    return f"It can give up {band} and keep 95 % of its speed; the best setting saves {saving} a token against stock."
