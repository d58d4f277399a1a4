"""Joules of an item out of its token counts: J = e_fixed + alpha * prompt + beta * completion, all >= 0."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .columns import Array, Numbers, require_same_length, to_array, to_list

MIN_ITEMS = 15
MAX_CONDITION = 30.0
BOOTSTRAP_FITS = 200
BOOTSTRAP_SEED = 1234
EXTRAPOLATION_FACTOR = 2.0
_TOKENS = ("prompt_tokens", "cached_prompt_tokens", "completion_tokens")
_MAD_TO_SIGMA = 1.4826
_REWEIGHTINGS = 5  # leaves a resample within 2 % of rest
# the six choices of fewer than three parameters: each alone, then the pairs of `_ONE` and `_TWO`
_EACH, _PAIRS, _ONE, _TWO = [0, 1, 2], [3, 4, 5], [0, 0, 1], [1, 2, 2]


@dataclass(frozen=True, slots=True)
class CostModel:
    """Fitted cost of one configuration on one machine. A standard error is None for a parameter at its bound 0."""

    e_fixed_j: float
    alpha_j_per_prompt_token: float
    beta_j_per_completion_token: float
    r2: float | None
    n: int
    prompt_token_range: tuple[float, float]
    completion_token_range: tuple[float, float]
    e_fixed_se_j: float | None
    alpha_se: float | None
    beta_se: float | None

    def predict_j(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Joules of one item with this many uncached prompt tokens and completion tokens."""
        prompt_j = self.alpha_j_per_prompt_token * prompt_tokens
        return self.e_fixed_j + prompt_j + self.beta_j_per_completion_token * completion_tokens

    def extrapolates(self, prompt_tokens: float, completion_tokens: float) -> bool:
        """Whether either count lies outside twice the range that the model was fitted on."""
        return _outside(prompt_tokens, self.prompt_token_range) or _outside(
            completion_tokens, self.completion_token_range
        )


class CostItems(NamedTuple):
    """What a fit needs of each item: tokens that were processed, and joules (NaN keeps an item out)."""

    uncached_prompt_tokens: Array
    completion_tokens: Array
    energy_j: Array


def cost_items(
    items: Mapping[str, Any], item_energy_j: Numbers, prefix_cache: str | None
) -> tuple[CostItems | None, str | None]:
    """The items that were answered, by column; what a cache served costs no prompt processing.

    None where no item has an energy, or a cache was on and nobody knows what it served.
    """
    energy = to_array(item_energy_j, "item_energy_j")
    if np.isnan(energy).all():
        return None, "energy_unmeasured"
    prompt, cached, completion = (_tokens(items, name, energy.size) for name in _TOKENS)
    if prefix_cache == "on" and np.isnan(cached).all():
        return None, "cached_tokens_unknown"
    finish = items.get("finish_reason") or [None] * energy.size
    failed = np.array([reason == "error" for reason in finish])
    return CostItems(prompt - np.nan_to_num(cached), completion, np.where(failed, np.nan, energy)), None


def _tokens(items: Mapping[str, Any], name: str, length: int) -> Array:
    column = items.get(name)
    return np.full(length, np.nan) if column is None else to_array(column, name)


def fit_cost_model(prompt_tokens: Numbers, completion_tokens: Numbers, energy_j: Numbers) -> CostModel | None:
    """Robust non-negative fit on items; `prompt_tokens` are the uncached ones. Items with a missing value stay out.

    None under 15 items, or if the token counts do not tell the three parameters apart (condition number of the
    matrix with columns of unit length 30 or more).
    """
    return fit_or_reason(prompt_tokens, completion_tokens, energy_j)[0]


def fit_or_reason(
    prompt_tokens: Numbers, completion_tokens: Numbers, energy_j: Numbers
) -> tuple[CostModel | None, str | None]:
    """The fit, or why there is none: `too_few_items`, `tokens_vary_too_little`."""
    prompt, completion = to_array(prompt_tokens, "prompt_tokens"), to_array(completion_tokens, "completion_tokens")
    energy = to_array(energy_j, "energy_j")
    require_same_length(prompt_tokens=prompt, completion_tokens=completion, energy_j=energy)
    known = ~(np.isnan(prompt) | np.isnan(completion) | np.isnan(energy))
    if known.sum() < MIN_ITEMS:
        return None, "too_few_items"
    prompt, completion, energy = prompt[known], completion[known], energy[known]
    design = np.column_stack((np.ones(energy.size), prompt, completion))
    lengths = np.linalg.norm(design, axis=0)
    if not lengths.all() or np.linalg.cond(design / lengths) >= MAX_CONDITION:
        return None, "tokens_vary_too_little"
    return _fit(design, lengths, energy), None


def _fit(design: Array, lengths: Array, energy: Array) -> CostModel:
    unit = float(np.abs(energy).max()) or 1.0
    scaled, target = design / lengths, energy / unit
    start, residual_scale = _robust_start(scaled, target)
    found = _minimise(scaled, target, start, residual_scale)
    errors = np.where(found > 0, _standard_errors(scaled, target, found, residual_scale), np.nan)
    e_fixed, alpha, beta = (found * unit / lengths).tolist()
    e_fixed_se, alpha_se, beta_se = to_list(errors * unit / lengths)
    return CostModel(
        e_fixed_j=e_fixed,
        alpha_j_per_prompt_token=alpha,
        beta_j_per_completion_token=beta,
        r2=_r2(target, scaled @ found),
        n=energy.size,
        prompt_token_range=(float(design[:, 1].min()), float(design[:, 1].max())),
        completion_token_range=(float(design[:, 2].min()), float(design[:, 2].max())),
        e_fixed_se_j=e_fixed_se,
        alpha_se=alpha_se,
        beta_se=beta_se,
    )


