"""What systemd is told: the text of the unit and where it lies."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from asyncenergy_controller.errors import UsageError

Scope = Literal["user", "system"]
NAME = "async-energy-controller.service"
SYSTEM_FOLDER = Path("/etc/systemd/system")
ENVIRONMENT_FILE = "environment"


@dataclass(frozen=True)
class Unit:
    """One unit as it is to be written."""

    scope: Scope
    user: str
    program: tuple[str, ...]
    environment: Mapping[str, str]
    environment_file: Path
    """Variables that only the service reads, one NAME=value a line; it need not exist."""

    @property
    def path(self) -> Path:
        return unit_path(self.scope)

    def text(self) -> str:
        """Raises UsageError where a value can't stand in a unit."""
        template = files("asyncenergy_controller.service").joinpath("units", f"{self.scope}.service")
        return template.read_text(encoding="utf-8").format(
            name=NAME,
            user=self.user,
            program=" ".join(_quoted(part).replace("$", "$$") for part in self.program),
            environment=" ".join(_quoted(f"{name}={value}") for name, value in self.environment.items()),
            environment_file=_escaped(str(self.environment_file)),
        )


def unit_path(scope: Scope) -> Path:
    """Return where the unit lies, whether it is there or not."""
    if scope == "system":
        return SYSTEM_FOLDER / NAME
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd" / "user" / NAME


def _quoted(text: str) -> str:
    escaped = _escaped(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _escaped(text: str) -> str:
    if not text.isprintable():
        raise UsageError(f"{text!r} can't stand in a unit of systemd: use a path or PATH without control characters.")
    return text.replace("%", "%%")
