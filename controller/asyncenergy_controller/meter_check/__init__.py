"""The conformance suite of meters: what a meter says of loads whose energy is known."""

from .adapter import SHIPPED, CannotMeasure, Device, Factory, MeterAdapter, load_factory
from .cases import CASES, Case, Window
from .suite import CaseResult, Report, check_case, check_meter

__all__ = [
    "CASES",
    "SHIPPED",
    "CannotMeasure",
    "Case",
    "CaseResult",
    "Device",
    "Factory",
    "MeterAdapter",
    "Report",
    "Window",
    "check_case",
    "check_meter",
    "load_factory",
]
