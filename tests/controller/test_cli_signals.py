"""The loop at a signal: in good order at the first, at once at the second, and no card stays capped."""

import signal
import subprocess
import sys
import textwrap

import pytest
from asyncenergy_controller.errors import ExitCode

SCRIPT = """
    import sys, threading
    from pathlib import Path
    from asyncenergy_controller.cli.until_signal import until_signal
    stopped = threading.Event()
    def work():
        print("at work", flush=True)
        stopped.wait(30)
    stop = stopped.set if sys.argv[1] == "heeds" else lambda: None
    _, number = until_signal(work, stop, Path(sys.argv[2]).touch)
    print(number.name, flush=True)
"""


@pytest.fixture
def started(tmp_path):
    def start(word):
        command = [sys.executable, "-c", textwrap.dedent(SCRIPT), word, str(tmp_path / "put-back")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "at work\n"
        return process

    return start


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_work_in_good_order(started, tmp_path, number):
    process = started("heeds")
    process.send_signal(number)
    output, _ = process.communicate(timeout=20)
    assert (process.returncode, output) == (0, f"{number.name}\n")
    assert not (tmp_path / "put-back").exists()


def test_a_second_signal_waits_for_nothing_but_puts_the_card_back(started, tmp_path):
    process = started("goes on")
    process.send_signal(signal.SIGTERM)
    assert "Once more" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert process.returncode == ExitCode.INTERRUPTED
    assert (tmp_path / "put-back").exists()
