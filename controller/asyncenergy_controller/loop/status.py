"""One line that says what the loop is about, and tells "not yet" from "never". Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from asyncenergy_controller.jobs.entry import JobEntry
from asyncenergy_controller.loop.due import Standing, State, next_start
from asyncenergy_controller.loop.slots import Slot
from asyncenergy_controller.server import Schedule

SHOWN = 3
NEAR = timedelta(minutes=2)
HOW_TO_FIND_OUT = "`async-energy-controller run --check` says why"


@dataclass(frozen=True, slots=True)
class Running:
    """What runs now, and when it is ended at the latest."""

    workflow_id: str
    ends: datetime


@dataclass(frozen=True, slots=True)
class Situation:
    """All that the line is made from."""

    now: datetime
    jobs: Mapping[str, JobEntry]
    standings: Sequence[Standing]
    schedule: Schedule | None
    server_problem: str | None = None
    catalog_problem: str | None = None
    running: Running | None = None
    waiting: int | None = 0
    """Reports that the server hasn't got yet; None where that can't be known."""


def status_line(situation: Situation, zone: tzinfo | None = None) -> str:
    """Say what runs, what comes next, or why nothing will. Times are those of `zone`, of this machine by default."""
    return "; ".join(part.rstrip(".") for part in (_main(situation, zone), *_remarks(situation, zone)))


def job_name(jobs: Mapping[str, JobEntry], workflow_id: str) -> str:
    """What people call it: the name in the catalog, else the id."""
    entry = jobs.get(workflow_id)
    return entry.name or workflow_id if entry else workflow_id


def wall_time(at: datetime, now: datetime, zone: tzinfo | None = None) -> str:
    """`00:10` within the next hours, to the second where it is near, `Wed 00:10` within days, else with the date."""
    local, here = at.astimezone(zone), now.astimezone(zone)
    days = (local.date() - here.date()).days
    if abs(at - now) < NEAR:
        return f"{local:%H:%M:%S}"
    if days == 0 or (days == 1 and local.time() < here.time()):
        return f"{local:%H:%M}"
    return f"{local:%a %H:%M}" if 0 < days < 7 else f"{local:%Y-%m-%d %H:%M}"


def _main(situation: Situation, zone: tzinfo | None) -> str:
    now, jobs = situation.now, situation.jobs
    if running := situation.running:
        return f"running {job_name(jobs, running.workflow_id)}, at most until {wall_time(running.ends, now, zone)}"
    if held := next((one for one in situation.standings if one.state is State.HELD), None):
        return f"holding {_name(jobs, held.slot)} back: {held.reason}"
    if slot := next_start(situation.standings):
        return f"idle until {wall_time(slot.start, now, zone)} ({_name(jobs, slot)})"
    return _nothing(situation)


def _name(jobs: Mapping[str, JobEntry], slot: Slot) -> str:
    return job_name(jobs, slot.placement.workflow_id)


def _nothing(situation: Situation) -> str:
    """Why nothing is ahead: for good, or for now."""
    if not situation.jobs:
        return f"nothing will ever run: {situation.catalog_problem or 'the catalog holds no job'}"
    unknown = {one.slot.placement.workflow_id for one in situation.standings if one.state is State.UNKNOWN}
    if unknown and all(one.state is State.UNKNOWN for one in situation.standings):
        return f"nothing will ever run: the catalog has no entry for {_listed(unknown)}; {HOW_TO_FIND_OUT}"
    if situation.schedule is None:
        return "idle: there is no schedule yet"
    if unplaced := [one for one in situation.schedule.unplaced if one.workflow_id in situation.jobs]:
        return f"idle: {job_name(situation.jobs, unplaced[0].workflow_id)} finds no time: {unplaced[0].reason}"
    names = {job_name(situation.jobs, workflow_id) for workflow_id in situation.jobs}
    return f"idle: nothing is planned for {_listed(names)}; {HOW_TO_FIND_OUT}"


def _listed(names: Iterable[str]) -> str:
    found = sorted(names)
    rest = len(found) - SHOWN
    return ", ".join(found[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _remarks(situation: Situation, zone: tzinfo | None) -> Iterator[str]:
    schedule = situation.schedule
    if situation.catalog_problem and situation.jobs:
        yield f"going on with the last good catalog: {situation.catalog_problem}"
    if situation.server_problem:
        going_on = f", going on with schedule {schedule.version}" if schedule else ""
        yield f"the server can't be asked ({situation.server_problem.rstrip('.')}){going_on}"
    if schedule and schedule.placements and situation.now >= schedule.valid_until:
        until = wall_time(schedule.valid_until, situation.now, zone)
        yield f"prices were known until {until}: what comes after starts as late as its deadline allows"
    if situation.waiting:
        yield f"{situation.waiting} reports wait for the server"
