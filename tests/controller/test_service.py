"""The service: what is written, what is asked of systemd, and what is said where it will not run tonight."""

import getpass
import json
import os
import shutil
import subprocess
import sys

import pytest
from asyncenergy_controller.errors import ExitCode
from asyncenergy_controller.service import systemd, units

from tests.controller.bench_cli import Box
from tests.controller.fake_systemd import FakeSystemd

NAME = "async-energy-controller.service"
ME = getpass.getuser()


@pytest.fixture
def fake(tmp_path):
    return FakeSystemd(tmp_path / "bin")


@pytest.fixture
def box(tmp_path, fake, monkeypatch):
    monkeypatch.setattr(units, "SYSTEM_FOLDER", tmp_path / "etc")
    monkeypatch.setattr(systemd, "RUNTIME_FOLDER", tmp_path / "run-user")
    monkeypatch.delenv("SUDO_USER", raising=False)

    class ServiceBox(Box):
        @property
        def env(self):
            own = {name: value for name, value in super().env.items() if name.endswith("_DIR") or name == "COLUMNS"}
            place = {"PATH": f"{fake.folder}:{os.environ['PATH']}", "XDG_CONFIG_HOME": str(tmp_path / "xdg")}
            return own | place | {"XDG_RUNTIME_DIR": str(tmp_path)}

    return ServiceBox(tmp_path)


@pytest.fixture
def unit(tmp_path):
    return tmp_path / "xdg" / "systemd" / "user" / NAME


def lines(text, key):
    return [line.removeprefix(f"{key}=") for line in text.splitlines() if line.startswith(f"{key}=")]


def states(box, code=0):
    found = box.json("service", "status", code=code)["checks"]
    return {check["name"]: check["state"] for check in found}


def test_install_writes_enables_and_starts_the_unit_and_says_so(box, fake, unit):
    result = box.run("service", "install")
    assert result.exit_code == 0, result.output
    assert lines(unit.read_text(), "ExecStart") == [f'"{sys.executable}" "-m" "asyncenergy_controller" run']
    changes = [line for line in fake.asked if "show" not in line and "is-system" not in line]
    assert changes == [
        "systemctl --user --no-pager daemon-reload",
        f"systemctl --user --no-pager enable {NAME}",
        f"systemctl --user --no-pager restart {NAME}",
    ]
    assert "written, enabled and started" in result.stderr


def test_the_unit_keeps_the_folders_and_the_path_of_the_shell_that_installed_it(box, unit):
    box.run("service", "install")
    environment = lines(unit.read_text(), "Environment")[0]
    for name in ("CONFIG", "DATA", "STATE"):
        assert f'"ASYNCENERGY_{name}_DIR={box.home / name.lower()}"' in environment
    assert f'"PATH={box.env["PATH"]}"' in environment
    assert lines(unit.read_text(), "EnvironmentFile") == [f"-{box.home / 'config' / 'environment'}"]


def test_a_dry_run_prints_the_unit_and_touches_nothing(box, fake, unit):
    result = box.run("service", "install", "--dry-run")
    assert result.exit_code == 0
    assert "ExecStart=" in result.stdout
    assert str(unit) in result.stderr
    assert not unit.exists()
    assert fake.asked == []


def test_installing_again_writes_the_unit_anew(box, unit):
    box.run("service", "install")
    unit.write_text("[Service]\nExecStart=/gone/python run\n")
    box.run("service", "install")
    assert sys.executable in unit.read_text()


def test_what_only_the_shell_knows_is_told_at_install(box):
    result = box.run("service", "install", env=box.env | {"HM_ASYNC_API_KEY": "ae_secret"})
    assert "HM_ASYNC_API_KEY" in result.stderr
    assert "ae_secret" not in result.output


def test_lingering_is_switched_on_where_it_is_off(box, fake):
    fake.will("loginctl", "show-user", "no\n")
    result = box.run("service", "install")
    assert f"loginctl enable-linger {ME}" in fake.asked
    assert "without a login" in result.stderr


def test_lingering_that_is_refused_names_the_command_for_root(box, fake):
    fake.will("loginctl", "show-user", "no\n")
    fake.will("loginctl", "enable-linger", stderr="Access denied", code=1)
    result = box.run("service", "install")
    assert f"`sudo loginctl enable-linger {ME}`" in result.stderr
    assert result.exit_code == ExitCode.FAILED


def test_what_systemd_refuses_is_told_in_its_own_words(box, fake):
    fake.will("systemctl", "enable", stderr="Unit is masked.", code=1)
    result = box.run("service", "install")
    assert result.exit_code == ExitCode.FAILED
    assert "Unit is masked." in result.stderr


