"""`register`: one workflow at the server, one job here, and not a byte of what runs on the way."""

import json
import re
import stat
import time

import pytest
from asyncenergy_controller.errors import ExitCode
from asyncenergy_controller.jobs import registration
from asyncenergy_controller.jobs.catalog import load_catalog
from asyncenergy_controller.jobs.hours import AllowedHours
from asyncenergy_controller.jobs.text import decode

from tests.controller.bench_cli import Box
from tests.controller.bench_server import fake_server

from .jobs_files import REPORT, command, write_jobs

WORKFLOWS = "/api/v1/workflows"
MADE = (201, {"id": REPORT, "name": "Nightly", "next_window": None})
NEVER_SAID = ("hush", "HUSH", "shelly", "request")


@pytest.fixture
def server():
    with fake_server() as fake:
        fake.will(WORKFLOWS, MADE)
        yield fake


@pytest.fixture
def box(tmp_path, server):
    return Box(tmp_path, api_url=server.url)


@pytest.fixture
def path(box):
    return box.home / "config" / "jobs.json"


def registered(box, *given):
    """What `--json` prints of a registration that went well."""
    result = box.run("register", "--json", *given)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_the_workflow_is_made_and_the_job_written_under_its_id(box, server, path):
    said = ["--deadline", "by 7am", "--earliest-start", "22:00", "--recurrence", "daily", "--est-duration", 700]
    own = ["--allowed-hours", "22:00-06:00", "--max-runs-per-day", 4, "--cwd", box.home, "--env", "A=b=c"]
    answer = registered(box, "--name", "Nightly", *said, *own, "--nameplate-watts", 250, "--command", "true 'a b'")
    assert answer == {"id": REPORT, "job_catalog": str(path)}
    body = server.asked[0].json
    assert re.fullmatch(r"box-[0-9a-f]{16}", body.pop("controller_id"))
    assert body == {
        "name": "Nightly",
        "framework": "command",
        "deadline": "by 7am",
        "earliest_start": "22:00",
        "recurrence": "daily",
        "est_duration_s": 700.0,
        "nameplate_watts": 250.0,
    }
    job = load_catalog(path).jobs[REPORT]
    assert (job.name, job.recurrence, job.max_runs_per_day) == ("Nightly", "daily", 4)
    assert job.allowed_hours == AllowedHours.parse("22:00-06:00")
    assert (job.request.command, job.request.cwd, job.request.env) == (("true", "a b"), box.home, {"A": "b=c"})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_command_behind_two_dashes_is_taken_word_by_word(box, path):
    registered(box, "--name", "N", "--", "sh", "-c", "a | b > 'c d'")
    assert load_catalog(path).jobs[REPORT].request.command == ("sh", "-c", "a | b > 'c d'")


HUSHED = {
    "command": ["--cwd", "/hush/folder", "--env", "HUSH_NAME=hush-value", "--", "hush-program", "--hush-argument"],
    "ollama": ["--framework", "ollama", "--model", "hush-program", "--prompt", "hush prompt"],
    "openai": ["--framework", "openai", "--url", "http://127.0.0.1:9/hush/folder", "--prompt-file", "/hush/folder/p"],
    "charge": ["--framework", "charge", "--switch", "shelly:127.0.0.1:9", "--secret", "hush-token", "--hold", "60"],
}


@pytest.mark.parametrize("given", HUSHED.values(), ids=HUSHED)
def test_no_byte_of_what_runs_leaves_the_box(box, server, given):
    assert box.run("register", "--name", "N", *given).exit_code == 0
    sent = str(server.asked[0]) + server.asked[0].body.decode()
    assert [word for word in NEVER_SAID if word in sent] == []


@pytest.mark.parametrize("given", HUSHED.values(), ids=HUSHED)
def test_a_shared_request_leaves_without_its_secrets(box, server, path, given):
    box.run("register", "--name", "N", "--share-request", *given)
    sent, kept = server.asked[0].json["request"], decode(path.read_text())[REPORT]["request"]
    assert sent == {name: part for name, part in kept.items() if name not in ("env", "secret")}
    assert "hush-value" not in server.asked[0].body.decode()
    assert "hush-token" not in server.asked[0].body.decode()


def test_a_charge_says_how_long_it_takes(box, server):
    box.run("register", "--name", "N", *HUSHED["charge"])
    assert server.asked[0].json["est_duration_s"] == 60


def test_a_dry_run_prints_both_and_does_neither(box, server, path):
    plan = registered(box, "--name", "N", "--deadline", "by 7am", "--dry-run", "--", "true")
    assert plan["sent"]["deadline"] == "by 7am"
    assert plan["written"]["request"] == {"command": ["true"]}
    assert server.asked == []
    assert not path.exists()
    assert "by 7am" in box.run("register", "--name", "N", "--deadline", "by 7am", "--dry-run", "--", "true").stdout


def test_comments_and_other_jobs_survive(box, path):
    path.parent.mkdir(mode=0o700)
    other = "7d6f7f0e-3f7c-4a53-8d27-7a1f9e4c1b11"
    write_jobs(path, f'{{ // keep me\n  "{other}": {json.dumps(command("a"))} /* and me */\n}}', 0o640)
    registered(box, "--name", "N", "--", "true")
    assert "// keep me" in path.read_text()
    assert "/* and me */" in path.read_text()
    assert list(load_catalog(path).jobs) == [other, REPORT]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--command", "a | b"], "as a list"),
        (["--command", "a", "--", "b"], "once"),
        ([], "request.command"),
        (["--env", "A", "--", "a"], "NAME=VALUE"),
        (["--framework", "ollama", "--model", "m"], "prompt"),
        (["--allowed-hours", "22-6", "--", "a"], "22:00-06:00"),
        (["--model", "m", "--", "a"], "request.model is unknown"),
    ],
)
def test_a_job_that_could_not_be_read_is_refused_before_anything_is_sent(box, server, path, given, words):
    result = box.run("register", "--name", "N", *given)
    assert result.exit_code == ExitCode.USAGE
    assert words in result.stderr
    assert server.asked == []
    assert not path.exists()


