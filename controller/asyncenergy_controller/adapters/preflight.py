"""What would make a job fail if it ran now."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing

from asyncenergy_controller.adapters.command import environment
from asyncenergy_controller.adapters.ollama import OllamaClient
from asyncenergy_controller.adapters.prompts import messages_of
from asyncenergy_controller.engine import EngineClient
from asyncenergy_controller.errors import ControllerError, UsageError
from asyncenergy_controller.jobs.entry import ChargeRequest, CommandRequest, JobEntry, OllamaRequest, OpenAIRequest
from asyncenergy_controller.meters.plugs.select import open_switch
from asyncenergy_controller.settings import revealed

PROBE_LIMIT_S = 5.0


def preflight(entry: JobEntry) -> list[str]:
    """Return sentences; empty where nothing is known. Each question to an engine or a plug ends after seconds."""
    match entry.request:
        case CommandRequest() as command:
            return list(_command(command))
        case OllamaRequest() as asked:
            return _failures(lambda: messages_of(asked), lambda: _output(asked), lambda: _ollama(asked))
        case OpenAIRequest() as question:
            return _failures(lambda: messages_of(question), lambda: _output(question), lambda: _openai(question))
        case ChargeRequest() as charge:
            return _failures(lambda: _plug(charge))


def _failures(*checks: Callable[[], object]) -> list[str]:
    found: list[str] = []
    for check in checks:
        try:
            check()
        except ControllerError as error:
            found.append(error.message)
    return found


def _command(request: CommandRequest) -> Iterator[str]:
    if not request.cwd.is_dir():
        yield f"cwd {request.cwd} is no folder"
    elif not os.access(request.cwd, os.X_OK):
        yield f"cwd {request.cwd} may not be entered"
    elif _program(request) is None:
        yield f"{request.command[0]} is no program that can be run (in {request.cwd})"


def _program(request: CommandRequest) -> str | None:
    """As the system will look for it: along PATH, or from the folder that the job runs in."""
    name = request.command[0]
    if os.sep in name:
        name = str(request.cwd / name)
    return shutil.which(name, path=environment(request, os.environ).get("PATH", os.defpath))


def _output(request: OllamaRequest | OpenAIRequest) -> None:
    path = request.output_file
    if path is None:
        return
    place = next(folder for folder in path.parents if folder.exists())
    if path.is_dir() or not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        raise UsageError(f"output_file {path} can't be written")


def _ollama(request: OllamaRequest) -> None:
    with OllamaClient(request.url, limit_s=PROBE_LIMIT_S) as ollama:
        _check_offered({request.model, f"{request.model}:latest"}, ollama.models(), request.url)


def _openai(request: OpenAIRequest) -> None:
    with EngineClient(request.url, timeout_s=PROBE_LIMIT_S, api_key=revealed(request.api_key)) as engine:
        _check_offered({request.model or engine.default_model()}, engine.models(), request.url)


def _check_offered(names: set[str], offered: list[str], url: str) -> None:
    if not names & set(offered):
        raise UsageError(f"{url} does not have the model {min(names)!r}; it has {', '.join(offered[:10]) or 'none'}")


def _plug(request: ChargeRequest) -> None:
    with closing(open_switch(request.switch, revealed(request.secret), request.energy_entity)) as switch:
        switch.is_on()
        if request.until_wh is not None:
            switch.energy_wh()
