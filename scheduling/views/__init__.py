"""Pages of scheduling. They parse, call a service or a selector, and show the outcome."""

from scheduling.views.cheapest import cheapest
from scheduling.views.public import how_it_works, quickstart
from scheduling.views.tonight import tonight

__all__ = ["cheapest", "how_it_works", "quickstart", "tonight"]
