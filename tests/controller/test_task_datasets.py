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
from asyncenergy_controller.tasks.datasets import Dataset, DatasetFile, NotHere, Source, load_split
from asyncenergy_controller.tasks.hub import probe
from huggingface_hub import snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RevisionResolutionError,
    XetDownloadError,
)
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
    [
        ("sums_test.jsonl", b'{"question": '),
        ("sums_test.jsonl", b"\xff\xfe"),
        ("sums_test.jsonl", b"5"),
        ("sums_test.jsonl", b"[" * 100_000),
        ("sums_test.json", b'{"rows": []}'),
        ("sums_test.json", b'["row"]'),
        ("sums_test.parquet", b"no parquet"),
        ("sums_test.csv", b'question,"answer' + b"x" * 200_000),  # a quotation mark without its other half
    ],
    ids=str,
)
def test_a_damaged_file_is_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TaskError, match=rf"{name} cannot be read"):
        load_split(SUMS, "test", Source(tmp_path))


def test_what_is_no_file_is_named(tmp_path):
    (tmp_path / "sums_test.jsonl").mkdir()
    with pytest.raises(TaskError, match=r"sums_test\.jsonl cannot be read: Is a directory"):
        load_split(SUMS, "test", Source(tmp_path))


def test_an_empty_file_is_no_data_set(tmp_path):
    (tmp_path / "sums_test.jsonl").touch()
    with pytest.raises(TaskError, match="no rows"):
        load_split(SUMS, "test", Source(tmp_path))


class FakeHub:
    """Stands where the hub's client reaches the network; its cache is the real one, in a folder of the test."""

    def __init__(self, cache):
        self.cache, self.asked, self.fails = cache, [], None

    def dataset_info(self, repo, **options):
        self.asked.append(("info", repo, options))
        if self.fails:
            raise self.fails

    def download(self, repo, **options):
        if not options.get("local_files_only"):
            self.asked.append(("download", repo, options))
            self.put("main/test-0.parquet", options["revision"])
        return snapshot_download(repo, **options)

    def put(self, path, revision="0" * 40):
        return write_parquet(self.cache / "datasets--example--sums" / "snapshots" / revision / path)


@pytest.fixture
def hub(monkeypatch, tmp_path):
    fake = FakeHub(tmp_path / "cache")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(fake.cache))
    monkeypatch.setattr("huggingface_hub.dataset_info", fake.dataset_info)
    monkeypatch.setattr("huggingface_hub.snapshot_download", fake.download)
    # what follows the fake download reads the cache, as the hub's client does without a network
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    return fake


def test_the_hub_is_asked_for_the_pinned_revision_with_a_time_limit(hub):
    loaded = load_split(SUMS, "test", Source())
    assert (loaded.rows, loaded.revision) == (ROWS, "0" * 40)
    (_, repo, question), (_, _, order) = hub.asked
    assert repo == "example/sums"
    assert (question["revision"], order["revision"], order["repo_type"]) == ("0" * 40, "0" * 40, "dataset")
    assert (0 < question["timeout"] <= 30, 0 < order["etag_timeout"] <= 30) == (True, True)
    assert order["allow_patterns"] == ["main/test-0.parquet"]


def test_what_was_downloaded_once_is_read_without_asking_again(hub):
    hub.put("main/test-0.parquet")
    assert load_split(SUMS, "test", Source(may_download=False)).rows == ROWS
    assert load_split(SUMS, "test", Source()).rows == ROWS
    assert hub.asked == []


def test_one_of_two_files_in_the_cache_is_no_data_set(hub):
    hub.put("main/test-0.parquet")
    two = replace(SUMS, splits={"test": (DatasetFile("main/test-0.parquet"), DatasetFile("main/test-1.parquet"))})
    with pytest.raises(NotHere, match="not on this machine yet"):
        load_split(two, "test", Source(may_download=False))
    with pytest.raises(TaskError, match=r"holds no main/test-1\.parquet"):
        load_split(two, "test", Source())


def test_without_leave_to_download_nothing_is_asked_of_the_hub(hub):
    with pytest.raises(NotHere, match="not on this machine yet") as caught:
        load_split(SUMS, "test", Source(may_download=False))
    assert (caught.value.repo, caught.value.revision) == ("example/sums", "0" * 40)
    assert hub.asked == []


def test_another_revision_is_recorded_as_given(hub):
    assert load_split(SUMS, "test", Source(revision="a" * 40)).revision == "a" * 40
    assert {options["revision"] for _, _, options in hub.asked} == {"a" * 40}


def test_without_any_revision_one_is_asked_for(hub):
    with pytest.raises(TaskError, match="--dataset-revision"):
        load_split(replace(SUMS, revision=None), "test", Source())
    assert hub.asked == []


def test_a_file_that_is_not_the_pinned_one_is_refused(hub):
    changed = replace(SUMS, splits={"test": (DatasetFile("main/test-0.parquet", "f" * 64),)})
    with pytest.raises(TaskError, match="not the pinned file"):
        load_split(changed, "test", Source())


def test_a_shard_number_left_open_is_found(hub):
    loaded = load_split(replace(SUMS, splits={"test": (DatasetFile("main/test-*.parquet"),)}), "test", Source())
    assert loaded.rows == ROWS


@pytest.mark.parametrize(
    "error",
    [
        LocalEntryNotFoundError("offline"),
        OfflineModeIsEnabled(),
        HFValidationError("x"),
        httpx2.ConnectError("[Errno -3] Temporary failure in name resolution"),
        httpx2.ReadTimeout("slow"),
        XetDownloadError("cut"),
        RuntimeError("the client has been closed"),
        RevisionResolutionError("x"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("ask", [lambda: load_split(SUMS, "test", Source()), lambda: probe("example/sums", "0" * 40)])
def test_a_hub_that_cannot_be_reached_says_how_to_do_without(hub, error, ask):
    hub.fails = error
    with pytest.raises(TaskError, match=rf"cannot be had from the hub \({type(error).__name__}\).*--dataset-dir"):
        ask()
    assert [what for what, _, _ in hub.asked] == ["info"]


def test_a_gated_data_set_says_what_to_accept(hub):
    hub.fails = GatedRepoError("gated", response=httpx2.Response(403, request=httpx2.Request("GET", "http://x")))
    with pytest.raises(TaskError, match=r"accept its terms.*--dataset-dir"):
        load_split(SUMS, "test", Source())


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