def test_uninstall_stops_and_removes_the_unit_and_leaves_the_rest(box, fake, unit):
    box.run("service", "install")
    (box.home / "state").mkdir(exist_ok=True)
    assert box.run("service", "uninstall").exit_code == 0
    assert not unit.exists()
    assert f"systemctl --user --no-pager disable --now {NAME}" in fake.asked
    assert (box.home / "state").exists()
    assert "no " in box.run("service", "uninstall").stderr


def test_a_running_service_is_well(box):
    box.run("service", "install")
    assert states(box) == {"installed": "ok", "enabled": "ok", "running": "ok", "lingering": "ok"}


@pytest.mark.parametrize(
    ("known", "bad", "said"),
    [
        ({"LoadState": "not-found"}, "installed", "service install"),
        ({"LoadState": "bad-setting"}, "installed", "bad-setting"),
        ({"UnitFileState": "disabled"}, "enabled", f"systemctl --user enable {NAME}"),
        ({"ActiveState": "inactive", "SubState": "dead"}, "running", "inactive (dead)"),
        (
            {"ActiveState": "failed", "SubState": "failed", "Result": "exit-code", "ExecMainStatus": "2"},
            "running",
            "exit status 2",
        ),
        ({"ActiveState": "activating", "SubState": "auto-restart", "NRestarts": "7"}, "running", "7 times so far"),
    ],
)
def test_what_is_wrong_is_named_with_the_way_out(box, fake, known, bad, said):
    box.run("service", "install")
    fake.knows(**known)
    assert states(box, code=ExitCode.FAILED)[bad] == "fail"
    shown = box.run("service", "status")
    assert said in shown.stdout
    assert f"journalctl --user -u {NAME}" in shown.stderr


def test_a_user_unit_that_stops_at_logout_is_a_fault(box, fake):
    """The night's job never fired, with nothing in the log."""
    box.run("service", "install")
    fake.will("loginctl", "show-user", "no\n")
    result = box.run("service", "status")
    assert result.exit_code == ExitCode.FAILED
    assert f"the service of {ME} stops at logout" in result.stdout
    assert f"loginctl enable-linger {ME}" in result.stdout


def test_an_interpreter_that_has_moved_is_named(box, unit):
    box.run("service", "install")
    unit.write_text(unit.read_text().replace(sys.executable, "/gone/venv/python"))
    result = box.run("service", "status")
    assert result.exit_code == ExitCode.FAILED
    assert "/gone/venv/python is gone" in result.stdout


def test_two_units_are_one_too_many(box, tmp_path):
    box.run("service", "install")
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / NAME).write_text("")
    assert states(box)["alone"] == "warn"


def test_without_systemctl_cron_is_the_way_out(box, tmp_path):
    for name in ("install", "status", "uninstall"):
        result = box.run("service", name, env=box.env | {"PATH": str(tmp_path / "nothing")})
        assert result.exit_code == ExitCode.FAILED
        assert "run --once" in result.stderr


def test_a_machine_that_systemd_did_not_start_is_told_so(box, fake, unit):
    fake.will("systemctl", "is-system-running", "offline\n", code=1)
    result = box.run("service", "install")
    assert result.exit_code == ExitCode.FAILED
    assert "not started by systemd" in result.stderr
    assert not unit.exists()


def test_a_shell_opened_by_su_is_told_how_to_reach_the_users_systemd(box, fake, unit):
    fake.will("systemctl", "show", stderr="Failed to connect to bus: No medium found", code=1)
    env = {name: value for name, value in box.env.items() if name != "XDG_RUNTIME_DIR"}
    result = box.run("service", "install", env=env | {"XDG_RUNTIME_DIR": None})
    assert result.exit_code == ExitCode.FAILED
    for word in ("XDG_RUNTIME_DIR is not set", "machinectl shell", "service install --system"):
        assert word in result.stderr
    assert not unit.exists()


def test_the_runtime_folder_is_found_where_the_shell_does_not_name_it(box, tmp_path, fake):
    (fake.folder / "systemctl").write_text(f'#!/bin/sh\necho "$XDG_RUNTIME_DIR" >> "{tmp_path}/seen"\n')
    (tmp_path / "run-user" / str(os.getuid())).mkdir(parents=True)
    box.run("service", "status", env=box.env | {"XDG_RUNTIME_DIR": None})
    assert set((tmp_path / "seen").read_text().split()) == {str(tmp_path / "run-user" / str(os.getuid()))}