def _minimise(design: Array, target: Array, start: Array, scale: float) -> Array:
    """Least squares with soft-L1 loss and parameters >= 0; one at its bound is exactly 0."""
    from scipy.optimize import least_squares  # half a second to load, which only a fit is worth

    def residuals(parameters: Array) -> Array:
        return design @ parameters - target

    def jacobian(_: Array) -> Array:
        return design

    # Of scipy's bounded methods this one reaches a bound exactly.
    found = least_squares(
        residuals, start, jac=jacobian, bounds=(0, np.inf), method="dogbox", loss="soft_l1", f_scale=scale
    )
    return np.where(found.active_mask < 0, 0.0, found.x)


def _robust_start(design: Array, target: Array) -> tuple[Array, float]:
    """A reweighted fit, and with it the scale of its residuals (their median size as a standard deviation)."""
    from scipy.optimize import nnls

    weights = np.ones(target.size)
    for _step in range(_REWEIGHTINGS):
        fitted, _ = nnls(design * weights[:, None], target * weights)
        residuals = target - design @ fitted
        scale = max(_MAD_TO_SIGMA * float(np.median(np.abs(residuals))), 1e-9)
        weights = np.sqrt(_soft_l1_weights(residuals / scale))
    return fitted, scale


def _standard_errors(design: Array, target: Array, fitted: Array, scale: float) -> Array:
    """Spread of the same fit over resampled items, each reweighted from the fit to all items.

    All resamples are solved at once; 200 calls of the solver would take a hundred times longer.
    """
    drawn = _times_drawn(target.size)
    terms = _products(design, target)
    scaled_design, scaled_target = design.T / scale, target / scale
    fits = fitted[None, :]
    for _step in range(_REWEIGHTINGS):
        fits = _non_negative_fits((drawn * _soft_l1_weights(scaled_target - fits @ scaled_design)) @ terms)
    spread: Array = fits.std(axis=0, ddof=1)
    return spread


@lru_cache(maxsize=8)
def _times_drawn(n: int) -> Array:
    """How often each of n items stands in each resample."""
    picks = np.random.default_rng(BOOTSTRAP_SEED).integers(0, n, size=(BOOTSTRAP_FITS, n))
    cells = (np.arange(BOOTSTRAP_FITS)[:, None] * n + picks).ravel()
    return np.bincount(cells, minlength=BOOTSTRAP_FITS * n).reshape(BOOTSTRAP_FITS, n).astype(np.float64)


def _soft_l1_weights(scaled_residuals: Array) -> Array:
    """Weights with which least squares, repeated, comes to rest where the soft-L1 loss is least."""
    weights: Array = scaled_residuals * scaled_residuals
    weights += 1
    np.sqrt(weights, out=weights)
    return np.reciprocal(weights, out=weights)


def _products(design: Array, target: Array) -> Array:
    """What an item adds to the normal equations: nine products of the design, three with the target."""
    gram = (design[:, :, None] * design[:, None, :]).reshape(target.size, 9)
    return np.hstack((gram, design * target[:, None]))


def _non_negative_fits(equations: Array) -> Array:
    """Exact weighted non-negative least squares, one fit per row of normal equations.

    Where the free solution has no negative parameter it is the answer; elsewhere the answer is the best of those
    solutions of fewer parameters that have none (the problem is convex).
    """
    gram, moment = equations[:, :9].reshape(-1, 3, 3), equations[:, 9:]
    # A resample may leave two columns alike; the ridge keeps it solvable and moves nothing else.
    gram = gram + 1e-12 * np.trace(gram, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    fits: Array = np.linalg.solve(gram, moment[:, :, None])[:, :, 0]
    bounded = (fits < 0).any(axis=1)
    if bounded.any():
        fits[bounded] = _best_of_fewer(gram[bounded], moment[bounded])
    return fits


def _best_of_fewer(gram: Array, moment: Array) -> Array:
    """Of the solutions with one or two parameters the one that explains most, by Cramer's rule for all rows at once."""
    own, one, two = gram[:, _EACH, _EACH], gram[:, _ONE, _ONE], gram[:, _TWO, _TWO]
    both = gram[:, _ONE, _TWO]
    determinant = one * two - both**2
    candidates = np.zeros((len(gram), 6, 3))
    candidates[:, _EACH, _EACH] = moment / own
    candidates[:, _PAIRS, _ONE] = (moment[:, _ONE] * two - moment[:, _TWO] * both) / determinant
    candidates[:, _PAIRS, _TWO] = (moment[:, _TWO] * one - moment[:, _ONE] * both) / determinant
    explained = (candidates * moment[:, None]).sum(axis=2)
    gain = np.where((candidates >= 0).all(axis=2), explained, 0.0)
    best = gain.argmax(axis=1)
    rows = np.arange(len(gram))
    return np.where(gain[rows, best, None] > 0, candidates[rows, best], 0.0)


def _r2(target: Array, predicted: Array) -> float | None:
    spread = float(((target - target.mean()) ** 2).sum())
    return 1 - float(((target - predicted) ** 2).sum()) / spread if spread > 0 else None


def _outside(value: float, fitted_range: tuple[float, float]) -> bool:
    low, high = fitted_range
    return not low / EXTRAPOLATION_FACTOR <= value <= high * EXTRAPOLATION_FACTOR
