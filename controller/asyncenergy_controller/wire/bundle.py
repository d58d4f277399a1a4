"""A bundle: one file, one upload, one or more runs."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from asyncenergy_controller.wire.columns import STRICT
from asyncenergy_controller.wire.errors import Place, WireError
from asyncenergy_controller.wire.fields import Instant, Name, NodeHash, Word
from asyncenergy_controller.wire.runs import RunV2, RunV3

MAX_RUNS = 500
_MAX_PLACES = 20


class NodeEntry(BaseModel):
    model_config = STRICT

    node_hash: NodeHash
    cpu_model: Name | None = None
    mem_total_mib: float | None = None
    ram_gb: float | None = None
    pcie_gen: int | None = None


class Grade(BaseModel):
    model_config = STRICT

    config_key: Word
    model: Name
    engine: Name
    n_runs: int
    node_hash: NodeHash | None = None
    quantization: Name | None = None
    power_limit_w: float | None = None
    gpu_name: Name | None = None
    schema_version: Word | None = None
    capability_pct: float | None = None
    capability_stars: float | None = None
    efficiency_stars: float | None = None
    speed_stars: float | None = None
    smoothness_stars: float | None = None
    flexibility_stars: float | None = None
    footprint_stars: float | None = None
    letter_grade: str | None = Field(default=None, max_length=3, pattern=r"^[A-F][+-]?$")


class LoadProfile(BaseModel):
    model_config = STRICT

    model: Name
    engine: Name
    load_time_s: float
    vram_after_load_mib: float
    loaded_idle_mean_w: float
    node_hash: NodeHash | None = None
    quantization: Name | None = None
    engine_version: Name | None = None
    load_energy_j: float | None = None
    driver_version: Name | None = None
    created_at: Instant | None = None


class Baseline(BaseModel):
    model_config = STRICT

    node_hash: NodeHash | None
    kind: Literal["empty", "loaded"]
    model: Name | None = None
    quantization: Name | None = None
    mean_gpu_w: float | None = None
    peak_gpu_w: float | None = None
    gpu_mem_used_mib: float | None = None
    duration_s: float | None = None
    driver_version: Name | None = None


class _Envelope(BaseModel):
    model_config = STRICT

    generated_at: Instant
    suite: Word = "quick"
    nodes: list[NodeEntry] = Field(default_factory=list, max_length=MAX_RUNS)
    grades: list[Grade] = Field(default_factory=list, max_length=MAX_RUNS)
    load_profiles: list[LoadProfile] = Field(default_factory=list, max_length=MAX_RUNS)
    baselines: list[Baseline] = Field(default_factory=list, max_length=MAX_RUNS)


class BundleV2(_Envelope):
    """Versions "1" and "2": aggregates only."""

    schema_version: Literal["1", "2"]
    runs: list[RunV2] = Field(min_length=1, max_length=MAX_RUNS)


class BundleV3(_Envelope):
    """Version "3": each run with its items and trace."""

    schema_version: Literal["3"]
    runs: list[RunV3] = Field(min_length=1, max_length=MAX_RUNS)


Bundle = BundleV2 | BundleV3
_MODELS: dict[str, type[BundleV2] | type[BundleV3]] = {"1": BundleV2, "2": BundleV2, "3": BundleV3}


def parse_bundle(data: Any) -> Bundle:
    """Return the checked bundle. Raises WireError (code ``schema``) naming each offending place."""
    if not isinstance(data, dict):
        raise WireError("schema", f"A bundle is a JSON object, this is {type(data).__name__}.")
    version = data.get("schema_version")
    if not isinstance(version, str) or version not in _MODELS:
        shown = f"{version!r:.40}"
        place = Place(attr="schema_version", code="unknown_version", detail=f"Versions are 1, 2 and 3, not {shown}.")
        raise WireError("schema", f'schema_version must be "1", "2" or "3", not {shown}.', [place])
    try:
        return _MODELS[version].model_validate(data)
    except ValidationError as error:
        raise _as_wire_error(error.errors(include_url=False, include_context=False)) from error


def _as_wire_error(found: Sequence[ErrorDetails]) -> WireError:
    places = [_place(detail) for detail in found[:_MAX_PLACES]]
    more = f" ({len(found) - 1} more places)" if len(found) > 1 else ""
    return WireError("schema", f"{places[0]['attr']}: {places[0]['detail']}{more}", places)


def _place(found: ErrorDetails) -> Place:
    attr = ".".join(str(part) for part in found["loc"]) or "bundle"
    shown = "" if isinstance(found["input"], dict | list) else f" (sent: {found['input']!r:.60})"
    return Place(attr=attr, code=found["type"], detail=f"{found['msg']}{shown}.")
