"""`systemctl` and `loginctl` on PATH: they remember what they were asked and answer what a test tells them to."""

from dataclasses import dataclass
from pathlib import Path

SCRIPT = """#!/bin/sh
echo "{name} $*" >> "{folder}/asked"
key="$*"
for answer in "{folder}"/{name}.*; do
    [ -e "$answer" ] || continue
    words=$(cat "$answer/words")
    case " $key " in
        *" $words "*)
            cat "$answer/stdout"
            cat "$answer/stderr" >&2
            exit "$(cat "$answer/code")" ;;
    esac
done
exit 0
"""
RUNNING = {
    "LoadState": "loaded",
    "UnitFileState": "enabled",
    "ActiveState": "active",
    "SubState": "running",
    "Result": "success",
    "ExecMainStatus": "0",
    "NRestarts": "0",
    "ActiveEnterTimestamp": "Tue 2026-12-01 02:00:00 UTC",
    "NeedDaemonReload": "no",
}


@dataclass
class FakeSystemd:
    """A machine whose systemd is well, until told otherwise."""

    folder: Path

    def __post_init__(self):
        self.folder.mkdir()
        for name in ("systemctl", "loginctl"):
            script = self.folder / name
            script.write_text(SCRIPT.format(name=name, folder=self.folder))
            script.chmod(0o755)
        self.will("systemctl", "is-system-running", "running\n")
        self.knows(**RUNNING)
        self.will("loginctl", "show-user", "yes\n")

    def will(self, name, words, stdout="", stderr="", code=0):
        """Answer a call whose arguments hold `words`, one after the other, in this way from now on."""
        answer = self.folder / f"{name}.{words.replace(' ', '_')}"
        answer.mkdir(exist_ok=True)
        for part, text in {"words": words, "stdout": stdout, "stderr": stderr, "code": str(code)}.items():
            (answer / part).write_text(text)

    def knows(self, **properties):
        lines = "".join(f"{name}={value}\n" for name, value in (RUNNING | properties).items())
        self.will("systemctl", "show async-energy-controller.service", lines)

    @property
    def asked(self):
        path = self.folder / "asked"
        return path.read_text().splitlines() if path.exists() else []
