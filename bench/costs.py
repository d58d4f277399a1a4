"""The cost model of a configuration: fitted on each machine alone, shown for the median one. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import inf
from typing import Any

import numpy as np
from asyncenergy_controller.metrics import CostItems, CostModel, fit_or_reason, median_index

COEFFICIENTS = ("e_fixed_j", "alpha_j_per_prompt_token", "beta_j_per_completion_token")
Shape = tuple[float, float]


def config_costs(items: Mapping[tuple[str, str | None], Sequence[CostItems]]) -> dict[str, Any]:
    """`items` by (machine, its public name). The model of the median machine, ordered by what it predicts for the mean
    item of all, with the spread over machines; or why there is none."""
    pooled = {machine: CostItems(*map(np.concatenate, zip(*parts, strict=True))) for machine, parts in items.items()}
    fits = {machine: fit_or_reason(*columns) for machine, columns in sorted(pooled.items())}
    models = {node: model for (_, node), (model, _) in fits.items() if model}
    if not models:
        reasons = [reason for _, reason in fits.values()]
        return {"cost_model": None, "cost_model_reason": reasons[0] if reasons else "no_items", "machine_costs": []}
    shape = _mean_shape(list(pooled.values()))
    return {
        "cost_model": _shown(models, shape),
        "cost_model_reason": None,
        "machine_costs": [{"node": node, **_as_dict(model)} for node, model in models.items()],
    }


def claimed_costs(claims: Mapping[str, Any]) -> dict[str, Any]:
    """The coefficients that a bundle of totals came with: shown as claimed, since nothing derives them again."""
    if any(claims.get(name) is None for name in COEFFICIENTS):
        return {"cost_model": None, "cost_model_reason": "not_in_totals", "machine_costs": []}
    named = {name: claims[name] for name in COEFFICIENTS}
    told = {"r2": claims.get("costmodel_r2"), "n": claims.get("costmodel_n"), "claimed": True}
    return {
        "cost_model": {**dict.fromkeys(COST_FIELDS), **named, **told},
        "cost_model_reason": None,
        "machine_costs": [],
    }


def of_payload(model: Mapping[str, Any]) -> CostModel:
    """The model back from what was stored of it; ranges that nobody told hold everything."""
    fields: dict[str, Any] = {name: model[name] for name in CostModel.__dataclass_fields__}
    for name in ("prompt_token_range", "completion_token_range"):
        fields[name] = tuple(fields[name] or (0.0, inf))
    return CostModel(**fields)


def _shown(models: Mapping[str | None, CostModel], shape: Shape) -> dict[str, Any]:
    nodes = list(models)
    predicted = [models[node].predict_j(*shape) for node in nodes]
    at = median_index(predicted)
    return {
        **_as_dict(models[nodes[at]]),
        "claimed": False,
        "node": nodes[at],
        "n_machines": len(nodes),
        "mean_prompt_tokens": shape[0],
        "mean_completion_tokens": shape[1],
        "mean_item_j": predicted[at],
        "mean_item_j_min": min(predicted),
        "mean_item_j_max": max(predicted),
    }


def _mean_shape(columns: Sequence[CostItems]) -> Shape:
    prompt = np.concatenate([one.uncached_prompt_tokens for one in columns])
    completion = np.concatenate([one.completion_tokens for one in columns])
    return float(np.nanmean(prompt)), float(np.nanmean(completion))


def _as_dict(model: CostModel) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(model).items()}


COST_FIELDS = (
    *CostModel.__dataclass_fields__,
    "claimed",
    "node",
    "n_machines",
    "mean_prompt_tokens",
    "mean_completion_tokens",
    "mean_item_j",
    "mean_item_j_min",
    "mean_item_j_max",
)
