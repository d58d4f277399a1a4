"""jobs.json is the trust boundary: whose file it is, what it may say, and what a broken edit does: nothing."""

import json
import os
import stat

import pytest
from asyncenergy_controller.errors import ExitCode
from asyncenergy_controller.jobs import trust
from asyncenergy_controller.jobs.catalog import CatalogError, CatalogFile, load_catalog
from asyncenergy_controller.jobs.entry import CommandRequest

from .jobs_files import OTHER, REPORT, command, write_jobs


@pytest.fixture
def path(tmp_path):
    return write_jobs(tmp_path / "jobs.json", {REPORT: command("echo", "hello world")})


@pytest.fixture
def file(path):
    return CatalogFile(path)


def test_a_command_as_a_list_is_taken_word_by_word(path):
    assert load_catalog(path).jobs[REPORT].request.command == ("echo", "hello world")


def test_a_command_as_a_string_is_split_as_a_shell_would(path):
    entry = {"framework": "command", "request": {"command": "python 'my job.py' --name \"a b\" 'x|y' c#d"}}
    write_jobs(path, {REPORT: entry})
    assert load_catalog(path).jobs[REPORT].request.command == ("python", "my job.py", "--name", "a b", "x|y", "c#d")


@pytest.mark.parametrize(
    "text", ["a | b", "a > out.txt", "a && b", "a; b", "echo $HOME", "echo `id`", "a &", "(a)", "a 2>&1"]
)
def test_what_only_a_shell_understands_is_refused_with_the_way_out(path, text):
    write_jobs(path, {REPORT: {"framework": "command", "request": {"command": text}}})
    with pytest.raises(CatalogError, match="as a list"):
        load_catalog(path)


def test_the_file_of_a_deployed_controller_is_read(path):
    deployed = {
        "_comment": ["what this box runs", "keep it short"],
        REPORT: {
            "name": "nightly-embeddings",
            "framework": "ollama",
            "request": {"model": "nomic-embed-text", "prompt_file": "/data/queue/embed-batch.txt", "timeout": 600},
        },
        OTHER: {
            "framework": "command",
            "_comment": "a string is split",
            "deadline": "2026-08-20T09:00:00+00:00",
            "request": {"command": "docker exec box python job.py", "cwd": "/tmp", "work_units": 5},
        },
    }
    catalog = load_catalog(write_jobs(path, deployed))
    jobs = catalog.jobs
    assert [warning for warning in catalog.warnings if f"{OTHER}.deadline is not used" in warning]
    assert list(jobs) == [REPORT, OTHER]
    assert jobs[REPORT].request.timeout_s == 600
    assert str(jobs[REPORT].request.prompt_file) == "/data/queue/embed-batch.txt"


