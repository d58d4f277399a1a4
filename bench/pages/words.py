"""Codes of the corpus in words for people. A code without words here is shown as it is."""

from collections.abc import Mapping
from typing import Any

PHASES = {
    "empty_idle": "Nothing loaded, idle",
    "load": "Loading the model",
    "loaded_idle": "Model loaded, waiting",
    "warmup": "Warm-up",
    "items": "Questions",
    "tail": "Tail",
}

OTHER_PHASES = {"lead_in": "Before the first question"}

REASONS = {
    "counter_reset": "The counter went backwards during the run, as after a driver reload.",
    "counter_stuck": "The counter did not move during the run.",
    "counter_unsupported": "The device has no energy counter that could be read.",
    "energy_unmeasured": "no energy was measured",
    "hole_over_30_s": "Power samples are missing for over 30 s.",
    "no_items_window": "The run has no items, so it has no window.",
    "no_wall_meter": "No wall meter was read.",
    "not_in_totals": "sent as totals only, which hold no interval",
    "power_unsupported": "The device reports no power.",
    "range_unknown": "The counter wrapped, and its range is not recorded.",
    "too_few_correct_answers": "interval withheld: too few correct answers",
    "too_few_items": "interval withheld: fewer than ten items",
    "too_few_readings": "Fewer than two readings fall into the run.",
    "too_few_samples": "Fewer than two samples fall into the run.",
    "window_not_sampled": "The readings do not cover the whole run.",
}

COST_REASONS = {
    "cached_tokens_unknown": "The engine reused cached prompts and did not say how many tokens.",
    "energy_unmeasured": "The energy of the items was not measured.",
    "no_items": "It was sent without items.",
    "not_in_totals": "It came as totals, without coefficients.",
    "tokens_vary_too_little": "Questions and answers are too much alike in length to tell the parts apart.",
    "too_few_items": "Too few items were measured.",
}

SOURCES = {
    "counter": "the device’s energy counter",
    "integrated": "power samples, integrated",
    "rapl": "the processor’s RAPL counters",
    "ioreport": "Apple’s IOReport counters",
    "amdsmi": "AMD SMI",
    "simulated": "simulated, not measured",
}

BOUNDARIES = {
    "gpu_board": "the GPU board",
    "cpu_package": "the processor package",
    "soc": "the whole chip",
    "wall": "the machine at the wall",
}

DEVICES = {"gpu_board": "card", "cpu_package": "processor", "soc": "chip"}

ENDS = {"stop": "by itself", "length": "at the limit", "error": "with an error"}

STATUSES = {
    "pending": "This run waits for a maintainer. Only you and the maintainers see this page.",
    "quarantined": "A gate has held this run until a maintainer decides. Only you and the maintainers see this page.",
    "rejected": "A maintainer has hidden this run. Only you and the maintainers see this page.",
    "withdrawn": "This run is withdrawn. Only you and the maintainers see this page.",
}


SETTINGS = {
    "model": "Model",
    "weights_repo": "Weights",
    "weights_revision": "Revision of the weights",
    "weights_digest": "Digest of the weights",
    "quantization": "Quantization or number format",
    "engine": "Engine",
    "engine_version": "Engine version",
    "gpu_class": "Device class",
    "device_count": "Devices",
    "energy_boundary": "Energy boundary",
    "source_family": "Family of the energy source",
    "power_limit_w": "Power limit (W)",
    "clock_lock_mhz": "Clock lock (MHz)",
    "thinking_mode": "Thinking",
    "reasoning_effort": "Reasoning effort",
    "cuda_graphs": "CUDA graphs",
    "ctx_size": "Context size (tokens)",
    "kv_cache": "KV cache",
    "prefix_cache": "Prefix cache",
    "arith_level": "Level of the arithmetic",
    "max_tokens": "Most tokens an answer",
    "n_shot": "Worked examples in the prompt",
    "concurrency": "Questions at a time",
    "methodology_version": "Methodology",
}

STOCK = {"power_limit_w": "stock", "clock_lock_mhz": "none"}


def pace(concurrency: str | int | None) -> str:
    """How many questions were in flight: ``one at a time``, ``16 at a time``."""
    return "one at a time" if concurrency is None or int(float(concurrency)) == 1 else f"{concurrency} at a time"


def in_words(words: dict[str, str], code: str | None) -> str | None:
    """The words for a code, or the code itself."""
    return None if code is None else words.get(code, code)


def other_energy(first: str, one: Mapping[str, Any], second: str, other: Mapping[str, Any]) -> str:
    """Why the joules of two rows, named `first` and `second`, can't be compared."""
    if one["energy_boundary"] != other["energy_boundary"]:
        place, elsewhere = (in_words(BOUNDARIES, row["energy_boundary"]) or "an unknown place" for row in (one, other))
        said = f"{first} was measured at {place}, {second} at {elsewhere}"
    else:
        source, another = (in_words(SOURCES, row["energy_source"]) or "an unknown source" for row in (one, other))
        said = f"{first} was read from {source}, {second} from {another}"
    return f"{said}: the two figures can’t be compared."
