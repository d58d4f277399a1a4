"""Where questions come from: local folders in several layouts, or the pinned revision on the hub."""

import csv
import hashlib
import json
import sys
from dataclasses import replace

import httpx2
import pyarrow
import pytest
from asyncenergy_controller.tasks.base import TaskError, sampled, seeded_order
from asyncenergy_controller.tasks.datasets import Dataset, DatasetFile, Source, load_split
from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError, OfflineModeIsEnabled
from pyarrow import ipc, parquet

ROWS = [{"question": f"What is {n} + {n}?", "answer": f"#### {2 * n}"} for n in range(12)]
ORDER = [1, 2, 0, 6, 8, 5, 4, 7, 3, 9]
SUMS = Dataset(
    name="sums", repo="example/sums", revision="0" * 40, splits={"test": (DatasetFile("main/test-0.parquet"),)}
)


def write_jsonl(path, rows=ROWS):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_parquet(path, rows=ROWS):
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


def write_csv(path, rows=ROWS):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_arrow(path, rows=ROWS):
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pyarrow.Table.from_pylist(rows)
    with ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table)


@pytest.mark.parametrize(
    ("place", "write"),
    [
        ("sums_test.jsonl", write_jsonl),
        ("sums_test_first12.jsonl", write_jsonl),
        ("sums_test.json", lambda path: path.write_text(json.dumps(ROWS))),
        ("sums_test.csv", write_csv),
        ("sums_test.parquet", write_parquet),
        ("sums_test.arrow", write_arrow),
        ("sums/test.jsonl", write_jsonl),
        ("sums/main/test-0.parquet", write_parquet),
        ("example/sums/main/test-0.parquet", write_parquet),
    ],
)
def test_a_folder_may_hold_any_of_these(tmp_path, place, write):
    write(tmp_path / place)
    loaded = load_split(SUMS, "test", Source(tmp_path))
    assert loaded.rows == ROWS
    content = (tmp_path / place).read_bytes()
    assert loaded.revision == f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_a_local_copy_of_the_pinned_file_is_the_pinned_revision(tmp_path):
    content = write_parquet(tmp_path / "sums_test.parquet").read_bytes()
    pinned = DatasetFile("main/test-0.parquet", hashlib.sha256(content).hexdigest())
    loaded = load_split(replace(SUMS, splits={"test": (pinned,)}), "test", Source(tmp_path))
    assert loaded.revision == "0" * 40


def test_several_files_are_one_split_and_their_place_speaks_for_their_rows(tmp_path):
    for subject in ("law", "art"):
        write_arrow(tmp_path / "sums" / subject / "part.arrow", [{"question": f"{subject}?"}])
    files = tuple(DatasetFile(f"{subject}/part.arrow", says={"subject": subject}) for subject in ("law", "art"))
    loaded = load_split(replace(SUMS, splits={"test": files}), "test", Source(tmp_path))
    assert loaded.rows == [{"subject": "law", "question": "law?"}, {"subject": "art", "question": "art?"}]
    assert set(loaded.sha256) == {"law/part.arrow", "art/part.arrow"}


def test_a_folder_without_the_questions_says_what_to_put_there(tmp_path):
    with pytest.raises(TaskError, match=r"put sums_test\.jsonl"):
        load_split(SUMS, "test", Source(tmp_path))


@pytest.mark.parametrize(
    ("name", "content"),
    [("sums_test.jsonl", b'{"question": '), ("sums_test.parquet", b"no parquet"), ("sums_test.jsonl", b"\xff\xfe")],
)
def test_a_damaged_file_is_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TaskError, match=rf"{name} cannot be read"):
        load_split(SUMS, "test", Source(tmp_path))


def test_an_empty_file_is_no_data_set(tmp_path):
    (tmp_path / "sums_test.jsonl").touch()
    with pytest.raises(TaskError, match="no rows"):
        load_split(SUMS, "test", Source(tmp_path))


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A hub that gives out one file and remembers what was asked."""
    asked = []

    def download(repo, path, **options):
        asked.append((repo, path, options))
        return str(write_parquet(tmp_path / "cached.parquet"))

    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    return asked


def test_the_hub_is_asked_for_the_pinned_revision_with_a_time_limit(hub):
    loaded = load_split(SUMS, "test", Source())
    assert (loaded.rows, loaded.revision) == (ROWS, "0" * 40)
    [(repo, path, options)] = hub
    assert (repo, path, options["repo_type"]) == ("example/sums", "main/test-0.parquet", "dataset")
    assert options["revision"] == "0" * 40
    assert options["etag_timeout"] > 0


def test_another_revision_is_recorded_as_given(hub):
    assert load_split(SUMS, "test", Source(revision="a" * 40)).revision == "a" * 40
    assert hub[0][2]["revision"] == "a" * 40


def test_without_any_revision_one_is_asked_for(hub):
    with pytest.raises(TaskError, match="--dataset-revision"):
        load_split(replace(SUMS, revision=None), "test", Source())
    assert hub == []


def test_a_file_that_is_not_the_pinned_one_is_refused(hub):
    changed = replace(SUMS, splits={"test": (DatasetFile("main/test-0.parquet", "f" * 64),)})
    with pytest.raises(TaskError, match="not the pinned file"):
        load_split(changed, "test", Source())


def test_a_shard_number_left_open_is_looked_up(hub, monkeypatch):
    published = ["README.md", "main/test-00000-of-00001.parquet"]
    monkeypatch.setattr("huggingface_hub.list_repo_files", lambda repo, **options: published)
    load_split(replace(SUMS, splits={"test": (DatasetFile("main/test-*.parquet"),)}), "test", Source())
    assert hub[0][1] == "main/test-00000-of-00001.parquet"


@pytest.mark.parametrize(
    "error",
    [
        LocalEntryNotFoundError("offline"),
        OfflineModeIsEnabled(),
        HFValidationError("x"),
        httpx2.ConnectError("no route"),
    ],
)
def test_a_hub_that_cannot_be_reached_says_how_to_do_without(monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("huggingface_hub.hf_hub_download", fail)
    with pytest.raises(TaskError, match="--dataset-dir"):
        load_split(SUMS, "test", Source())
    with pytest.raises(TaskError, match="accept its terms"):
        load_split(replace(SUMS, gated=True), "test", Source())


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(TaskError, match=r"pip install 'asyncenergy-controller\[datasets\]'"):
        load_split(SUMS, "test", Source())


def test_the_seeded_order_never_changes():
    assert seeded_order(10, key="gsm8k/1234") == ORDER
    assert seeded_order(10, key="gsm8k/1235") != ORDER


def test_a_short_draw_is_the_beginning_of_a_longer_one():
    assert sampled(500, n=25, key="x") == sampled(500, n=100, key="x")[:25]


@pytest.mark.parametrize("n", [0, 11])
def test_more_questions_than_exist_are_refused_since_none_is_asked_twice(n):
    with pytest.raises(TaskError, match="ask for 1 to 10"):
        sampled(10, n=n, key="x")
