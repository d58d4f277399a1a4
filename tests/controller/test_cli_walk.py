"""The whole command line: every command has help and stands in the README, and every setting has its sources."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from asyncenergy_controller.cli import app
from asyncenergy_controller.errors import ExitCode
from asyncenergy_controller.settings import Settings
from typer.main import get_command

from tests.controller.bench_cli import Box
from tests.controller.bench_engine import bench_engine

README = Path(__file__).resolve().parents[2] / "controller" / "README.md"


def walk(command, path=()):
    """Yield each command that does something, with its path."""
    if not hasattr(command, "list_commands"):
        yield path, command
        return
    for name in command.list_commands(None):
        yield from walk(command.get_command(None, name), (*path, name))


COMMANDS = dict(walk(get_command(app)))


@pytest.fixture
def box(tmp_path):
    return Box(tmp_path)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_help(box, path):
    result = box.run(*path, "--help")
    assert result.exit_code == 0
    assert COMMANDS[path].help, "a command without a docstring"
    assert COMMANDS[path].help.split(".")[0].split()[0] in result.stdout


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_stands_in_the_readme(path):
    assert re.search(rf"`{' '.join(path)}\b", README.read_text()), f"{' '.join(path)} is not in controller/README.md"


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_option_has_help(path):
    silent = [param.name for param in COMMANDS[path].params if not getattr(param, "help", None)]
    assert silent == []


@pytest.mark.parametrize("code", ExitCode)
def test_every_exit_code_stands_in_the_readme(code):
    assert f"| {code.value} | {code.name} |" in README.read_text()


@pytest.mark.parametrize("reporting", [("bench", "list"), ("version",), ("config",)])
def test_commands_that_report_speak_json(box, reporting):
    assert box.json(*reporting) is not None


def test_an_unknown_command_is_wrong_usage(box):
    assert box.run("bench", "smok").exit_code == ExitCode.USAGE


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("bench", "smoke", "--items", "many"), "many"),
        (("bench", "smoke", "--items", "0"), "0"),
        (("bench", "run", "--set", "novalue"), "novalue"),
        (("bench", "sweep", "--caps", "a,b"), "a,b"),
        (("bench", "sweep", "--clocks", "1500"), "--allow-clock-lock"),
        (("bench", "show", "nonsense"), "nonsense"),
        (("--api-url", "ftp://x", "config"), "ftp://x"),
    ],
)
def test_a_wrong_value_is_named_and_is_wrong_usage(box, arguments, named):
    result = box.run(*arguments)
    assert result.exit_code == ExitCode.USAGE
    assert named in result.stderr


def test_a_flag_wins_over_the_environment_that_over_the_file_that_over_the_default(box, monkeypatch):
    config = box.home / "config"
    config.mkdir()
    (config / "config.toml").write_text('server_timeout_s = 5\nrequest_timeout_s = 6\napi_url = "http://file"\n')
    monkeypatch.setenv("ASYNCENERGY_REQUEST_TIMEOUT_S", "7")
    shown = values(box.json("config", "--api-url", "http://flag"))
    assert (shown["server_timeout_s"], shown["request_timeout_s"], shown["api_url"]) == (5, 7, "http://flag")
    assert shown["meter"] == Settings.model_fields["meter"].default


def test_a_global_option_holds_for_the_command_behind_it(box):
    assert values(box.json("--api-url", "http://global", "config"))["api_url"] == "http://global"
    own = box.json("--api-url", "http://global", "config", "--api-url", "http://own")
    assert values(own)["api_url"] == "http://own"
    assert (own["api_url"]["from"], own["api_url"]["name"]) == ("flag", "--api-url")


def test_config_says_where_each_value_came_from(box, monkeypatch):
    (box.home / "config").mkdir()
    (box.home / "config" / "config.toml").write_text("server_timeout_s = 5\n")
    monkeypatch.setenv("CONTROLLER_ID", "old-box")
    shown = box.json("config")
    assert shown["server_timeout_s"] == {
        "value": 5.0,
        "from": "file",
        "name": str(box.home / "config" / "config.toml"),
    }
    assert shown["controller_id"] == {"value": "old-box", "from": "environment", "name": "CONTROLLER_ID"}
    assert shown["model"] == {"value": None, "from": "default", "name": None}
    rows = {line.split()[1]: line for line in box.run("config").stdout.splitlines() if line.startswith("│ ")}
    assert "config.toml" in rows["server_timeout_s"]
    assert "CONTROLLER_ID" in rows["controller_id"]
    assert set(Settings.model_fields) <= set(rows)


def values(shown):
    return {name: setting["value"] for name, setting in shown.items()}


@pytest.mark.parametrize(
    ("text", "named"), [("typo = 1", "typo"), ("api_url = ", "config.toml"), ('idle_s = "long"', "idle_s")]
)
def test_a_config_file_that_can_not_be_used_is_named(box, text, named):
    (box.home / "config").mkdir()
    (box.home / "config" / "config.toml").write_text(text)
    env = {name: value for name, value in box.env.items() if not name.endswith("IDLE_S")}
    result = box.run("config", env=env)
    assert result.exit_code == ExitCode.USAGE
    assert named in result.stderr


def test_secrets_are_never_shown(box):
    assert "ae_test" not in box.run("config").output
    assert "ae_test" not in box.run("config", "--json").output


def test_an_empty_machine_lists_nothing_and_says_what_to_do(box):
    result = box.run("bench", "list")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "bench smoke" in result.stderr


def test_the_command_line_starts_without_numpy():
    code = "import sys, asyncenergy_controller.cli as c; print(sorted({'numpy', 'scipy', 'pynvml'} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_a_place_that_can_not_be_written_is_named(tmp_path):
    (tmp_path / "data").write_text("a file where a directory should be")
    with bench_engine() as engine:
        result = Box(tmp_path, engine.url).run("bench", "smoke", "--items", 3)
    assert result.exit_code == ExitCode.FAILED
    assert str(tmp_path / "data") in result.stderr
