"""One job of jobs.json, checked. Every value in it was written on this machine."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    SecretStr,
    Strict,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from asyncenergy_controller.jobs.hours import AllowedHours
from asyncenergy_controller.jobs.words import split_command

Framework = Literal["command", "ollama", "openai", "charge"]
Recurrence = Literal["none", "daily", "weekly"]
SPARE_RUNS = 2
"""Runs a day that every job may have besides those its recurrence needs: a first one, or repeats after a failure."""


def _resolved(path: Path, info: ValidationInfo) -> Path:
    """Relative to the folder of jobs.json, which the validation context names."""
    folder: Path = (info.context or {}).get("folder", Path.home())
    return folder / path.expanduser()


LocalPath = Annotated[Path, AfterValidator(_resolved)]
Seconds = Annotated[float, Strict(), Field(gt=0, le=31 * 86400, allow_inf_nan=False)]
Text = Annotated[str, StringConstraints(min_length=1, pattern=r"^[^\x00]+$")]
Hours = Annotated[
    AllowedHours,
    BeforeValidator(lambda value: value if isinstance(value, AllowedHours) else AllowedHours.parse(value)),
    PlainSerializer(lambda hours: [str(span) for span in hours.spans]),
]


class _Strict(BaseModel):
    """Unknown keys are mistakes; keys that begin with `_` are remarks."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, arbitrary_types_allowed=True, validate_by_name=True, serialize_by_alias=False
    )

    @model_validator(mode="before")
    @classmethod
    def _without_remarks(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: part for key, part in value.items() if not str(key).startswith("_")}


class _Request(_Strict):
    """`timeout` in the file, in seconds; the end of the window holds as well, whichever comes first."""

    timeout_s: Seconds | None = Field(None, validation_alias=AliasChoices("timeout", "timeout_s"))


class CommandRequest(_Request):
    """A program of this machine and its arguments. No shell comes between."""

    command: tuple[Text, ...]
    cwd: LocalPath = Field(default_factory=Path.home)
    env: dict[Text, str] = Field(default_factory=dict)
    work_units: Annotated[float, Strict(), Field(ge=0, allow_inf_nan=False)] | None = None
    """How much work one run does, as its owner knows; nobody else can."""
    work_unit_kind: Annotated[str, StringConstraints(min_length=1, max_length=40)] = "units"
    cost_features: dict[str, Any] = Field(default_factory=dict)
    """What else its cost depends on, for the fingerprint."""

    @field_validator("command", mode="before")
    @classmethod
    def _words(cls, value: Any) -> Any:
        return split_command(value) if isinstance(value, str) else value

    @field_validator("command")
    @classmethod
    def _is_something(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value:
            raise ValueError("the command is empty")
        return value

    @field_validator("env")
    @classmethod
    def _is_environment(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if "=" in name or "\0" in text:
                raise ValueError(f"{name!r} can't be an environment variable")
        return value


class _Prompted(_Request):
    """What a language model is asked: a text, or the file that holds it when the job runs."""

    prompt: str | None = None
    prompt_file: LocalPath | None = None
    messages: list[dict[str, str]] | None = None
    """A whole conversation, where more than a text is needed."""
    system: str | None = None
    output_file: LocalPath | None = None
    """Where the answer is put, whole; the log keeps at most its beginning and its end."""
    stream: Annotated[bool, Strict()] = True

    @field_validator("messages")
    @classmethod
    def _ends_with_a_question(cls, value: list[dict[str, str]] | None) -> list[dict[str, str]] | None:
        for message in value or ():
            if set(message) != {"role", "content"}:
                raise ValueError("a message has role and content, and nothing else")
        if value and not value[-1]["content"].strip():
            raise ValueError("the last message is empty")
        return value

    @model_validator(mode="after")
    def _asks_one_thing(self) -> Self:
        given = [name for name in ("prompt", "prompt_file", "messages") if getattr(self, name, None)]
        if len(given) != 1:
            raise ValueError(
                f"exactly one of prompt, prompt_file and messages is needed, and not empty; {len(given)} were given"
            )
        return self


class OllamaRequest(_Prompted):
    """One question to Ollama's own API."""

    model: Text
    url: str = Field("http://127.0.0.1:11434", pattern=r"^https?://", validation_alias=AliasChoices("base_url", "url"))
    options: dict[str, Any] = Field(default_factory=dict)
    think: bool | str | None = None
    keep_alive: str | int | None = None


class OpenAIRequest(_Prompted):
    """One question to any OpenAI-compatible server."""

    model: Text | None = None
    url: str = Field("http://127.0.0.1:8000", pattern=r"^https?://", validation_alias=AliasChoices("base_url", "url"))
    api_key: SecretStr | None = None
    max_tokens: Annotated[int, Strict(), Field(ge=1)] = 4096
    temperature: Annotated[float, Strict(), Field(ge=0, le=5)] = 0.0
    top_p: Annotated[float, Strict(), Field(gt=0, le=1)] | None = None
    n: Annotated[int, Strict(), Field(ge=1)] | None = None
    seed: Annotated[int, Strict()] | None = None
    stop: tuple[str, ...] = ()
    reasoning_effort: str | None = None

    @field_validator("api_key")
    @classmethod
    def _fits_a_header(cls, value: SecretStr | None) -> SecretStr | None:
        key = value.get_secret_value() if value else ""
        if not (key.isascii() and key.isprintable()):
            raise ValueError("a key has plain characters only")
        return value


class ChargeRequest(_Strict):
    """A plug held on for a time or until an amount; `switch` is written as `--wall` is."""

    switch: Text
    secret: SecretStr | None = None
    hold_s: Seconds | None = None
    until_wh: Annotated[float, Strict(), Field(gt=0, allow_inf_nan=False)] | None = None
    energy_entity: Text | None = None
    """Home Assistant's sensor of the energy in total; other plugs have their own counter."""

    @model_validator(mode="after")
    def _has_one_end(self) -> Self:
        if (self.hold_s is None) == (self.until_wh is None):
            raise ValueError("give either hold_s (seconds) or until_wh (watt-hours)")
        return self


Request = CommandRequest | OllamaRequest | OpenAIRequest | ChargeRequest
REQUESTS: dict[str, type[Request]] = {
    "command": CommandRequest,
    "ollama": OllamaRequest,
    "openai": OpenAIRequest,
    "charge": ChargeRequest,
}


def _default_runs(given: dict[str, Any]) -> int:
    return SPARE_RUNS + int(given.get("recurrence", "none") != "none")


class JobEntry(_Strict):
    """What this machine does for one workflow of the server."""

    workflow_id: Text
    name: str = ""
    framework: Framework
    request: Request
    recurrence: Recurrence = "none"
    max_runs_per_day: Annotated[int, Strict(), Field(ge=0, le=1440)] = Field(default_factory=_default_runs)
    allowed_hours: Hours | None = None
    interruptible: Annotated[bool, Strict()] = False

    @model_validator(mode="after")
    def _asks_what_it_can(self) -> Self:
        if not isinstance(self.request, REQUESTS[self.framework]):
            raise ValueError(f"the request is none for {self.framework}")
        return self
