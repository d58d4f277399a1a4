"""What a person may set. A flag wins over the environment, the environment over config.toml, that over the default."""

import os
import tomllib
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from asyncenergy_controller.errors import ControllerError, ExitCode

APP_NAME = "async-energy"
ENV_PREFIX = "ASYNCENERGY_"
CONFIG_FILE = "config.toml"
SECRETS = frozenset({"api_key", "password", "engine_api_key", "wall_secret"})


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

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, extra="forbid", frozen=True, protected_namespaces=())

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
    state_dir: Path = Field(default_factory=_default_state_dir, description="journal of changed GPU limits")
    config_dir: Path = Field(default_factory=_default_config_dir, description="config.toml, consent, login, salt")

    @property
    def power_journal_dir(self) -> Path:
        return self.state_dir / "power"

    @field_validator("api_url", "engine_url")
    @classmethod
    def _is_http(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            raise ValueError(f"{value!r} is no http:// or https:// address")
        return value.rstrip("/") if value else value

    @field_validator("data_dir", "config_dir", "state_dir", "dataset_dir")
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
        """`config_dir` is looked up first: it says which file to read."""
        chosen = init_settings().get("config_dir") or os.environ.get(f"{ENV_PREFIX}CONFIG_DIR") or _default_config_dir()
        file = TomlConfigSettingsSource(settings_cls, toml_file=Path(chosen).expanduser() / CONFIG_FILE)
        return init_settings, env_settings, file


def load_settings(**flags: Any) -> Settings:
    """Read every source; a flag of None was not given. Raises SettingsError."""
    try:
        return Settings(**{name: value for name, value in flags.items() if value is not None})
    except ValidationError as error:
        raise SettingsError("\n".join(_sentence(place) for place in error.errors())) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{CONFIG_FILE} can't be read: {error}. Correct that line or remove the file.") from error


def revealed(secret: SecretStr | None) -> str | None:
    """The secret itself, for the one call that needs it."""
    return secret.get_secret_value() if secret else None


def _sentence(place: Any) -> str:
    name = ".".join(map(str, place["loc"]))
    flag, variable = f"--{name.replace('_', '-')}", f"{ENV_PREFIX}{name.upper()}"
    if place["type"] == "extra_forbidden":
        return f"{CONFIG_FILE} holds the unknown setting {name!r}; known are: {', '.join(Settings.model_fields)}."
    shown = "" if name in SECRETS else f" ({place['input']!r} was given)"
    return f"{name}: {place['msg']}{shown}. It is set by {flag}, {variable} or {CONFIG_FILE}."
