"""Prices of electricity: where they come from, and what a user pays. No Django but for the key in settings."""

from scheduling.prices.awattar import Awattar
from scheduling.prices.comed import ComEd
from scheduling.prices.energy_charts import EnergyCharts
from scheduling.prices.entsoe import Entsoe
from scheduling.prices.octopus import Octopus
from scheduling.prices.types import Source

SOURCES: dict[str, Source] = {
    "energy_charts": EnergyCharts(),
    "entsoe": Entsoe(),
    "awattar": Awattar(),
    "octopus": Octopus(),
    "comed": ComEd(),
}
AFTER_THE_FACT = frozenset({"comed"})
