"""Options that several commands share, and the decorator that gives them to a command."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from asyncenergy_controller.cli.healing import heal
from asyncenergy_controller.settings import Settings, load_settings

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@dataclass(frozen=True)
class Common:
    """Options of every command that reads settings."""

    data_dir: Annotated[Path | None, typer.Option(help="Where runs and uploads are kept.")] = None
    config_dir: Annotated[Path | None, typer.Option(help="Where config.toml, consent and login are kept.")] = None
    api_url: Annotated[str | None, typer.Option(help="The Async Energy server.")] = None

    def settings(self, ctx: typer.Context) -> Settings:
        """Settings with the command's own options before the global ones."""
        settings = load_settings(**self.given(ctx))
        if self.config_dir is not None:  # it may name another state_dir, in which nobody has looked yet
            heal(settings)
        return settings

    def given(self, ctx: typer.Context) -> dict[str, Any]:
        """What flags say of settings; None where a flag was not given."""
        own = {field.name: getattr(self, field.name) for field in fields(self) if field.name in Settings.model_fields}
        return (ctx.obj or {}) | {name: value for name, value in own.items() if value is not None}


@dataclass(frozen=True)
class Machine(Common):
    """Options that say which engine and which meter."""

    engine_url: Annotated[str | None, typer.Option(help="The inference engine; looked for if not given.")] = None
    model: Annotated[str | None, typer.Option(help="Model to ask, as the engine names it.")] = None
    meter: Annotated[str | None, typer.Option(help="auto, nvml, nvidia-smi, amd, apple, rapl, simulated, null.")] = None
    device: Annotated[str | None, typer.Option(help="GPU by index, GPU-... or MIG-...")] = None
    wall: Annotated[str | None, typer.Option(help="Wall plug to read as well: shelly:192.168.1.20, ...")] = None
    dataset_dir: Annotated[Path | None, typer.Option(help="Where data sets lie, for work without network.")] = None


@dataclass(frozen=True)
class Measuring(Machine):
    """Options of every command that asks questions."""

    items: Annotated[str | None, typer.Option(help="Questions per task: a number, or 'small'.")] = None
    seed: Annotated[int | None, typer.Option(help="Chooses questions and their order.")] = None
    concurrency: Annotated[int | None, typer.Option(min=1, max=4096, help="Questions in flight at a time.")] = None
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Output cap per question.")] = None
    time_limit: Annotated[float | None, typer.Option(min=0.1, help="Seconds; what is finished by then is kept.")] = None
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the last unfinished run of this suite.")] = False
    submit: Annotated[bool, typer.Option("--submit", help="Submit the bundle afterwards (needs opt-in).")] = False
    json: Json = False


def takes(options: type[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a dataclass; it receives one instance of it in its parameter of that type."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def wrapper(**given: Any) -> None:
            shared = {field.name: given.pop(field.name) for field in fields(options)}
            command(**given, **{taker.name: options(**shared)})

        parameters = list(inspect.signature(command).parameters.values())
        taker = next(p for p in parameters if p.annotation is options)
        hints = get_type_hints(options, include_extras=True)
        own = [p for p in parameters if p is not taker]
        shared = [
            inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
            )
            for field in fields(options)
        ]
        positional = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]
        wrapper.__signature__ = inspect.Signature(positional + shared)  # type: ignore[attr-defined]  # read by typer
        wrapper.__annotations__ = {p.name: p.annotation for p in positional + shared}
        return wrapper

    return decorate