def test_relative_paths_are_relative_to_the_file_and_the_home_is_the_users(path, monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    request = {"model": "m", "prompt_file": "prompts/night.txt", "output_file": "~/answer.txt"}
    write_jobs(path, {REPORT: {"framework": "ollama", "request": request}})
    read = load_catalog(path).jobs[REPORT].request
    assert read.prompt_file == path.parent / "prompts/night.txt"
    assert str(read.output_file) == "/home/somebody/answer.txt"


def conversation(*messages):
    return {"framework": "openai", "request": {"base_url": "http://x", "messages": list(messages)}}


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        (command(max_runs=3), f"{REPORT}.max_runs is unknown; known are name"),
        ({"framework": "command", "request": {"cmd": ["a"]}}, f"{REPORT}.request.cmd is unknown; known are timeout"),
        ({"framework": "command", "request": {}}, f"{REPORT}.request.command: Field required"),
        ({"framework": "command"}, f"{REPORT}.request: Field required"),
        ({"framework": "shell", "request": {}}, f"{REPORT}.framework: Input should be 'command'"),
        ({"framework": "command", "request": {"command": []}}, "the command is empty"),
        ({"framework": "command", "request": {"command": ["a\0b"]}}, f"{REPORT}.request.command.0"),
        ({"framework": "command", "request": {"command": ["a"], "env": {"A=B": "c"}}}, "can't be an environment"),
        ({"framework": "command", "request": {"command": ["a"], "timeout": 0}}, f"{REPORT}.request.timeout"),
        ({"framework": "command", "request": {"command": ["a"], "timeout": "60"}}, f"{REPORT}.request.timeout"),
        (command(max_runs_per_day="3"), f"{REPORT}.max_runs_per_day"),
        (command(max_runs_per_day=-1), f"{REPORT}.max_runs_per_day"),
        (command(interruptible=1), f"{REPORT}.interruptible"),
        (command(allowed_hours="22-6"), "22:00-06:00"),
        (command(allowed_hours=[]), "22:00-06:00"),
        (command(allowed_hours="22:00-25:00"), "no clock shows"),
        (command(allowed_hours="08:00-08:00"), "begins and ends"),
        (command(workflow_id=OTHER), f"{REPORT}.workflow_id is unknown"),
        ({"framework": "ollama", "request": {"model": "m"}}, "one of prompt, prompt_file and messages"),
        (
            {"framework": "ollama", "request": {"model": "m", "prompt": ""}},
            "one of prompt, prompt_file and messages",
        ),
        ({"framework": "openai", "request": {"prompt": "x", "base_url": "ftp:x"}}, f"{REPORT}.request.base_url"),
        (
            {"framework": "openai", "request": {"base_url": "http://x", "prompt": "x", "api_key": "sk-ü\n"}},
            f"{REPORT}.request.api_key: a key has plain characters only",
        ),
        (conversation({"role": "user", "content": " "}), f"{REPORT}.request.messages: the last message is empty"),
        (conversation({"role": "user"}), "a message has role and content"),
        ({"framework": "charge", "request": {"switch": "shelly:x"}}, "either hold_s"),
        ({"framework": "charge", "request": {"switch": "shelly:x", "hold_s": 1, "until_wh": 1}}, "either hold_s"),
        ("echo hi", "must be an object"),
    ],
)
def test_a_mistake_is_named_with_its_place(path, entry, place):
    write_jobs(path, {REPORT: entry})
    with pytest.raises(CatalogError) as raised:
        load_catalog(path)
    assert place in raised.value.message
    assert str(path) in raised.value.message
    assert raised.value.exit_code == ExitCode.USAGE


@pytest.mark.parametrize(("recurrence", "runs"), [("none", 2), ("daily", 3), ("weekly", 3)])
def test_two_runs_a_day_are_allowed_and_what_the_recurrence_needs(path, recurrence, runs):
    write_jobs(path, {REPORT: command(recurrence=recurrence)})
    assert load_catalog(path).jobs[REPORT].max_runs_per_day == runs


def test_a_limit_of_the_owner_holds_also_where_it_is_zero(path):
    write_jobs(path, {REPORT: command(recurrence="daily", max_runs_per_day=0)})
    assert load_catalog(path).jobs[REPORT].max_runs_per_day == 0


def test_an_id_that_no_server_gives_is_warned_of(path):
    write_jobs(path, {"2bac93f6": command(), REPORT: command()})
    assert [w for w in load_catalog(path).warnings if "2bac93f6 doesn't look like" in w]


def test_secrets_that_others_can_read_are_warned_of(path):
    jobs = {REPORT: {"framework": "command", "request": {"command": ["a"], "env": {"TOKEN": "x"}}}}
    assert any("chmod 600" in warning for warning in load_catalog(write_jobs(path, jobs, 0o644)).warnings)
    assert load_catalog(write_jobs(path, jobs, 0o600)).warnings == ()


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666, 0o660])
def test_a_file_that_others_can_write_is_not_read(path, mode):
    path.chmod(mode)
    with pytest.raises(CatalogError, match=f"chmod go-w {path}"):
        load_catalog(path)


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o400, 0o700])
def test_a_file_that_its_owner_alone_can_write_is_read(path, mode):
    path.chmod(mode)
    assert REPORT in load_catalog(path).jobs


def test_a_file_of_another_user_is_not_read(path, monkeypatch):
    found = path.stat()
    other = os.stat_result((found.st_mode, *found[1:4], found.st_uid + 1, *found[5:]))
    with pytest.raises(CatalogError, match="chown"):
        trust.check_file(path, other)


def test_a_file_of_root_is_read_by_any_user(path, monkeypatch):
    monkeypatch.setattr(trust.os, "geteuid", lambda: 1234)
    found = path.stat()
    trust.check_file(path, os.stat_result((found.st_mode, *found[1:4], 0, *found[5:])))


@pytest.mark.parametrize("depth", [0, 1])
def test_a_folder_that_others_can_write_makes_the_file_untrusted(tmp_path, depth):
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True, mode=0o700)
    path = write_jobs(folder / "jobs.json", {})
    [folder, folder.parent][depth].chmod(0o777)
    with pytest.raises(CatalogError, match="can be written by others"):
        load_catalog(path)


