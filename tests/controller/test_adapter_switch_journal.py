"""A held plug is known as held, whatever happens to the clock, and what an older controller noted is still read."""

import json
import subprocess
import sys

import psutil
import pytest
from asyncenergy_controller.adapters.switch_journal import SwitchJournal


@pytest.fixture
def journal(tmp_path):
    return SwitchJournal(tmp_path)


def noted(journal):
    (path,) = journal.paths()
    return path, journal.load(path)


def test_setting_the_wall_clock_lets_go_of_no_plug(journal, monkeypatch):
    journal.hold("shelly:plug", None)
    real = psutil.Process.create_time
    monkeypatch.setattr(psutil.Process, "create_time", lambda process: real(process) + 86_400)
    assert noted(journal)[1].is_held()


def test_a_plug_whose_holder_has_ended_is_held_by_nobody(tmp_path, journal):
    code = (
        "import sys; from pathlib import Path; from asyncenergy_controller.adapters.switch_journal import SwitchJournal"
    )
    code += "; SwitchJournal(Path(sys.argv[1])).hold('shelly:plug', None)"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=30)
    assert not noted(journal)[1].is_held()


def test_what_an_older_controller_noted_is_still_read(journal):
    journal.hold("shelly:plug", None)
    path, _ = noted(journal)
    fields = json.loads(path.read_text())
    del fields["pid_mark"]
    path.write_text(json.dumps(fields))
    assert noted(journal)[1].is_held()
