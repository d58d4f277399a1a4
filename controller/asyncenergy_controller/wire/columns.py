"""The two tables of a version-3 run, stored by column."""

from operator import ge
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

MAX_ITEMS = 5_000
MAX_SAMPLES = 200_000
WORD_COLUMNS = frozenset({"answer", "finish_reason", "power_field"})  # all others are numbers

STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True, protected_namespaces=())

Answer = Annotated[str, Field(max_length=32, pattern=r"^[0-9A-Za-z.+\-/]*$")]
FinishReason = Annotated[str, Field(max_length=32, pattern=r"^[a-z_]+$")]


class Columns(BaseModel):
    """Columns of one length."""

    model_config = STRICT

    @model_validator(mode="after")
    def _one_length(self) -> Self:
        lengths = {name: len(column) for name, column in self if isinstance(column, list)}
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise ValueError(f"the columns of one table have one length, these have: {shown}")
        return self

    def __len__(self) -> int:
        return len(next(column for _, column in self if isinstance(column, list)))


class ItemColumns(Columns):
    """One row a question. Times are seconds on the trace's clock."""

    index: list[int] = Field(max_length=MAX_ITEMS)
    t_start_s: list[float] = Field(max_length=MAX_ITEMS)
    t_end_s: list[float] = Field(max_length=MAX_ITEMS)
    prompt_tokens: list[int | None] = Field(max_length=MAX_ITEMS)
    cached_prompt_tokens: list[int | None] | None = Field(default=None, max_length=MAX_ITEMS)
    completion_tokens: list[int | None] = Field(max_length=MAX_ITEMS)
    correct: list[float] = Field(max_length=MAX_ITEMS)
    answer: list[Answer | None] | None = Field(default=None, max_length=MAX_ITEMS)
    finish_reason: list[FinishReason | None] = Field(max_length=MAX_ITEMS)
    ttft_s: list[float | None] | None = Field(default=None, max_length=MAX_ITEMS)


class TraceColumns(Columns):
    """One row a sample. `t_s` is strictly rising; counters are rebased to 0 at the first sample."""

    t_s: list[float] = Field(max_length=MAX_SAMPLES)
    gpu_power_w: list[float | None] | None = Field(default=None, max_length=MAX_SAMPLES)
    power_field: str | None = Field(default=None, max_length=32, pattern=r"^[a-z_]+$")
    gpu_energy_mj: list[float | None] | None = Field(default=None, max_length=MAX_SAMPLES)
    gpu_util_pct: list[float | None] | None = Field(default=None, max_length=MAX_SAMPLES)
    gpu_mem_used_mib: list[float | None] | None = Field(default=None, max_length=MAX_SAMPLES)
    gpu_temp_c: list[float | None] | None = Field(default=None, max_length=MAX_SAMPLES)
    sm_clock_mhz: list[float | None] | None = Field(default=None, max_length=MAX_SAMPLES)
    throttle_mask: list[int | None] | None = Field(default=None, max_length=MAX_SAMPLES)
    wall_power_w: list[float | None] | None = Field(default=None, max_length=MAX_SAMPLES)
    cpu_energy_uj: list[float | None] | None = Field(default=None, max_length=MAX_SAMPLES)
    gpu_power_instant_w: list[float | None] | None = Field(default=None, max_length=MAX_SAMPLES)
    other_processes: list[int | None] | None = Field(default=None, max_length=MAX_SAMPLES)

    @model_validator(mode="before")
    @classmethod
    def _one_power_field(cls, value: Any) -> Any:
        """`power_field` may come as a column; one trace has one field, so one word is kept."""
        if isinstance(value, dict) and isinstance(column := value.get("power_field"), list):
            seen = {word for word in column if word is not None}
            if len(seen) > 1 or not all(isinstance(word, str) for word in seen):
                raise ValueError(f"power_field names one field for the whole trace, this one has {len(seen)}")
            if len(column) != len(value.get("t_s") or ()):
                raise ValueError("power_field has another length than t_s")
            value = {**value, "power_field": next(iter(seen), None)}
        return value

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if any(map(ge, self.t_s, self.t_s[1:])):
            at = next(i for i, (a, b) in enumerate(zip(self.t_s, self.t_s[1:], strict=False)) if a >= b)
            raise ValueError(f"t_s rises strictly, but sample {at + 1} is at {self.t_s[at + 1]} after {self.t_s[at]}")
        return self
