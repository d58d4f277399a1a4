"""The download of the corpus: complete, checked, and enough to derive every row again."""

import gzip
import hashlib
import json
import re
from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command

from asyncenergy import clock
from bench import selectors, services
from bench.corpus.rederive import same
from bench.models import CorpusRelease, DirtyMark
from bench.selectors import BoardQuery
from bench.selectors.corpus import verify_row
from bench.services import corpus
from tests.bench.corpus import published, sent_totals
from tests.bench.test_api_aggregates import capped

pytestmark = pytest.mark.django_db
MANIFEST = "/api/v1/bench/corpus"


@pytest.fixture(autouse=True)
def _var(settings, tmp_path):
    settings.VAR_DIR = tmp_path


@pytest.fixture
def board(submitter, other_submitter, maintainer):
    """Verified rows on two machines and two tasks, a sweep, and one row of claimed totals."""
    for watts in (350.0, 300.0):
        published(submitter, maintainer, watts=watts, **capped(watts))
    published(other_submitter, maintainer, watts=333.0, node_hash="b" * 64, **capped(350.0))
    services.run_publish(run=sent_totals(submitter), by=maintainer)
    services.board_rebuild()


def lines(path: Path) -> list[dict]:
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in raw.splitlines()]


def make() -> tuple[CorpusRelease, Path]:
    release = corpus.corpus_release_make()
    return release, corpus.corpus_dir() / str(release.version)


def test_the_download_lists_every_file_with_size_and_checksum(board, stranger_api):
    release, folder = make()
    body = stranger_api.get(MANIFEST).json()
    assert (body["version"], body["licence"]) == (release.version, "CC BY 4.0")
    assert {file["name"] for file in body["files"]} == {path.name for path in folder.iterdir()}
    for file in body["files"]:
        answer = stranger_api.get(file["url"])
        raw = b"".join(answer.streaming_content)
        assert (len(raw), hashlib.sha256(raw).hexdigest()) == (file["bytes"], file["sha256"])
        assert stranger_api.get(file["url"], headers={"if-none-match": answer["ETag"]}).status_code == 304
        assert answer["Access-Control-Allow-Origin"] == "*" if "origin" in answer.headers else True


def test_equal_content_has_equal_checksums(board):
    release, _ = make()
    again, _ = make()
    assert again.files == release.files


@pytest.mark.parametrize("name", ["..%2Fsecret_key", "nothing.txt", ".hidden"])
def test_nothing_but_the_listed_files_can_be_fetched(board, stranger_api, name):
    release, _ = make()
    assert stranger_api.get(f"{MANIFEST}/{release.version}/{name}").status_code == 404


def test_the_download_names_no_sender_and_no_clock_time(board, submitter):
    _, folder = make()
    text = gzip.decompress((folder / "runs.jsonl.gz").read_bytes()).decode()
    assert submitter.email not in text
    assert "a" * 64 not in text
    assert "created_at" not in text
    assert all("T" not in line["date"] for line in lines(folder / "runs.jsonl.gz"))


def test_rows_and_runs_are_those_of_the_board(board):
    release, folder = make()
    rows, runs = lines(folder / "rows.jsonl"), lines(folder / "runs.jsonl.gz")
    assert sorted(rows, key=str) == sorted(selectors.board_rows(BoardQuery()), key=str)
    assert len(runs) == release.n_runs == sum(row["n_runs"] for row in rows)


def test_columns_hold_what_the_lines_hold(board):
    _, folder = make()
    runs = {line["id"]: line for line in lines(folder / "runs.jsonl.gz")}
    table = pq.read_table(folder / "runs.parquet").to_pylist()
    assert {row["id"] for row in table} == set(runs)
    for row in table:
        figures = runs[row["id"]]["figures"]
        assert row["joules_per_correct_answer"] == figures["joules_per_correct_answer"]
        assert row["counter_reason"] == figures.get("counter_reason")
    items = pq.read_table(folder / "items.parquet")
    assert items.num_rows == sum(len(run["items"].get("index", ())) for run in runs.values())
    trace = pq.read_table(folder / "trace.parquet").to_pylist()
    one = next(run for run in runs.values() if run["trace"])
    mine = [sample["gpu_power_w"] for sample in trace if sample["run_id"] == one["id"]]
    assert mine == one["trace"]["gpu_power_w"]


# When it is made


def test_a_download_is_due_after_an_hour_and_a_change(board, submitter, maintainer):
    now = clock.now()
    assert corpus.corpus_release_due(now=now) is not None
    assert corpus.corpus_release_due(now=now + timedelta(hours=2)) is None
    published(submitter, maintainer)
    services.board_rebuild()
    assert corpus.corpus_release_due(now=now + timedelta(minutes=59)) is None
    assert corpus.corpus_release_due(now=now + timedelta(minutes=61)) is not None


def test_an_empty_board_has_no_download():
    assert corpus.corpus_release_due() is None


def test_a_decision_in_the_middle_discards_the_download(board, monkeypatch):
    real = corpus._write

    def decided_meanwhile(folder):
        DirtyMark.objects.create(config_key="0" * 16, task="gsm8k")
        return real(folder)

    monkeypatch.setattr(corpus, "_write", decided_meanwhile)
    assert corpus.corpus_release_make() is None
    assert not CorpusRelease.objects.exists()
    assert list(corpus.corpus_dir().iterdir()) == []


def test_two_downloads_are_kept(board, submitter, maintainer):
    for i in range(3):
        published(submitter, maintainer, max_tokens=200 + i)
        services.board_rebuild()
        make()
    kept = sorted(int(path.name) for path in corpus.corpus_dir().iterdir())
    assert kept == sorted(CorpusRelease.objects.values_list("version", flat=True)) == [3, 4]


