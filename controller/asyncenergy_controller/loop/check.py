"""`--check`: will what is in the catalog ever run here? One row for each thing that has to be right."""

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from asyncenergy_controller.adapters import preflight
from asyncenergy_controller.errors import ExitCode
from asyncenergy_controller.jobs.catalog import Catalog, CatalogError, load_catalog
from asyncenergy_controller.jobs.entry import JobEntry
from asyncenergy_controller.loop.permission import why_never
from asyncenergy_controller.loop.slots import slots_of
from asyncenergy_controller.loop.status import wall_time
from asyncenergy_controller.server import NotLoggedIn, Schedule, ServerClient, ServerError
from asyncenergy_controller.settings import Settings

State = Literal["ok", "note", "never", "config", "server"]
EXIT: dict[State, ExitCode] = {
    "config": ExitCode.USAGE,
    "server": ExitCode.SERVER,
    "never": ExitCode.FAILED,
}
"""The most basic trouble first: it decides the exit code."""
Workflows = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that was looked at, what was found, and what to do about it."""

    name: str
    state: State
    found: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """What the server says of this account, as far as this box is concerned."""

    controller_id: str
    workflows: Workflows
    schedule: Schedule | None


def exit_code(rows: Iterable[Row]) -> ExitCode:
    """0: all is well; 2: a file is wrong; 4: the server can't be asked; 1: something will never run."""
    states = {row.state for row in rows}
    return next((code for state, code in EXIT.items() if state in states), ExitCode.OK)


def check_rows(settings: Settings, client: ServerClient, controller_id: str, now: datetime) -> Iterator[Row]:
    """Yield every row. Nothing is run, and nothing changes but the server's note of the last contact."""
    catalog = yield from _catalog_rows(settings)
    told = yield from _server_rows(settings, client, controller_id)
    if catalog is None:
        return
    for entry in catalog.jobs.values():
        yield _job_row(entry, told, now)
        yield from (Row(_name(entry), "never", f"it would fail now: {why}") for why in preflight(entry))
    if told is not None:
        yield from _strangers(catalog.jobs, told)


def _catalog_rows(settings: Settings) -> Generator[Row, None, Catalog | None]:
    path = settings.job_catalog
    try:
        catalog = load_catalog(path)
    except CatalogError as error:
        yield Row("catalog", "config", error.message)
        return None
    if catalog.jobs:
        yield Row("catalog", "ok", f"{path} holds {len(catalog.jobs)} jobs")
    else:
        yield Row("catalog", "never", f"{path} holds no job", "`async-energy-controller register` writes one")
    yield from (Row("catalog", "note", warning) for warning in catalog.warnings)
    return catalog


def _server_rows(settings: Settings, client: ServerClient, controller_id: str) -> Generator[Row, None, Told | None]:
    url = settings.api_url
    try:
        workflows = client.workflows()
        yield Row("credentials", "ok", f"{url} knows you; this box is {controller_id}")
        schedule = client.schedule(-1, controller_id=controller_id)
    except NotLoggedIn as error:
        yield Row("credentials", "server", error.message)
        return None
    except ServerError as error:
        yield Row("server", "server", error.message, "the loop goes on with the schedule that it has, and asks again")
        return None
    yield from _schedule_rows(schedule)
    return Told(controller_id, {str(workflow.get("id")): workflow for workflow in workflows}, schedule)


def _schedule_rows(schedule: Schedule | None) -> Iterator[Row]:
    if schedule is None:
        yield Row("schedule", "note", "there is none yet", "the server makes one within minutes of a first workflow")
        return
    words = f"version {schedule.version}, {len(schedule.placements)} placements, prices known until "
    degraded = "; made with forecast or stale prices" if schedule.degraded else ""
    yield Row("schedule", "ok", f"{words}{schedule.valid_until.astimezone():%Y-%m-%d %H:%M}{degraded}")
    yield from (Row("schedule", "note", warning) for warning in schedule.warnings)


def _job_row(entry: JobEntry, told: Told | None, now: datetime) -> Row:
    """Whether one job of the catalog will run, and when next."""
    if entry.max_runs_per_day == 0:
        return Row(_name(entry), "never", "max_runs_per_day is 0", "raise it in the catalog")
    if told is None:
        return Row(_name(entry), "note", "the server could not be asked about it")
    workflow = told.workflows.get(entry.workflow_id)
    if workflow is None:
        advice = "correct the id in the catalog, or register the job again"
        return Row(_name(entry), "never", f"the server has no workflow {entry.workflow_id} of yours", advice)
    return _switched(entry, workflow, told) or _planned(entry, workflow, told, now)


def _switched(entry: JobEntry, workflow: Mapping[str, Any], told: Told) -> Row | None:
    """What keeps a workflow from ever being planned for this box."""
    if workflow.get("enabled") is False:
        return Row(_name(entry), "never", "it is switched off at the server", "switch it on there")
    box = workflow.get("controller_id")
    if box not in (None, told.controller_id):
        return Row(
            _name(entry),
            "never",
            f"it is planned for the box {box}, and this one is {told.controller_id}",
            f"set CONTROLLER_ID={box} here, or register the job here",
        )
    return None


def _planned(entry: JobEntry, workflow: Mapping[str, Any], told: Told, now: datetime) -> Row:
    schedule = told.schedule
    slots = list(slots_of(schedule, told.controller_id)) if schedule else []
    slots = [slot for slot in slots if slot.placement.workflow_id == entry.workflow_id]
    ahead = sorted((slot for slot in slots if slot.latest >= now), key=lambda slot: slot.start)
    if ahead:
        why = why_never(ahead[0], entry)
        planned = f"planned for {wall_time(ahead[0].start, now)}"
        return Row(_name(entry), "never", f"{planned}, but {why}") if why else Row(_name(entry), "ok", planned)
    unplaced = [one for one in schedule.unplaced if one.workflow_id == entry.workflow_id] if schedule else []
    if unplaced:
        return Row(_name(entry), "never", f"it finds no time: {unplaced[0].reason}", unplaced[0].smallest_change or "")
    return _unplanned(entry, workflow)


def _unplanned(entry: JobEntry, workflow: Mapping[str, Any]) -> Row:
    window = workflow.get("next_window")
    if not isinstance(window, Mapping):
        advice = "give it a recurrence, or say `run now` at the server"
        return Row(_name(entry), "never", "it was wanted once, and that is over", advice)
    wanted = f"wanted between {window.get('earliest_start')} and {window.get('deadline')}"
    return Row(_name(entry), "ok", f"{wanted}; it gets its time when that is near")


def _strangers(jobs: Mapping[str, JobEntry], told: Told) -> Iterator[Row]:
    """Workflows of the account that this box skips; those that are planned for it alone will never run."""
    for workflow_id, workflow in told.workflows.items():
        box, name = workflow.get("controller_id"), str(workflow.get("name") or workflow_id)
        if workflow_id in jobs or workflow.get("enabled") is False or box not in (None, told.controller_id):
            continue
        found = f"the catalog has no entry for its workflow {workflow_id}"
        if box is None:
            yield Row(name, "note", f"{found}: this box skips it, another may run it")
        else:
            yield Row(name, "never", f"{found}, and it is planned for this box alone", "write the entry, or delete it")


def _name(entry: JobEntry) -> str:
    return entry.name or entry.workflow_id
