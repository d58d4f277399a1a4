"""A job is added to jobs.json as its owner would: everything else stays, and there is never half a file."""

import json
import os
import stat
import threading

import pytest
from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.files import write_json
from asyncenergy_controller.jobs import registering
from asyncenergy_controller.jobs.catalog import CatalogError, load_catalog
from asyncenergy_controller.jobs.registering import NEW_FILE, add_entry, with_entry
from asyncenergy_controller.jobs.text import decode
from hypothesis import given
from hypothesis import strategies as st

from .jobs_files import OTHER, REPORT, command, write_jobs

JOB = command("echo", "hä", '"quoted" // and /* not */ a comment')
FILES = {
    "new": NEW_FILE,
    "empty": "{}",
    "one line": f'{{"{OTHER}": {{"framework": "command", "request": {{"command": ["a"]}}}}}}',
    "comments at the end": f"""{{ // mine
      "{OTHER}": {{"framework": "command", "request": {{"command": "a"}}}} // keep me
      /* and me */
    }} // and me""",
    "a last comma": f'{{\n  "{OTHER}": {{"framework": "command", "request": {{"command": "a"}},}}, // mine\n}}\n',
    "only remarks": '{\n  "_comment": ["a", "}"]\n}',
    "a comment with brackets": '{\n  // "x": {}, }\n}',
    "windows": "{\r\n  // mine\r\n}\r\n",
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_the_job_is_added_and_everything_else_stays(text):
    longer = with_entry(text, REPORT, JOB)
    assert decode(longer) == decode(text) | {REPORT: JOB}
    rest = iter(longer)
    assert all(character in rest for character in text), "a character that was there is gone"


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_many_jobs_may_be_added_one_after_the_other(text):
    ids = [f"{number:08}-0000-4000-8000-000000000000" for number in range(4)]
    for workflow_id in ids:
        text = with_entry(text, workflow_id, JOB)
    assert [decode(text)[workflow_id] for workflow_id in ids] == [JOB] * 4
    assert list(decode(text))[-4:] == ids


def test_lines_end_as_they_did_before():
    longer = with_entry(FILES["windows"], REPORT, JOB)
    assert longer.count("\n") == longer.count("\r\n")


@given(
    st.dictionaries(st.text(min_size=1).filter(lambda key: key != REPORT), st.text(), max_size=4),
    st.sampled_from([None, 1, 2]),
    st.text(alphabet='{}"/*, a', max_size=12).filter(lambda text: "*/" not in text),
)
def test_whatever_was_there_means_the_same_afterwards(value, indent, remark):
    text = json.dumps(value, indent=indent)
    commented = f"/*{remark}*/{text[:-1]}//{remark}\n{text[-1]}//{remark}"
    longer = with_entry(commented, REPORT, JOB)
    assert decode(longer) == value | {REPORT: JOB}
    assert longer.count(remark) >= commented.count(remark)


@pytest.fixture
def path(tmp_path):
    return write_jobs(tmp_path / "jobs.json", {OTHER: command("a")})


def test_a_file_that_is_not_there_is_made_for_its_owner_alone(tmp_path):
    path = tmp_path / "config" / "jobs.json"
    add_entry(path, REPORT, JOB)
    assert load_catalog(path).jobs[REPORT].request.command == tuple(JOB["request"]["command"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.read_text().startswith("// What this machine runs")


def test_what_we_make_ourselves_is_trusted_whatever_the_umask(tmp_path):
    """Several systems let a person's group write by default."""
    before = os.umask(0o002)
    try:
        write_json(tmp_path / "home" / ".config" / "async-energy" / "login.json", {})
        path = tmp_path / "home" / ".config" / "async-energy" / "jobs.json"
        add_entry(path, REPORT, JOB)
    finally:
        os.umask(before)
    assert list(load_catalog(path).jobs) == [REPORT]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o400])
def test_the_mode_is_kept(path, mode):
    path.chmod(mode)
    add_entry(path, REPORT, JOB)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_link_stays_one(tmp_path, path):
    link = tmp_path / "link.json"
    link.symlink_to(path)
    add_entry(link, REPORT, JOB)
    assert link.is_symlink()
    assert set(load_catalog(path).jobs) == {OTHER, REPORT}


def test_adding_the_same_again_changes_nothing(path):
    add_entry(path, REPORT, JOB)
    before = path.read_bytes()
    add_entry(path, REPORT, JOB)
    assert path.read_bytes() == before


def test_another_job_under_the_same_id_is_not_overwritten(path):
    with pytest.raises(UsageError, match="another job"):
        add_entry(path, OTHER, JOB)
    assert list(load_catalog(path).jobs) == [OTHER]


@pytest.mark.parametrize("text", ['{"a":', "", '{"a": {"framework": "x"}}'])
def test_a_file_that_cannot_be_read_is_not_touched(path, text):
    write_jobs(path, text)
    with pytest.raises(CatalogError):
        add_entry(path, REPORT, JOB)
    assert path.read_text() == text


def test_a_file_that_others_can_write_is_not_touched(path):
    path.chmod(0o666)
    before = path.read_bytes()
    with pytest.raises(CatalogError, match="chmod"):
        add_entry(path, REPORT, JOB)
    assert path.read_bytes() == before


def test_in_a_folder_that_others_can_write_nothing_is_made(tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(CatalogError, match="open can be written"):
        add_entry(folder / "jobs.json", REPORT, JOB)
    assert list(folder.iterdir()) == []


def test_a_disk_that_is_full_leaves_the_old_file_whole(path, monkeypatch):
    before = path.read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        add_entry(path, REPORT, JOB)
    assert path.read_bytes() == before


def test_a_reader_never_sees_half_a_file(path):
    seen, done = [], threading.Event()

    def read():
        while not done.is_set():
            seen.append(len(load_catalog(path).jobs))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(20):
        add_entry(path, f"{number:08}-0000-4000-8000-000000000000", JOB)
    done.set()
    reader.join()
    assert seen
    assert seen == sorted(seen)


def test_of_two_writers_one_waits_for_its_turn(path):
    with registering.lock(path.with_name(f".{path.name}.lock")), pytest.raises(UsageError, match="try again"):
        add_entry(path, REPORT, JOB)
