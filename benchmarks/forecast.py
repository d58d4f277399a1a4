"""How much of the saving that perfect foresight would bring the price forecast brings, decided before prices are known.

The saving is that of a run of 2 h and of 4 h over a random start on each day of two published series (728 days each).
LEAR is the forecast published with them, which knows load and wind forecasts; ours knows past prices alone.

    python -m benchmarks.forecast
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

import numpy as np

from scheduling.prices.forecast import HISTORY_DAYS, Floats, day_forecast

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "prices"
FILES = {"DE": "epf_de_real_and_forecasts.csv", "PJM": "epf_pjm_real_and_forecasts.csv"}
HOURS = (2, 4)
REAL, LEAR = "Real price", ("LEAR 56", "LEAR 84", "LEAR 1092", "LEAR 1456", "LEAR Ensemble")


@dataclass(frozen=True)
class Series:
    """Days of 24 hours: the real prices, and what each forecast said."""

    days: list[date]
    prices: dict[str, Floats]


def read(path: Path) -> Series:
    with path.open() as file:
        rows = list(csv.reader(file))
    names, body = rows[0][1:], rows[1:]
    table = np.array([[float(value) for value in row[1:]] for row in body]).reshape(-1, 24, len(names))
    days = [datetime.fromisoformat(row[0]).date() for row in body[::24]]
    return Series(days, {name: table[:, :, i] for i, name in enumerate(names)})


def ours(series: Series) -> Floats:
    """What our forecast says of each day, from the days before it."""
    real = series.prices[REAL]
    known = dict(zip(series.days, real, strict=True))
    guesses = [day_forecast(known, day) for day in series.days]
    return np.array([real[i] if guess is None else guess for i, guess in enumerate(guesses)])


def captured(real: Floats, expected: Floats, hours: int, first: int = HISTORY_DAYS) -> float:
    """Return the share of the perfect-foresight saving over a random start, from day `first` on."""
    cost, guess = _block_costs(real[first:], hours), _block_costs(expected[first:], hours)
    chosen = np.take_along_axis(cost, guess.argmin(axis=1)[:, None], axis=1).sum()
    random = cost.mean(axis=1).sum()
    return float((random - chosen) / (random - cost.min(axis=1).sum()))


def _block_costs(days: Floats, hours: int) -> Floats:
    """The cost of a run of `hours` by day and start."""
    until = np.concatenate((np.zeros((len(days), 1)), np.cumsum(days, axis=1)), axis=1)
    return np.asarray(until[:, hours:] - until[:, :-hours])


@dataclass(frozen=True)
class Row:
    market: str
    hours: int
    ours: float
    yesterday: float
    lear: Sequence[float]


def rows(data: Path = DATA) -> Iterator[Row]:
    for market, name in FILES.items():
        series = read(data / name)
        real, guess = series.prices[REAL], ours(series)
        for hours in HOURS:
            lear = [captured(real, series.prices[one], hours) for one in LEAR]
            yield Row(
                market, hours, captured(real, guess, hours), captured(real, np.roll(real, 1, axis=0), hours), lear
            )


def main() -> None:
    print("share of the perfect-foresight saving over a random start")
    print(f"{'':10}{'ours':>8}{'yesterday':>12}{'LEAR':>16}   ours / yesterday")
    for row in rows():
        lear = f"{min(row.lear):.1%} .. {max(row.lear):.1%}"
        label = f"{row.market} {row.hours} h"
        ratio = f"{row.ours / row.yesterday:.2f} x; {max(row.lear) - row.ours:.1%} below the best LEAR"
        print(f"{label:10}{row.ours:>8.1%}{row.yesterday:>12.1%}{lear:>16}   {ratio}")


if __name__ == "__main__":
    main()
