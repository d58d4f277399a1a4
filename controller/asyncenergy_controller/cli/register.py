"""`register`: one workflow at the server and its job on this machine."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from asyncenergy_controller.cli.console import say, show, show_json
from asyncenergy_controller.cli.options import Common, Json, takes
from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.identity import controller_id
from asyncenergy_controller.jobs.registration import Registered, Registration
from asyncenergy_controller.jobs.registration import register as register_job
from asyncenergy_controller.server import ServerClient
from asyncenergy_controller.settings import Settings


class Framework(StrEnum):
    COMMAND = "command"
    OLLAMA = "ollama"
    OPENAI = "openai"
    CHARGE = "charge"


class Recurrence(StrEnum):
    NONE = "none"
    DAILY = "daily"
    WEEKLY = "weekly"


Words = Annotated[list[str] | None, typer.Argument(metavar="[-- PROGRAM ARGUMENT...]", help="The command, as a list.")]


@dataclass(frozen=True)
class Planning(Common):
    """Where the job is written, and what the server is told."""

    job_catalog: Annotated[Path | None, typer.Option(help="The jobs.json to write to.")] = None
    deadline: Annotated[str | None, typer.Option(help="When it must be done: 'by 7am', 'tomorrow 18:00'.")] = None
    earliest_start: Annotated[str | None, typer.Option(help="Not before: '22:00', 'in 2 h'.")] = None
    recurrence: Annotated[Recurrence, typer.Option(help="How often it comes back.")] = Recurrence.NONE
    est_duration: Annotated[float | None, typer.Option(min=1, help="How long it takes, seconds.")] = None
    nameplate_watts: Annotated[float | None, typer.Option(min=0.001, help="What it draws at most, watts.")] = None
    interruptible: Annotated[bool, typer.Option("--interruptible", help="It may run in pieces.")] = False
    min_run: Annotated[float | None, typer.Option(min=0, help="Shortest piece, seconds.")] = None
    restart_wh: Annotated[float | None, typer.Option(min=0, help="What a restart costs, watt-hours.")] = None
    priority: Annotated[int | None, typer.Option(help="Larger goes first.")] = None

    def about(self, name: str, controller: str) -> dict[str, Any]:
        """As the API names it, without what was not said."""
        said = {
            "name": name,
            "deadline": self.deadline,
            "earliest_start": self.earliest_start,
            "recurrence": self.recurrence.value,
            "est_duration_s": self.est_duration,
            "nameplate_watts": self.nameplate_watts,
            "interruptible": self.interruptible or None,
            "min_run_s": self.min_run,
            "restart_wh": self.restart_wh,
            "priority": self.priority,
            "controller_id": controller,
        }
        return _said(said)


@dataclass(frozen=True)
class Job(Planning):
    """What stands in jobs.json alone."""

    framework: Annotated[Framework, typer.Option(help="What kind of job it is.")] = Framework.COMMAND
    command: Annotated[str | None, typer.Option(help="The command in one string; no shell runs it.")] = None
    cwd: Annotated[Path | None, typer.Option(help="Folder it runs in; your home if not given.")] = None
    env: Annotated[list[str] | None, typer.Option(help="NAME=VALUE for its environment; may be repeated.")] = None
    url: Annotated[str | None, typer.Option(help="The engine, for ollama and openai.")] = None
    model: Annotated[str | None, typer.Option(help="Model to ask.")] = None
    prompt: Annotated[str | None, typer.Option(help="What to ask.")] = None
    prompt_file: Annotated[Path | None, typer.Option(help="File that holds what to ask when the job runs.")] = None
    output_file: Annotated[Path | None, typer.Option(help="File that gets the answer.")] = None
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Output cap, for openai.")] = None
    switch: Annotated[str | None, typer.Option(help="Plug of a charge: shelly:192.168.1.20, ...")] = None
    secret: Annotated[str | None, typer.Option(help="Password or token of the plug.")] = None
    energy_entity: Annotated[str | None, typer.Option(help="Home Assistant's sensor of the energy.")] = None
    hold: Annotated[float | None, typer.Option(min=1, help="Hold the plug on so long, seconds.")] = None
    until_wh: Annotated[float | None, typer.Option(help="Hold it on until so much, watt-hours.")] = None
    timeout: Annotated[float | None, typer.Option(help="Time limit within its window, seconds.")] = None
    max_runs_per_day: Annotated[int | None, typer.Option(min=0, help="Never more often, whatever is planned.")] = None
    allowed_hours: Annotated[list[str] | None, typer.Option(help="Only then: 22:00-06:00; may be repeated.")] = None

    def entry(self, name: str, words: list[str] | None) -> dict[str, Any]:
        """As jobs.json has it, without what was not said."""
        said = {
            "name": name,
            "framework": self.framework.value,
            "request": _said(self._request(words)),
            "recurrence": None if self.recurrence is Recurrence.NONE else self.recurrence.value,
            "max_runs_per_day": self.max_runs_per_day,
            "allowed_hours": self.allowed_hours or None,
            "interruptible": self.interruptible or None,
        }
        return _said(said)

    def _request(self, words: list[str] | None) -> dict[str, Any]:
        if words and self.command:
            raise UsageError("Give the command once: with --command, or behind --.")
        return {
            "command": words or self.command,
            "cwd": _absolute(self.cwd),
            "env": dict(_pair(text) for text in self.env or ()) or None,
            "base_url": self.url,
            "model": self.model,
            "prompt": self.prompt,
            "prompt_file": _absolute(self.prompt_file),
            "output_file": _absolute(self.output_file),
            "max_tokens": self.max_tokens,
            "switch": self.switch,
            "secret": self.secret,
            "energy_entity": self.energy_entity,
            "hold_s": self.hold,
            "until_wh": self.until_wh,
            "timeout": self.timeout,
        }


@takes(Job)
def register(
    ctx: typer.Context,
    options: Job,
    name: Annotated[str, typer.Option(help="What you call it; the server is told.")],
    words: Words = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be sent and written, and do neither.")
    ] = False,
    share_request: Annotated[
        bool, typer.Option("--share-request", help="Your account keeps a copy of what runs, without secrets.")
    ] = False,
    json: Json = False,
) -> None:
    """Make a workflow at the server and write its job into jobs.json. What runs stays on this machine."""
    settings = options.settings(ctx)
    registration = Registration(
        path=settings.job_catalog,
        entry=options.entry(name, words),
        about=options.about(name, controller_id(settings)),
        share_request=share_request,
    )
    _warn(registration, ask=not dry_run)
    if dry_run:
        _show_plan(registration, json=json)
        return
    registered = _registered(registration, settings)
    if json:
        show_json({"id": registered.workflow_id, "job_catalog": str(settings.job_catalog)})
        return
    show(f"Registered {name} as {registered.workflow_id}; its job is in {settings.job_catalog}.")
    if registered.next_window:
        first, last = (f"{instant.astimezone():%a %d %b %H:%M}" for instant in registered.next_window)
        show(f"It may run from {first} and must be done by {last}, by the clock of this machine.")


def _registered(registration: Registration, settings: Settings) -> Registered:
    with ServerClient(settings) as server:
        return register_job(registration, server.register_workflow, settings.state_dir, settings.api_url)


def _warn(registration: Registration, *, ask: bool) -> None:
    """What would make it fail now may be put right before it runs, so it stops nothing."""
    from asyncenergy_controller.adapters import preflight  # loads clients that no other command needs

    job = registration.checked()
    for sentence in preflight(job) if ask else ():
        say(f"It would fail now: {sentence}")
    if hints := registration.hints():
        say(f"It finds no time before it has run once, because the server isn't told {' and '.join(hints)}.")


def _show_plan(registration: Registration, *, json: bool) -> None:
    body, entry = registration.body(), dict(registration.entry)
    if json:
        show_json({"sent": body, "written": entry, "job_catalog": str(registration.path)})
        return
    say("The server would be told:")
    show_json(body)
    say(f"{registration.path} would get this job:")
    show_json(entry)


def _said(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.expanduser().absolute())


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise UsageError(f"--env {text!r} must be NAME=VALUE.")
    return name, value
