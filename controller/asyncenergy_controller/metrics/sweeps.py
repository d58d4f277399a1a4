"""What a sweep over power caps or clock locks tells of a device's flexibility."""

from collections.abc import Sequence
from dataclasses import dataclass

MIN_POINTS = 4
FLEX_KEEPS = 0.95
TURNDOWN_KEEPS = 0.50


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One measured setting: the cap in W or the lock in MHz; None is the stock setting."""

    setting: float | None
    tokens_per_second: float
    mean_w: float
    joules_per_token: float


@dataclass(frozen=True, slots=True)
class Flexibility:
    """flex_band_w: W given up at the deepest setting that keeps 95 % of the stock throughput. knee_savings_pct: best
    J/token against stock. turndown_ratio: stock mean W over mean W at the deepest setting that keeps 50 %."""

    flex_band_w: float
    knee_savings_pct: float
    turndown_ratio: float


def flexibility(points: Sequence[SweepPoint]) -> Flexibility | None:
    """None with fewer than four points, or without exactly one stock point."""
    stock = _stock(points)
    if stock is None or len(points) < MIN_POINTS:
        return None
    best_j_per_token = min(point.joules_per_token for point in points)
    return Flexibility(
        flex_band_w=stock.mean_w - deepest_keeping(points, stock, FLEX_KEEPS).mean_w,
        knee_savings_pct=100 * (1 - best_j_per_token / stock.joules_per_token),
        turndown_ratio=stock.mean_w / deepest_keeping(points, stock, TURNDOWN_KEEPS).mean_w,
    )


def deepest_keeping(points: Sequence[SweepPoint], stock: SweepPoint, share: float) -> SweepPoint:
    """The lowest setting whose throughput is at least this share of stock's; stock itself if none is."""
    keeping = [p for p in points if p.setting is not None and p.tokens_per_second >= share * stock.tokens_per_second]
    return min(keeping, key=lambda point: point.setting or 0.0, default=stock)


def _stock(points: Sequence[SweepPoint]) -> SweepPoint | None:
    stock = [point for point in points if point.setting is None]
    return stock[0] if len(stock) == 1 else None
