"""Energy of each phase of a recording, and what is left of the headline without the waiting card."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .readings import over_window, ratio
from .recording import Reading, Recording

MAX_EDGE_S = 2.0
"""A plug first answers after a second or two; a counter that was read just before a recording, after 0.2 s."""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One phase: joules, the seconds that they were measured in and mean W, or the reason why its energy is unknown."""

    phase: str
    t_start_s: float
    t_end_s: float
    energy_j: float | None
    duration_s: float
    mean_w: float | None
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class LedgerFigures:
    """Phases, idle power in W, and net energy in J: published beside the gross, never alone, never clamped at 0."""

    ledger: tuple[LedgerEntry, ...]
    recording_joules: float | None
    ledger_difference_pct: float | None
    idle_empty_w: float | None
    idle_loaded_w: float | None
    net_joules: float | None
    net_jpc: float | None
    wall_net_joules: float | None


def ledger_figures(
    recording: Recording, best_j: float | None, n_correct: int, baselines: Sequence[Mapping[str, Any]]
) -> LedgerFigures:
    """Idle power comes from the run's own phases, else from the session's separately recorded baselines."""
    phases = _phases(recording)
    entries = tuple(_entry(recording.best, phase) for phase in phases)
    recorded_j = _recorded_j(recording)
    empty_w, loaded_w = (_phase_or_baseline_w(recording, entries, baselines, kind) for kind in ("empty", "loaded"))
    net_j = _net_j(best_j, loaded_w, recording)
    wall_idle_w = _idle_w([_entry(recording.wall, phase) for phase in phases], "empty_idle")
    return LedgerFigures(
        ledger=entries,
        recording_joules=recorded_j,
        ledger_difference_pct=_difference_pct(entries, recorded_j),
        idle_empty_w=empty_w,
        idle_loaded_w=loaded_w,
        net_joules=net_j,
        net_jpc=ratio(net_j, n_correct),
        wall_net_joules=_net_j(over_window(recording, recording.wall)[0], wall_idle_w, recording),
    )


def _phases(recording: Recording) -> list[tuple[str, float, float]]:
    """The phases the run names; without any, what lies before, in and after the items' window."""
    named = recording.run.get("ledger") or []
    if named:
        return [_span(phase) for phase in named]
    if recording.window is None or not recording.t_s.size:
        return []
    (start_s, end_s), first_s, last_s = recording.window, float(recording.t_s[0]), float(recording.t_s[-1])
    spans = [("lead_in", first_s, start_s), ("items", start_s, end_s), ("tail", end_s, last_s)]
    return [span for span in spans if span[2] > span[1]]


def _span(phase: Mapping[str, Any]) -> tuple[str, float, float]:
    name, start_s, end_s = str(phase["phase"]), float(phase["t_start_s"]), float(phase["t_end_s"])
    if end_s < start_s:
        raise ValueError(f"phase {name} ends at {end_s} s, before it starts at {start_s} s")
    return name, start_s, end_s


def _entry(reading: Reading, span: tuple[str, float, float]) -> LedgerEntry:
    phase, start_s, end_s = span
    first_s, last_s = _sampled(reading, start_s, end_s)
    energy_j, reason = reading.between(first_s, last_s)
    seconds = end_s - start_s if energy_j is None else last_s - first_s
    return LedgerEntry(phase, start_s, end_s, energy_j, seconds, ratio(energy_j, seconds), reason)


def _sampled(reading: Reading, start_s: float, end_s: float) -> tuple[float, float]:
    """The phase from its first to its last reading: at an end of the recording it may lack up to 2 s of them."""
    if reading.channel is None:
        return start_s, end_s
    first_s, last_s = max(start_s, float(reading.channel.t_s[0])), min(end_s, float(reading.channel.t_s[-1]))
    missed_s = max(first_s - start_s, end_s - last_s)
    return (first_s, last_s) if missed_s <= MAX_EDGE_S and first_s < last_s else (start_s, end_s)


def _recorded_j(recording: Recording) -> float | None:
    """Energy of everything that was sampled on the best reading."""
    if recording.t_s.size == 0:
        return None
    channel = recording.best.channel
    return None if channel is None else recording.best.between(float(channel.t_s[0]), float(channel.t_s[-1]))[0]


def _difference_pct(entries: tuple[LedgerEntry, ...], recorded_j: float | None) -> float | None:
    """How far the phases add up to more (+) or less (-) than the whole recording."""
    if not entries or not recorded_j or any(entry.energy_j is None for entry in entries):
        return None
    return 100 * (sum(entry.energy_j or 0.0 for entry in entries) - recorded_j) / recorded_j


def _idle_w(entries: Iterable[LedgerEntry], phase: str) -> float | None:
    """Mean W over all entries of a phase, None unless all were measured."""
    same = [entry for entry in entries if entry.phase == phase]
    if not same or any(entry.energy_j is None for entry in same):
        return None
    return ratio(sum(entry.energy_j or 0.0 for entry in same), sum(entry.duration_s for entry in same))


def _phase_or_baseline_w(
    recording: Recording, entries: tuple[LedgerEntry, ...], baselines: Sequence[Mapping[str, Any]], kind: str
) -> float | None:
    phase_w = _idle_w(entries, f"{kind}_idle")
    return _baseline_w(recording, baselines, kind) if phase_w is None else phase_w


def _baseline_w(recording: Recording, baselines: Sequence[Mapping[str, Any]], kind: str) -> float | None:
    """Mean W of the first baseline of this kind that belongs to the run's machine and, if it names one, its model."""
    node, model = recording.run.get("node_hash"), recording.run.get("model")
    for baseline in baselines:
        same_node = baseline.get("node_hash") in (None, node)
        same_model = kind == "empty" or baseline.get("model") in (None, model)
        if baseline.get("kind") == kind and same_node and same_model:
            return baseline.get("mean_gpu_w")
    return None


def _net_j(gross_j: float | None, idle_w: float | None, recording: Recording) -> float | None:
    if gross_j is None or idle_w is None or recording.duration_s is None:
        return None
    return gross_j - idle_w * recording.duration_s
