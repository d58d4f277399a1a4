"""The runs of a bundle: versions 1 and 2 (aggregates only) and version 3 (with items and trace).

The field table of the deployed contract says for each field whether it is required, may be null, or is
optional and never null; `_NEVER_NULL` keeps the last kind, which a type alone can't say.
"""

from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator

from asyncenergy_controller.wire.columns import STRICT, ItemColumns, TraceColumns
from asyncenergy_controller.wire.fields import Instant, Name, NodeHash, TaskShape, Tier, Word

_NEVER_NULL = frozenset(
    {
        "has_vision_tower",
        "temperature",
        "max_tokens",
        "seed",
        "is_canary",
        "n_items",
        "n_correct",
        "joules_per_token",
        "total_joules_gpu",
        "energy_source",
        "mean_tokens_per_second",
        "pooled_tokens_per_second",
        "total_completion_tokens",
        "streaming_used",
        "peak_gpu_w",
        "mean_gpu_w",
        "measurement_tier",
        "run_duration_s",
        "repeat_index",
    }
)


class _Part(BaseModel):
    """A part of a bundle in which some optional fields may be left out but never be null."""

    model_config = STRICT

    @model_validator(mode="before")
    @classmethod
    def _refuse_null(cls, value: Any) -> Any:
        if isinstance(value, dict):
            null = sorted(key for key in _NEVER_NULL & value.keys() if value[key] is None)
            if null:
                raise ValueError(f"{', '.join(null)}: leave the field out instead of sending null")
        return value


class Claims(_Part):
    """Figures that a client may send. The server computes its own; these are only compared."""

    measurement_tier: Tier | None = None
    run_duration_s: float | None = None
    n_items: int | None = None
    n_correct: float | None = None
    accuracy: float | None = None
    joules_per_token: float | None = None
    joules_per_item: float | None = None
    joules_per_correct_answer: float | None = None
    efficiency_index: float | None = None
    jpc_ci_low: float | None = None
    jpc_ci_high: float | None = None
    accuracy_ci_low: float | None = None
    accuracy_ci_high: float | None = None
    total_joules_gpu: float | None = None
    total_joules_gpu_counter: float | None = None
    total_joules_gpu_best: float | None = None
    counter_vs_integration_pct_diff: float | None = None
    total_joules_cpu: float | None = None
    total_joules_cpu_dram: float | None = None
    kwh_delta: float | None = None
    wall_counter_ticks: int | None = None
    mean_tokens_per_second: float | None = None
    pooled_tokens_per_second: float | None = None
    total_completion_tokens: int | None = None
    ttft_p50_s: float | None = None
    ttft_p95_s: float | None = None
    itl_mean_ms: float | None = None
    itl_p95_ms: float | None = None
    peak_gpu_w: float | None = None
    mean_gpu_w: float | None = None
    gpu_temp_c_start: float | None = None
    gpu_temp_c_end: float | None = None
    peak_gpu_temp_c: float | None = None
    mean_gpu_temp_c: float | None = None
    peak_gpu_mem_used_mib: float | None = None
    mean_gpu_mem_used_mib: float | None = None
    gpu_mem_used_pct_of_total: float | None = None
    mean_gpu_util_pct: float | None = None
    mean_gpu_mem_util_pct: float | None = None
    mean_gpu_sm_clock_mhz: float | None = None
    mean_gpu_fan_pct: float | None = None
    thermal_throttle_pct: float | None = None
    power_cap_throttle_pct: float | None = None
    mean_wall_w: float | None = None
    peak_wall_w: float | None = None
    node_overhead_ratio: float | None = None
    alpha_j_per_prompt_token: float | None = None
    beta_j_per_completion_token: float | None = None
    e_fixed_j: float | None = None
    costmodel_r2: float | None = None
    costmodel_n: int | None = None
    gpu_power_std_w: float | None = None
    gpu_power_cv: float | None = None
    gpu_power_crest_factor: float | None = None
    gpu_power_p95_p50_ratio: float | None = None
    gpu_power_jaggedness_w_per_s: float | None = None


class Setup(_Part):
    """What ran, on what, with which settings."""

    schema_version: Word
    engine: Name
    model: Name
    created_at: Instant | None
    engine_version: Name | None = None
    driver_version: Name | None = None
    cuda_version: Name | None = None
    gpu_name: Name | None = None
    has_vision_tower: bool | None = None
    power_limit_w: float | None = None
    gpu_stock_power_limit_w: float | None = None
    clock_lock_mhz: float | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    n_shot: int | None = None
    thinking_mode: Name | None = None
    dataset_revision: Name | None = None
    quantization: Name | None = None
    task: Word | None = None
    task_shape: TaskShape | None = None
    is_canary: bool | None = None
    energy_source: Word | None = None
    streaming_used: bool | None = None


class RunV2(Setup, Claims):
    """A run of bundle versions 1 and 2."""

    node_hash: NodeHash | None
    measurement_tier: Tier
    run_duration_s: float
    repeat_index: int


class Device(_Part):
    kind: Literal["gpu", "cpu", "soc"]
    count: int = Field(default=1, ge=1, le=1024)


class Weights(_Part):
    """Which weights exactly; null where the engine does not tell."""

    repo: Name | None = None
    revision: Word | None = None
    digest: Word | None = None


class RunSettings(_Part):
    """Settings of the engine that change the energy; all of them are part of the configuration."""

    reasoning_effort: Word | None = None
    cuda_graphs: bool | Word | None = None
    ctx_size: int | None = None
    kv_cache: Name | None = None
    prefix_cache: Literal["on", "off", "unknown"] | None = None
    arith_level: int | None = Field(default=None, ge=1, le=99)
    extra: dict[Word, Name | float | bool | None] = Field(default_factory=dict, max_length=32)


class LedgerPhase(_Part):
    phase: Literal["empty_idle", "load", "loaded_idle", "warmup", "items", "tail"]
    t_start_s: float
    t_end_s: float


class RunV3(Setup, Claims):
    """A run of bundle version 3: the server derives every figure from `items` and `trace`."""

    node_hash: NodeHash
    methodology_version: Word
    device: Device
    energy_boundary: Word
    weights: Weights | None = None
    concurrency: int = Field(default=1, ge=1, le=4096)
    settings: RunSettings = RunSettings()
    sensor: dict[str, Any] | None = None
    ledger: list[LedgerPhase] = Field(default_factory=list, max_length=64)
    items: ItemColumns
    trace: TraceColumns
    repeat_index: int = 0
    created_at: Instant | None = None