def test_in_a_sticky_folder_nobody_else_can_put_another_file_there(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    assert load_catalog(write_jobs(folder / "jobs.json", {})).jobs == {}


def test_a_link_is_followed_and_both_ends_are_checked(tmp_path, path):
    folder = tmp_path / "open"
    folder.mkdir()
    (folder / "jobs.json").symlink_to(path)
    assert REPORT in load_catalog(folder / "jobs.json").jobs
    folder.chmod(0o777)
    with pytest.raises(CatalogError, match="open can be written"):
        load_catalog(folder / "jobs.json")


def test_a_pipe_in_its_place_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "jobs.json")
    with pytest.raises(CatalogError, match="no plain file"):
        load_catalog(tmp_path / "jobs.json")


def test_a_folder_in_its_place_is_refused(tmp_path):
    with pytest.raises(CatalogError, match="no plain file"):
        load_catalog(tmp_path)


def test_a_missing_file_names_the_command_that_writes_it(tmp_path):
    with pytest.raises(CatalogError, match="register"):
        load_catalog(tmp_path / "jobs.json")


def test_a_file_beyond_all_measure_is_refused(path):
    write_jobs(path, json.dumps({"_": "x" * (1 << 20)}))
    with pytest.raises(CatalogError, match="1 MiB"):
        load_catalog(path)


BROKEN = {
    "truncated": lambda path: write_jobs(path, path.read_text()[:-9]),
    "empty": lambda path: write_jobs(path, ""),
    "an unknown key": lambda path: write_jobs(path, {REPORT: command(tpyo=1)}),
    "one bad entry of two": lambda path: write_jobs(path, {REPORT: command(), OTHER: {"framework": "x"}}),
    "a list": lambda path: write_jobs(path, "[]"),
    "bytes": lambda path: path.write_bytes(b"\xff\xfe{"),
    "writable": lambda path: path.chmod(0o666),
    "gone": lambda path: path.unlink(),
    "nested": lambda path: write_jobs(path, "[" * 100_000),
}


@pytest.mark.parametrize("spoil", BROKEN.values(), ids=BROKEN)
def test_a_broken_edit_keeps_the_last_good_catalog(file, path, spoil):
    good = file.current()
    assert file.problem is None
    spoil(path)
    assert file.current() is good
    assert str(path) in file.problem


def test_a_file_that_is_half_saved_keeps_the_last_good_catalog_wherever_it_breaks_off(file, path):
    good = file.current()
    text = path.read_text()
    for length in range(len(text)):
        write_jobs(path, text[:length])
        assert file.current() is good
        assert file.problem


@pytest.mark.parametrize("spoil", BROKEN.values(), ids=BROKEN)
def test_the_problem_goes_away_with_its_cause(file, path, spoil):
    file.current()
    spoil(path)
    file.current()
    write_jobs(path, {OTHER: command()})
    assert list(file.current().jobs) == [OTHER]
    assert file.problem is None


def test_a_file_that_was_writable_meanwhile_is_good_again_as_it_was(file, path):
    good = file.current()
    path.chmod(0o666)
    file.current()
    path.chmod(0o600)
    assert file.current() == good
    assert file.problem is None


def test_an_edit_within_the_same_clock_tick_and_of_the_same_size_is_seen(file, path):
    file.current()
    times = path.stat()
    write_jobs(path, path.read_text().replace(REPORT, OTHER))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert list(file.current().jobs) == [OTHER]


def test_emptying_the_file_on_purpose_is_honoured(file, path):
    file.current()
    write_jobs(path, "{ /* nothing tonight */ }")
    assert file.current().jobs == {}
    assert file.problem is None


def test_without_a_good_one_there_are_no_jobs_and_a_problem(tmp_path):
    file = CatalogFile(tmp_path / "jobs.json")
    assert file.current().jobs == {}
    assert "can't be read" in file.problem


def test_an_entry_made_by_hand_is_checked_as_well():
    from asyncenergy_controller.jobs.entry import JobEntry

    with pytest.raises(ValueError, match="none for charge"):
        JobEntry(workflow_id=REPORT, framework="charge", request=CommandRequest(command=("a",)))


def test_no_message_repeats_a_secret(path):
    request = {"base_url": "http://x", "prompt": "p", "api_key": "sk-very-secret", "max_tokens": "no number"}
    write_jobs(path, {REPORT: {"framework": "openai", "request": request}})
    with pytest.raises(CatalogError) as raised:
        load_catalog(path)
    assert "sk-very-secret" not in raised.value.message
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
