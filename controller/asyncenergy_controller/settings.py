"""What a person may set. A flag wins over the environment, the environment over config.toml, that over the default."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import platformdirs
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from asyncenergy_controller.errors import ControllerError, ExitCode

APP_NAME = "async-energy"
ENV_PREFIX = "ASYNCENERGY_"
CONFIG_FILE = "config.toml"
JOBS_FILE = "jobs.json"
SECRETS = frozenset({"api_key", "password", "engine_api_key", "wall_secret"})
DEPLOYED_NAMES = {
    "HM_ASYNC_API_URL": "api_url",
    "HM_ASYNC_EMAIL": "email",
    "HM_ASYNC_PASSWORD": "password",
    "HM_ASYNC_API_KEY": "api_key",
    "CONTROLLER_ID": "controller_id",
    "HM_ASYNC_JOB_CATALOG": "job_catalog",
    "BENCH_OPTIN": "bench_optin",
    "APPLY_POWER_CAP": "apply_power_cap",
    "POWER_CAP_POLICY": "power_cap_policy",
}
"""Variables of controllers in the field: read as well, below our own."""


class SettingsError(ControllerError):
    """A setting that can't be read; the message names it and says where it came from."""

    exit_code = ExitCode.USAGE


def _default_config_dir() -> Path:
    return platformdirs.user_config_path(APP_NAME)


def _default_data_dir() -> Path:
    return platformdirs.user_data_path(APP_NAME)


def _default_state_dir() -> Path:
    """One for the whole machine's user, whatever --data-dir says: a journal must be found at every start."""
    return platformdirs.user_state_path(APP_NAME)


class Settings(BaseSettings):
    """One line a setting; `description` is what `async-energy-controller config` prints."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_ignore_empty=True, extra="forbid", frozen=True, protected_namespaces=()
    )

    api_url: str = Field("http://127.0.0.1:8000", description="the Async Energy server")
    api_key: SecretStr | None = Field(None, description="API key of your account (ae_...)")
    email: str | None = Field(None, description="e-mail of your account, for login")
    password: SecretStr | None = Field(None, description="password of your account, for login")
    server_timeout_s: float = Field(30.0, gt=0, description="time limit of one call to the server, seconds")
    engine_url: str | None = Field(None, description="the inference engine; empty: look at the usual local ports")
    engine_api_key: SecretStr | None = Field(None, description="key the engine asks for, if it does")
    model: str | None = Field(None, description="model to ask; empty: the one the engine serves")
    request_timeout_s: float = Field(300.0, gt=0, description="time limit of one question to the engine, seconds")
    meter: str = Field("auto", description="auto, nvml, rapl, simulated, null, ...")
    device: str | None = Field(None, description="which GPU: an index, GPU-... or MIG-...")
    wall: str | None = Field(None, description="wall plug: shelly:ADDRESS, tasmota:ADDRESS, ... (KIND:ADDRESS#CHANNEL)")
    wall_secret: SecretStr | None = Field(None, description="password or token of the plug, if it has one")
    sample_period_s: float = Field(0.2, ge=0.05, description="seconds between two readings of the meter")
    lead_in_s: float = Field(2.0, ge=0, description="seconds metered before the first and after the last question")
    idle_s: float = Field(10.0, ge=0, description="seconds metered of the waiting card before each task")
    dataset_dir: Path | None = Field(None, description="where data sets lie, for machines without network")
    data_dir: Path = Field(default_factory=_default_data_dir, description="runs and uploads")
    state_dir: Path = Field(
        default_factory=_default_state_dir, description="what has run, what waits to be sent, logs, changed GPU limits"
    )
    config_dir: Path = Field(
        default_factory=_default_config_dir, description="config.toml, jobs.json, consent, login, salt"
    )
    controller_id: str | None = Field(
        None,
        pattern=r"^[^\x00-\x1f\x7f]{1,120}$",
        description="name of this machine at the server; empty: a random one, made once",
    )
    job_catalog: Path = Field(
        default_factory=lambda others: others["config_dir"] / JOBS_FILE, description="the jobs that may run here"
    )
    poll_interval_s: float = Field(60.0, gt=0, description="seconds between two looks at the schedule")
    spool_max_mb: float = Field(
        200.0,
        ge=1,
        description="records and samples that wait for the server, megabytes; oldest samples thin out first",
    )
    apply_power_cap: bool = Field(False, description="apply the power cap that the server recommends around a job")
    power_cap_policy: Literal["preserve", "managed"] = Field(
        "preserve", description="after a cap: the limit that was found, or (managed) the factory default"
    )
    bench_optin: bool | None = Field(
        None, description="false: `bench submit` sends nothing; true does not replace `bench opt-in`"
    )

    @property
    def power_journal_dir(self) -> Path:
        return self.state_dir / "power"

    @property
    def history_path(self) -> Path:
        """What has run, so that a restart never runs it twice."""
        return self.state_dir / "history.sqlite3"

    @property
    def job_log_dir(self) -> Path:
        """Output of the jobs."""
        return self.state_dir / "logs"

    @field_validator("api_url", "engine_url")
    @classmethod
    def _is_http(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            raise ValueError(f"{value!r} is no http:// or https:// address")
        if value is not None and not _has_host(value):
            raise ValueError(f"{value!r} names no host, or no number as its port")
        return value.rstrip("/") if value else value

    @field_validator("api_key", "engine_api_key")
    @classmethod
    def _fits_a_header(cls, value: SecretStr | None) -> SecretStr | None:
        if value and not fits_header(value.get_secret_value()):
            raise ValueError("a key has plain characters only, and no space around it")
        return value

    @field_validator("data_dir", "config_dir", "state_dir", "dataset_dir", "job_catalog")
    @classmethod
    def _expand(cls, value: Path | None) -> Path | None:
        return value.expanduser() if value else value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, _DeployedNames(settings_cls), _config_file(init_settings())


class _DeployedNames(PydanticBaseSettingsSource):
    """The environment as deployed controllers name it."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        variable = _deployed_name(field_name)
        return (os.environ.get(variable) if variable else None), field_name, False

    def __call__(self) -> dict[str, Any]:
        values = {name: self.get_field_value(field, name)[0] for name, field in Settings.model_fields.items()}
        return {name: value for name, value in values.items() if value}


