"""One run: its readings and where the energy went, ready for the template."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from bench.models import Decision
from bench.pages import configuration, growth, tables
from bench.pages.board import marks
from bench.pages.honesty import honesty
from bench.pages.words import DEVICES, OTHER_PHASES, PHASES, REASONS, STATUSES, in_words, pace
from bench.presentation import Part, fixed, stacked, with_unit
from bench.selectors import RunDetail

Figures = Mapping[str, Any]
VERDICTS = ("held", "flag", "ok", "none")  # what needs attention first


@dataclass(frozen=True, slots=True)
class Reading:
    """One of the three readings of the same energy; without joules it says why."""

    title: str
    joules: float | None
    sentence: str
    drift_pct: float | None = None


@dataclass(frozen=True, slots=True)
class Portion:
    """A part of the gross energy. `level_w` is the power that the trace chart marks for it."""

    words: str
    css: str
    energy_j: float
    level_w: float | None
    level_words: str
    share: float
    per_correct_j: float | None
    part: Part | None


@dataclass(frozen=True, slots=True)
class Phase:
    """A line of the energy ledger; a phase that the recording lacks has no figures and says so."""

    words: str
    duration_s: float | None
    energy_j: float | None
    mean_w: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class FitLine:
    """Joules of an answer without tokens, and of each token, for a question of so many tokens."""

    start_j: float
    token_j: float
    prompt_tokens: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """A gate in words: a word first, then the sentence with both numbers."""

    css: str
    verdict: str
    sentence: str


def context(run: RunDetail) -> dict[str, Any]:
    """All that the run page shows."""
    figures, samples, moments = run.figures, tables.samples(run.trace), growth.moments(run)
    total_samples, total_items = len(run.trace.get("t_s") or []), len(run.items.get("index") or [])
    return {
        "run": run,
        "figures": figures,
        "none_correct": figures.get("joules_per_correct_answer") is None and figures.get("n_correct") == 0,
        "interval_reason": in_words(REASONS, figures.get("jpc_ci_reason")) or "interval withheld",
        "pace": pace(run.config.get("concurrency")),
        "subtitle": _subtitle(run),
        "status_sentence": STATUSES.get(run.status),
        "marks": marks([asdict(flag) for flag in run.flags], "run"),
        "readings": readings(figures),
        "moments": moments,
        "moments_label": growth.label(moments),
        "portions": portions(figures, DEVICES.get(run.config.get("energy_boundary") or "", "device")),
        "waiting_share": waiting_share(figures),
        "phases": phases(run.ledger),
        "verdicts": sorted(map(_verdict, run.gates), key=lambda verdict: VERDICTS.index(verdict.css)),
        "honesty": honesty(run),
        "settings": configuration.settings(run.config),
        "unset": configuration.unset(run.config),
        "costs": configuration.costs(figures.get("cost_model"), figures.get("cost_model_reason")),
        "fit": fit_line(run),
        "decisions": [{**decision, "words": Decision.Action(decision["action"]).label} for decision in run.decisions],
        "samples": samples if any(map(tables.is_measured, samples)) else [],
        "total_samples": total_samples,
        "is_thinned": len(samples) < total_samples,
        "has_power": any(sample.power_w is not None for sample in samples),
        "has_wall": any(sample.wall_w is not None for sample in samples),
        "trace_label": _trace_label(samples),
        "items": tables.items(run.items),
        "dearest_j": tables.dearest_j(run.items),
        "total_items": total_items,
    }


def _subtitle(run: RunDetail) -> str:
    """What ran on what, and where and when."""
    config, engine = run.config, " ".join(filter(None, (run.config.get("engine"), run.config.get("engine_version"))))
    limit = config.get("max_tokens")
    parts = [
        config.get("quantization"),
        engine,
        run.task,
        f"{limit} tokens at most" if limit else None,
        run.gpu_name,
        f"driver {run.driver_version}" if run.driver_version else None,
        f"machine {run.node}" if run.node else None,
        f"{run.date:%-d %b %Y}" if run.date else None,
    ]
    return " · ".join(part for part in parts if part)


def readings(figures: Figures) -> list[Reading]:
    """Counter, integrated power and wall meter, in this order."""
    source, drift = figures.get("energy_source"), figures.get("counter_vs_integration_pct_diff")
    counter = "The device’s own energy counter, between the edges of the run." + _used(source != "integrated")
    integral = "Power samples, trapezoid." + _used(source == "integrated")
    return [
        _reading("Energy counter", figures.get("total_joules_gpu_counter"), figures.get("counter_reason"), counter),
        _reading(
            "Integrated power", figures.get("total_joules_gpu"), figures.get("integration_reason"), integral, drift
        ),
        _reading("Wall meter", figures.get("wall_joules"), figures.get("wall_reason"), _wall_sentence(figures)),
    ]


def _used(is_headline: bool) -> str:
    return " Used for the headline." if is_headline else ""


def _reading(
    title: str, joules: float | None, reason: str | None, sentence: str, drift_pct: float | None = None
) -> Reading:
    if joules is None:
        return Reading(title, None, in_words(REASONS, reason) or "This run has no such reading.")
    return Reading(title, joules, sentence, drift_pct)


def _wall_sentence(figures: Figures) -> str:
    coverage, overhead = figures.get("wall_coverage_pct"), figures.get("node_overhead_ratio")
    parts = [
        f"It covered {fixed(coverage)} % of the run." if coverage is not None else "",
        f"{fixed(overhead, 2)} × the device." if overhead is not None else "",
    ]
    return " ".join(part for part in parts if part)


def portions(figures: Figures, device: str) -> list[Portion]:
    """The gross energy split into empty device, loaded model and answering; empty without a loaded baseline."""
    gross, net, seconds = (figures.get(k) for k in ("total_joules_gpu_best", "net_joules", "run_duration_s"))
    if not gross or net is None or not seconds:
        return []
    empty_w, loaded_w = figures.get("idle_empty_w"), figures.get("idle_loaded_w")
    raw = [*_waiting(gross - net, empty_w, loaded_w, seconds, device), ("Answering (net)", "seg-3", net, None, "")]
    parts = stacked([energy_j for _, _, energy_j, _, _ in raw])
    n_correct = figures.get("n_correct")
    return [
        Portion(*line, line[2] / gross, line[2] / n_correct if n_correct else None, parts[i] if parts else None)
        for i, line in enumerate(raw)
    ]


RawPortion = tuple[str, str, float, float | None, str]


def _waiting(
    waiting_j: float, empty_w: float | None, loaded_w: float | None, seconds: float, device: str
) -> list[RawPortion]:
    """What would have been drawn anyway, split where the empty device was measured."""
    if loaded_w is None:
        return []
    loaded = ("seg-2", loaded_w, f"loaded and waiting {with_unit(fixed(loaded_w), 'W')}")
    if empty_w is None:
        return [("Model loaded and waiting", loaded[0], waiting_j, *loaded[1:])]
    empty = with_unit(fixed(empty_w), "W")
    added = with_unit(fixed(loaded_w - empty_w), "W")
    return [
        (f"Empty {device}, {empty}", "seg-1", empty_w * seconds, empty_w, f"empty {empty}"),
        (f"Model loaded, {added} more", loaded[0], waiting_j - empty_w * seconds, *loaded[1:]),
    ]


def waiting_share(figures: Figures) -> float | None:
    """The share of the gross energy that the loaded, waiting device would have drawn anyway."""
    gross, net = figures.get("total_joules_gpu_best"), figures.get("net_joules")
    return (gross - net) / gross if gross and net is not None else None


def phases(ledger: Sequence[Mapping[str, Any]]) -> list[Phase]:
    """The phases as recorded, then those that the recording lacks."""
    found = {entry["phase"] for entry in ledger}
    missing = [Phase(words, None, None, None, "not recorded") for name, words in PHASES.items() if name not in found]
    return [*map(_phase, ledger), *missing]


def _phase(entry: Mapping[str, Any]) -> Phase:
    words = in_words({**PHASES, **OTHER_PHASES}, entry["phase"]) or ""
    reason = in_words(REASONS, entry.get("reason")) if entry["energy_j"] is None else None
    return Phase(words, entry["duration_s"], entry["energy_j"], entry["mean_w"], reason)


def _verdict(gate: Mapping[str, Any]) -> Verdict:
    if gate["passed"] is None:
        return Verdict("none", "not run", gate["sentence"])
    if gate["passed"]:
        return Verdict("ok", "passed", gate["sentence"])
    css, word = ("flag", "flagged") if gate["severity"] == "flag" else ("held", "held")
    return Verdict(css, word, gate["sentence"])


def fit_line(run: RunDetail) -> FitLine | None:
    """The fit as a line over the tokens of the answer, for a question of median length; None without a fit."""
    model, asked = run.figures.get("cost_model"), run.items.get("prompt_tokens") or []
    known = [tokens for tokens in asked if tokens is not None]
    if not model or not known:
        return None
    prompt_tokens = median(known)
    start_j = model["e_fixed_j"] + model["alpha_j_per_prompt_token"] * prompt_tokens
    return FitLine(start_j, model["beta_j_per_completion_token"], prompt_tokens)


def _trace_label(samples: Sequence[tables.Sample]) -> str:
    """What the chart shows, for those who do not see it."""
    powers = [sample.power_w for sample in samples if sample.power_w is not None]
    if not powers:
        return ""
    span = f"from {fixed(min(powers))} to {fixed(max(powers))} W over {fixed(samples[-1].t_s)} s"
    return f"Power of the device over time, {span}. The table holds the samples."
