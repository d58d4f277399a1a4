"""Measuring runs, and reporting them so that none is lost and none counts twice."""

from asyncenergy_controller.reporting.measure import Measurement, Measuring, measured
from asyncenergy_controller.reporting.records import Ack, RunRecord, Sample
from asyncenergy_controller.reporting.spool import Counts, Drained, SetAside, Spool, SpoolError, open_spool

__all__ = [
    "Ack",
    "Counts",
    "Drained",
    "Measurement",
    "Measuring",
    "RunRecord",
    "Sample",
    "SetAside",
    "Spool",
    "SpoolError",
    "measured",
    "open_spool",
]