def fits_header(value: str) -> bool:
    """Whether a header of HTTP carries it unchanged."""
    return value.isascii() and value.isprintable() and value == value.strip()


def _has_host(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return bool(parts.hostname and parts.port != 0)
    except ValueError:
        return False


def _config_file(flags: Mapping[str, Any]) -> TomlConfigSettingsSource:
    """The file in `config_dir`, which is looked up first."""
    chosen = flags.get("config_dir") or os.environ.get(f"{ENV_PREFIX}CONFIG_DIR") or _default_config_dir()
    return TomlConfigSettingsSource(Settings, toml_file=Path(chosen).expanduser() / CONFIG_FILE)


def _deployed_name(setting: str) -> str | None:
    return next((variable for variable, name in DEPLOYED_NAMES.items() if name == setting), None)


def load_settings(**flags: Any) -> Settings:
    """Read every source; a flag of None was not given. Raises SettingsError."""
    try:
        return Settings(**{name: value for name, value in flags.items() if value is not None})
    except ValidationError as error:
        raise SettingsError("\n".join(map(_sentence, filter(_is_the_cause, error.errors())))) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{CONFIG_FILE} can't be read: {error}. Correct that line or remove the file.") from error


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value came from."""

    kind: Literal["flag", "environment", "file", "default"]
    name: str | None
    """The flag, the variable or the file; None for a default."""


def origins(**flags: Any) -> dict[str, Origin]:
    """Say for each setting what decided its value, by the ranks of `load_settings`."""
    given = {name for name, value in flags.items() if value is not None}
    own, deployed = EnvSettingsSource(Settings)(), _DeployedNames(Settings)()
    file = _config_file(flags)
    written = file()

    def origin(name: str) -> Origin:
        if name in given:
            return Origin("flag", _flag(name))
        if name in own:
            return Origin("environment", _variable(name))
        if name in deployed:
            return Origin("environment", _deployed_name(name))
        return Origin("file", str(file.toml_file_path)) if name in written else Origin("default", None)

    return {name: origin(name) for name in Settings.model_fields}


def revealed(secret: SecretStr | None) -> str | None:
    """The secret itself, for the one call that needs it."""
    return secret.get_secret_value() if secret else None


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _variable(name: str) -> str:
    return f"{ENV_PREFIX}{name.upper()}"


def _is_the_cause(place: Any) -> bool:
    """Not of a default that follows another setting: that one is said."""
    return bool(place["type"] != "default_factory_not_called")


def _sentence(place: Any) -> str:
    name = ".".join(map(str, place["loc"]))
    if place["type"] == "extra_forbidden":
        return f"{CONFIG_FILE} holds the unknown setting {name!r}; known are: {', '.join(Settings.model_fields)}."
    shown = "" if name in SECRETS else f" ({place['input']!r} was given)"
    variables = " or ".join(filter(None, [_variable(name), _deployed_name(name)]))
    return f"{name}: {place['msg']}{shown}. It is set by {variables} or {CONFIG_FILE}."