# Deriving it again


def verify(folder: Path, capsys, *options: str) -> str:
    call_command("verify", str(folder), *options)
    return capsys.readouterr().out


def test_every_row_is_derived_again_from_the_download_alone(board, capsys):
    _, folder = make()
    out = verify(folder, capsys)
    n = len(lines(folder / "rows.jsonl"))
    assert f"{n} of {n} rows come out as published." in out
    assert out.count("derived again from items and traces") == n - 1
    assert out.count("pooled again from claimed totals") == 1


@pytest.mark.campaign
def test_the_recorded_reference_rows_are_derived_again_as_well(capsys):
    services.reference_load()
    services.board_rebuild()
    _, folder = make()
    assert "DIFFERS" not in verify(folder, capsys)


def test_one_row_can_be_asked_for(board, capsys):
    _, folder = make()
    row = lines(folder / "rows.jsonl")[0]
    assert "1 of 1 rows" in verify(folder, capsys, "--config", row["config_key"], "--task", row["task"])
    with pytest.raises(CommandError, match="No row of this configuration"):
        verify(folder, capsys, "--config", "0" * 16)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda row: row.update(joules_per_correct_answer=row["joules_per_correct_answer"] * 1.001), "joules_per"),
        (lambda row: row.update(rank=99), "rank"),
        (lambda row: row.update(n_nodes=7), "n_nodes"),
    ],
)
def test_a_row_that_was_tampered_with_differs(board, capsys, change, named):
    _, folder = make()
    rows = lines(folder / "rows.jsonl")
    change(next(row for row in rows if row["verified"] and row["joules_per_correct_answer"]))
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(CommandError, match="checksum differs"):
        verify(folder, capsys)
    (folder / "SHA256SUMS.txt").write_text("")
    with pytest.raises(CommandError, match="1 rows differ"):
        verify(folder, capsys)
    assert named in capsys.readouterr().out


def test_a_trace_that_was_tampered_with_differs(board, capsys):
    _, folder = make()
    runs = lines(folder / "runs.jsonl.gz")
    run = next(run for run in runs if run["trace"].get("gpu_energy_mj"))
    run["trace"]["gpu_energy_mj"] = [value * 1.01 for value in run["trace"]["gpu_energy_mj"]]
    with gzip.open(folder / "runs.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(one) + "\n" for one in runs)
    (folder / "SHA256SUMS.txt").write_text("")
    with pytest.raises(CommandError, match="differ"):
        verify(folder, capsys)


def test_a_folder_that_is_no_download_is_refused(tmp_path):
    with pytest.raises(CommandError, match="is this a download"):
        call_command("verify", str(tmp_path))
    with pytest.raises(CommandError, match="no download yet"):
        call_command("verify")


def test_the_site_derives_a_row_again_beside_the_others(board):
    for row in selectors.board_rows(BoardQuery()):
        check = verify_row(row["config_key"], row["task"])
        assert check.agrees, check.differences
        assert check.n_runs == row["n_runs"]
    assert verify_row("0" * 16, "gsm8k") is None


@pytest.fixture
def unnamed(submitter, other_submitter, maintainer):
    """One configuration, claimed three times by two accounts that name no machine."""
    for account, n_correct in ((submitter, 60), (submitter, 50), (other_submitter, 90)):
        services.run_publish(run=sent_totals(account, node_hash=None, n_correct=n_correct), by=maintainer)
    services.board_rebuild()


def test_machines_without_a_name_are_told_apart_by_their_account(unnamed, capsys):
    _, folder = make()
    rows = lines(folder / "rows.jsonl")
    assert [row["n_nodes"] for row in rows] == [2]
    verify(folder, capsys)
    for row in rows:
        check = verify_row(row["config_key"], row["task"])
        assert check.agrees, check.differences


def test_the_name_of_an_unnamed_machine_tells_no_account(unnamed, submitter):
    _, folder = make()
    runs = lines(folder / "runs.jsonl.gz")
    names = {run["machine"] for run in runs}
    assert len(names) == 2
    assert all(re.fullmatch("[0-9a-f]{8}", name) for name in names)
    assert {run["node"] for run in runs} == {None}
    assert set(pq.read_table(folder / "runs.parquet").column("machine").to_pylist()) == names


def test_accounts_that_count_as_one_are_one_unnamed_machine(unnamed, submitter, other_submitter, maintainer, capsys):
    services.submitters_merge(source=other_submitter, target=submitter, by=maintainer, note="The same person.")
    services.board_rebuild()
    _, folder = make()
    assert [row["n_nodes"] for row in lines(folder / "rows.jsonl")] == [1]
    verify(folder, capsys)


def test_a_download_of_before_machines_had_names_is_derived_as_ever(board, capsys):
    _, folder = make()
    runs = lines(folder / "runs.jsonl.gz")
    with gzip.open(folder / "runs.jsonl.gz", "wt") as file:
        file.writelines(json.dumps({name: run[name] for name in run if name != "machine"}) + "\n" for run in runs)
    (folder / "SHA256SUMS.txt").write_text("")
    assert "DIFFERS" not in verify(folder, capsys)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (1.0, 1.0 + 1e-12, True),
        (1.0, 1.001, False),
        ([1.0, None], [1.0, None], True),
        ({"a": [1]}, {"a": [2]}, False),
        ({"a": 1}, {"b": 1}, False),
        (None, 0.0, False),
        ("a", "a", True),
    ],
)
def test_what_counts_as_the_same(one, other, expected):
    assert same(one, other) is expected
