"""Reports for the spool, in few words, and what comes of sending them."""

from datetime import UTC, datetime

from asyncenergy_controller.meters.base import Reading
from asyncenergy_controller.reporting import RunRecord
from asyncenergy_controller.reporting.records import samples_of

AT = datetime(2026, 12, 1, 3, 0, tzinfo=UTC)


def run(name="r1", **values):
    return RunRecord(controller_id="box", run_id=name, ts=AT, exit_status="success", **values)


def trace(seconds, watts=100.0):
    return samples_of([Reading(t_s=float(t), gpu_power_w=watts) for t in range(seconds)], AT)


def drained(spool, client):
    result = spool.drain(client, at_once=True)
    return result.sent, result.left, result.problem
