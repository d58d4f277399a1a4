"""What came out of a run: figures by the formulas of `metrics`, read from the disk alone."""

from dataclasses import asdict, dataclass
from typing import Any

from asyncenergy_controller import metrics
from asyncenergy_controller.bench.bundle import BundleRefused, build_bundle, bundle_run, write_bundle
from asyncenergy_controller.bench.phases import session_baselines
from asyncenergy_controller.bench.plan import Unit
from asyncenergy_controller.bench.store import Part, RunDir
from asyncenergy_controller.files import write_json
from asyncenergy_controller.metrics import RunFigures


@dataclass(frozen=True)
class PartResult:
    """One part with its figures."""

    part: Part
    run: dict[str, Any]
    figures: RunFigures

    @property
    def unit(self) -> Unit:
        return Unit.model_validate(self.part.header["unit"])

    @property
    def is_simulated(self) -> bool:
        return bool(self.part.header["meter"]["energy_source"] == "simulated")

    @property
    def meter_reasons(self) -> dict[str, str]:
        """Channel → why it was null."""
        return dict(self.part.header["meter"]["reasons"])

    @property
    def n_failed(self) -> int:
        return sum(row.finish_reason == "error" for row in self.part.items)

    def as_dict(self) -> dict[str, Any]:
        """For `--json` and run.json."""
        described = ("task", "model", "quantization", "engine", "engine_version", "gpu_name", "concurrency")
        return {
            "label": self.unit.label,
            **{name: self.run.get(name) for name in described},
            "repeat_index": self.unit.repeat_index,
            "n_planned": self.unit.n_items,
            "n_failed": self.n_failed,
            "simulated": self.is_simulated,
            "energy_source": self.figures.energy_source,
            "energy_boundary": self.run.get("energy_boundary"),
            "reasons": self.meter_reasons,
            "notes": list(self.part.notes),
            "figures": asdict(self.figures),
        }


@dataclass(frozen=True)
class RunResult:
    """A whole benchmark: its parts, and whether there is a bundle."""

    run: RunDir
    parts: tuple[PartResult, ...]
    no_bundle: str | None = None

    @property
    def energy_was_measured(self) -> bool:
        return bool(self.parts) and all(part.figures.total_joules_gpu_best is not None for part in self.parts)

    def as_dict(self) -> dict[str, Any]:
        """For `--json` and run.json."""
        state, reason = self.run.status
        units = self.run.plan.units
        measured = {part.part.unit_index for part in self.parts}
        return {
            "run_id": self.run.id,
            "suite": self.run.plan.suite,
            "model": self.parts[0].run["model"] if self.parts else None,
            "seed": self.run.plan.seed,
            "state": state,
            "reason": reason,
            "bundle": str(self.run.bundle_path) if self.run.bundle_path.exists() else None,
            "no_bundle_because": self.no_bundle,
            "skipped": {
                units[int(index)].label: why for index, why in self.run.skipped.items() if int(index) not in measured
            },
            "runs": [part.as_dict() for part in self.parts],
        }


def read_result(run: RunDir) -> RunResult:
    """Compute the figures of what is on disk; also for a run that was interrupted."""
    parts = [part for part in run.parts() if part.items and part.readings]
    baselines = session_baselines(parts)
    return RunResult(run, tuple(_part_result(part, baselines) for part in parts))


def _part_result(part: Part, baselines: list[dict[str, Any]]) -> PartResult:
    row = bundle_run(part)
    return PartResult(part, row, metrics.recompute_run(row, baselines=baselines))


def keep_result(run: RunDir) -> RunResult:
    """Write bundle.json and run.json beside the raw data; without a bundle, the result says why."""
    result = read_result(run)
    try:
        write_bundle(run.bundle_path, build_bundle(run, [part.part for part in result.parts]))
    except BundleRefused as refused:
        result = RunResult(run, result.parts, str(refused))
    write_json(run.path / "run.json", result.as_dict())
    return result