def test_the_machines_unit_runs_as_the_one_who_called_sudo(box, tmp_path, monkeypatch):
    monkeypatch.setenv("SUDO_USER", "nobody")
    text = box.run("service", "install", "--system", "--dry-run").stdout
    assert lines(text, "User") == ["nobody"]
    assert lines(text, "WantedBy") == ["multi-user.target"]


def test_only_root_installs_for_the_machine(box, monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    result = box.run("service", "install", "--system")
    assert result.exit_code == ExitCode.USAGE
    assert f"`sudo {sys.executable} -m asyncenergy_controller service install --system`" in result.stderr
    assert not (tmp_path / "etc").exists()


def test_root_installs_for_the_machine_without_lingering(box, fake, monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert box.run("service", "install", "--system").exit_code == 0
    assert (tmp_path / "etc" / NAME).exists()
    assert f"systemctl --no-pager restart {NAME}" in fake.asked
    assert not any("loginctl" in line for line in fake.asked)
    assert set(states(box)) == {"installed", "enabled", "running"}, "status finds the machine's unit by itself"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(("--run-as", "root"), "--run-as"), (("--system", "--run-as", "no-such-user", "--dry-run"), "no-such-user")],
)
def test_a_user_that_can_not_be_is_wrong_usage(box, arguments, named):
    env = {name: value for name, value in box.env.items() if name != "ASYNCENERGY_CONFIG_DIR"}
    result = box.run("service", "install", *arguments, env=env)
    assert result.exit_code == ExitCode.USAGE
    assert named in result.stderr


@pytest.mark.parametrize("scope", ["user", "system"])
def test_odd_paths_stand_in_the_unit_as_systemd_reads_them(scope):
    odd = '/a b/%h/$x/"q"/back\\slash'
    unit = units.Unit(scope, "me", (odd,), {"PATH": odd}, units.Path("/etc/%i"))
    assert lines(unit.text(), "ExecStart") == ['"/a b/%%h/$$x/\\"q\\"/back\\\\slash" run']
    assert lines(unit.text(), "Environment") == ['"PATH=/a b/%%h/$x/\\"q\\"/back\\\\slash"']
    assert lines(unit.text(), "EnvironmentFile") == ["-/etc/%%i"]


def test_a_path_with_a_line_break_is_refused_instead_of_becoming_a_line_of_the_unit():
    with pytest.raises(units.UsageError, match="control characters"):
        units.Unit("user", "me", ("/python",), {"PATH": "/bin\nExecStart=/evil"}, units.Path("/e")).text()


GPU_HIDING = ("NoNewPrivileges", "PrivateDevices", "DevicePolicy", "DeviceAllow", "ProtectClock", "DynamicUser")
IMPLYING_NO_NEW_PRIVILEGES = ("SystemCallFilter", "RestrictNamespaces", "ProtectKernelModules", "RestrictSUIDSGID")

JOB_HIDING = ("MemoryDenyWriteExecute", "PrivateTmp", "ProtectHome", "ProtectControlGroups")


@pytest.mark.parametrize("scope", ["user", "system"])
@pytest.mark.parametrize("key", [*GPU_HIDING, *IMPLYING_NO_NEW_PRIVILEGES, *JOB_HIDING])
def test_nothing_in_the_unit_takes_away_what_a_job_may_need(scope, key):
    unit = units.Unit(scope, "me", ("/python",), {}, units.Path("/e"))
    assert lines(unit.text(), key) == []


@pytest.mark.parametrize("scope", ["user", "system"])
def test_systemd_itself_finds_nothing_wrong_with_the_unit(scope, tmp_path):
    tool = shutil.which("systemd-analyze")
    if tool is None:
        assert lines(units.Unit(scope, "root", ("/bin/true",), {}, units.Path("/e")).text(), "Type") == ["exec"]
        return
    path = tmp_path / NAME
    path.write_text(units.Unit(scope, "root", ("/bin/true",), {"PATH": "/bin"}, units.Path("/etc/e")).text())
    command = [tool, "verify", "--man=no", "--recursive-errors=no", path]
    said = subprocess.run(command, capture_output=True, text=True, timeout=20)
    assert [line for line in said.stderr.splitlines() if NAME in line] == []


def test_the_status_as_json_says_what_was_found_and_what_to_do(box, fake):
    fake.knows(LoadState="not-found")
    result = box.run("service", "status", "--json")
    assert json.loads(result.stdout) == {
        "scope": "user",
        "checks": [
            {
                "name": "installed",
                "state": "fail",
                "found": f"no user unit {NAME}",
                "advice": "`async-energy-controller service install`",
            }
        ],
    }