@pytest.mark.parametrize("spoil", [lambda p: write_jobs(p, "{"), lambda p: write_jobs(p, "{}", 0o666)])
def test_a_catalog_that_cannot_be_used_is_refused_before_anything_is_sent(box, server, path, spoil):
    path.parent.mkdir(mode=0o700)
    spoil(path)
    assert box.run("register", "--name", "N", "--", "true").exit_code == ExitCode.USAGE
    assert server.asked == []


def test_what_would_fail_now_is_said_and_registered_all_the_same(box, path):
    result = box.run("register", "--name", "N", "--", "no-such-program-here")
    assert result.exit_code == 0
    assert "It would fail now: no-such-program-here" in result.stderr
    assert REPORT in load_catalog(path).jobs


def test_what_the_server_has_to_know_to_plan_it_is_asked_for(box):
    assert (
        "--est-duration) and what it draws (--nameplate-watts)" in box.run("register", "--name", "N", "--", "a").stderr
    )
    told = ["--est-duration", 60, "--nameplate-watts", 5]
    assert "finds no time" not in box.run("register", "--name", "N", *told, "--", "a").stderr


@pytest.mark.parametrize("window", [None, {}, "soon", {"earliest_start": "x", "deadline": 3}, ["a"]])
def test_a_window_that_cannot_be_read_is_not_told(box, server, window):
    server.will(WORKFLOWS, (201, MADE[1] | {"next_window": window}))
    assert box.run("register", "--name", "N", "--", "true").stdout.count("\n") == 1


def test_how_the_server_understood_the_times_is_told_by_the_clock_of_this_machine(box, server, monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Helsinki")
    time.tzset()
    window = {"earliest_start": "2026-01-11T20:00:00+00:00", "deadline": "2026-01-12T05:00:00+00:00"}
    server.will(WORKFLOWS, (201, MADE[1] | {"next_window": window}))
    told = box.run("register", "--name", "N", "--deadline", "by 7am", "--", "true").stdout
    monkeypatch.undo()
    time.tzset()
    assert "from Sun 11 Jan 22:00 and must be done by Mon 12 Jan 07:00" in told


def keys(server):
    return [call.headers["Idempotency-Key"] for call in server.at(WORKFLOWS)]


def test_after_a_lost_answer_the_same_key_is_sent_again(box, server, path):
    server.will(WORKFLOWS, (500, {"detail": "The database is away."}), MADE)
    failed = box.run("register", "--name", "N", "--", "true")
    assert failed.exit_code == ExitCode.SERVER
    assert "The database is away." in failed.stderr
    assert not path.exists()
    registered(box, "--name", "N", "--", "true")
    assert len(set(keys(server))) == 1
    assert list(load_catalog(path).jobs) == [REPORT]


def test_when_the_file_could_not_be_written_the_same_key_is_sent_again(box, server, path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(registration, "add_entry", full)
        assert box.run("register", "--name", "N", "--", "true").exit_code == ExitCode.FAILED
    registered(box, "--name", "N", "--", "true")
    assert len(keys(server)) == 2
    assert len(set(keys(server))) == 1
    assert list(load_catalog(path).jobs) == [REPORT]


def test_the_same_registered_twice_on_purpose_is_two_workflows(box, server, path):
    second = "7d6f7f0e-3f7c-4a53-8d27-7a1f9e4c1b11"
    server.will(WORKFLOWS, MADE, (201, {"id": second}))
    registered(box, "--name", "N", "--", "true")
    registered(box, "--name", "N", "--", "true")
    assert len(set(keys(server))) == 2
    assert list(load_catalog(path).jobs) == [REPORT, second]


def test_a_refusal_of_the_server_is_its_own_sentence(box, server, path):
    refusal = {"detail": "deadline: 'by noonish' can't be read; try 'by 7am'.", "code": "unreadable_time"}
    server.will(WORKFLOWS, (400, refusal))
    result = box.run("register", "--name", "N", "--deadline", "by noonish", "--", "true")
    assert result.exit_code == ExitCode.SERVER
    assert refusal["detail"] in result.stderr.splitlines()
    assert not path.exists()


@pytest.mark.parametrize(
    "answer", ["../../etc/passwd", "$(reboot)", "", None, 7, ["sh"], "2bac93f6-8d99-43ce-93ad-b64a8b0e603c\n", "{}"]
)
def test_an_answer_whose_id_is_none_writes_nothing(box, server, path, answer):
    server.will(WORKFLOWS, (201, {"id": answer, "framework": "command", "request": {"command": ["reboot"]}}))
    result = box.run("register", "--name", "N", "--", "true")
    assert result.exit_code == ExitCode.SERVER
    assert not path.exists()


def test_another_catalog_may_be_named(box, tmp_path):
    other = tmp_path / "elsewhere.json"
    assert registered(box, "--name", "N", "--job-catalog", other, "--", "true")["job_catalog"] == str(other)
    assert list(load_catalog(other).jobs) == [REPORT]
