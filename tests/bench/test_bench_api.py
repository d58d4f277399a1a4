"""The corpus over HTTP: shapes, lists, CSV, conditional reads, the owner's own."""

import csv
import io
import json

import pytest

from api.v1.bench_csv import csv_cell
from api.v1.bench_schemas import RowSerializer, RunSerializer
from bench import services
from bench.models import Node, Run
from tests.bench.corpus import published, sent
from tests.people import api_client, key_client
from tests.wire.bundles import make_bundle, make_run

pytestmark = pytest.mark.django_db
BENCH = "/api/v1/bench"


@pytest.fixture
def on_board(submitter, maintainer):
    run = published(submitter, maintainer)
    services.board_rebuild()
    return run


def submit(client, bundle):
    return client.generic("POST", f"{BENCH}/submissions", json.dumps(bundle), content_type="application/json")


def test_an_empty_corpus_answers_every_read(stranger_api):
    for path in ("leaderboard", "moderation-log"):
        body = stranger_api.get(f"{BENCH}/{path}").json()
        assert (body["count"], body["results"], body["data_version"]) == (0, [], "0")
    assert stranger_api.get(f"{BENCH}/facets").json()["task"] == []
    assert stranger_api.get(f"{BENCH}/leaderboard?format=csv").status_code == 200


def test_a_row_has_exactly_the_fields_of_the_schema(stranger_api, on_board):
    (row,) = stranger_api.get(f"{BENCH}/leaderboard").json()["results"]
    assert set(row) == set(RowSerializer().fields)


def test_a_run_has_exactly_the_fields_of_the_schema_and_no_clock_time(stranger_api, on_board):
    run = stranger_api.get(f"{BENCH}/runs/{on_board.pk}").json()
    assert set(run) == set(RunSerializer().fields)
    assert run["date"] == "2026-08-20"
    assert "09:00" not in json.dumps({**run, "decisions": []})
    assert run["items"]["energy_j"][0] == pytest.approx(on_board.columns.items()["energy_j"][0])
    assert run["trace"]["t_s"][0] == 0


def test_nothing_public_names_the_sender(stranger_api, on_board, submitter):
    for path in ("leaderboard", f"runs/{on_board.pk}", "moderation-log", "facets"):
        text = stranger_api.get(f"{BENCH}/{path}").content.decode()
        assert submitter.email not in text
        assert on_board.node.node_hash not in text
        assert on_board.identity not in text


def test_the_headline_is_the_same_in_the_row_the_run_and_the_table(stranger_api, on_board):
    (row,) = stranger_api.get(f"{BENCH}/leaderboard").json()["results"]
    run = stranger_api.get(f"{BENCH}/runs/{row['run_id']}").json()
    (line,) = csv.DictReader(io.StringIO(stranger_api.get(f"{BENCH}/leaderboard?format=csv").content.decode()))
    expected = row["joules_per_correct_answer"]
    assert run["figures"]["joules_per_correct_answer"] == float(line["joules_per_correct_answer"]) == expected


def test_a_run_that_waits_is_not_there(stranger_api, submitter):
    answer = stranger_api.get(f"{BENCH}/runs/{sent(submitter).pk}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_list_comes_in_pages(stranger_api, submitter, maintainer):
    for i in range(3):
        published(submitter, maintainer, max_tokens=100 + i)
    services.board_rebuild()
    first = stranger_api.get(f"{BENCH}/leaderboard?limit=2").json()
    second = stranger_api.get(first["next"]).json()
    assert (first["count"], len(first["results"]), len(second["results"]), second["next"]) == (3, 2, 1, None)


@pytest.mark.parametrize("query", ["surprise=1", "sort=surprise", "limit=-1", "offset=x", "min_accuracy=2"])
def test_a_query_that_cannot_be_read_is_refused(stranger_api, query):
    answer = stranger_api.get(f"{BENCH}/leaderboard?{query}")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["attr"] == query.partition("=")[0]


def test_an_unknown_value_of_a_filter_is_an_empty_answer(stranger_api, on_board):
    for query in ("gpu_class=none", "task=none", "quant=none", "model=none", "engine=none", "tier=A"):
        answer = stranger_api.get(f"{BENCH}/leaderboard?{query}")
        assert (answer.status_code, answer.json()["results"]) == (200, [])
    assert len(stranger_api.get(f"{BENCH}/leaderboard?tier=B,C&min_accuracy=0.5").json()["results"]) == 1


@pytest.mark.parametrize("path", ["leaderboard", "facets", "moderation-log", "leaderboard?format=csv"])
def test_a_reader_that_has_the_newest_gets_no_body(stranger_api, on_board, path):
    first = stranger_api.get(f"{BENCH}/{path}")
    again = stranger_api.get(f"{BENCH}/{path}", headers={"if-none-match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_any_page_may_read_without_credentials(stranger_api, on_board):
    answer = stranger_api.get(f"{BENCH}/leaderboard", headers={"origin": "https://example.org"})
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in answer


# CSV


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_starts_a_formula(text):
    assert csv_cell(text) == f"'{text}"


def test_numbers_stay_numbers_and_null_is_an_empty_cell():
    assert [csv_cell(value) for value in (-1.5, None, ["a", "b"], "plain")] == [-1.5, "", "a b", "plain"]


def test_names_that_no_maintainer_knows_stay_out_of_the_table(stranger_api, on_board):
    def models() -> list[str]:
        text = stranger_api.get(f"{BENCH}/leaderboard?format=csv").content.decode()
        return [line["model"] for line in csv.DictReader(io.StringIO(text))]

    assert models() == ["unlisted"]
    services.alias_set(kind="model", raw="example-3b", name="example-3b")
    services.board_rebuild()
    assert models() == ["example-3b"]


def test_a_refusal_is_json_even_where_a_table_was_asked_for(stranger_api):
    answer = stranger_api.get(f"{BENCH}/leaderboard?format=csv&sort=x")
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/json")
    assert answer.json()["code"] == "validation_error"


# The owner


def test_the_receipt_tells_what_was_found_and_where_to_look(submitter_api):
    body = submit(submitter_api, make_bundle(make_run(joules_per_correct_answer=1.0))).json()
    assert (body["status"], body["runs"]) == ("quarantined", [{"index": 0, "status": "quarantined"}])
    assert "recomputed_differs" in body["flags"]
    assert any("claimed 1 J" in reason for reason in body["reasons"])
    assert "/bench/runs/" in body["url"]


def test_an_owner_reads_states_gates_and_reasons(submitter_api, submitter, maintainer):
    run = sent(submitter, joules_per_correct_answer=1.0)
    services.run_reject(run=run, by=maintainer, reason_code="figures_differ", note="Please measure again.")
    answer = submitter_api.get(f"{BENCH}/submissions/{run.submission_id}")
    (own,) = answer.json()["runs"]
    assert (answer.json()["status"], own["status"]) == ("rejected", "rejected")
    assert "recomputed_differs" in [gate["code"] for gate in own["gates"]]
    assert own["decisions"][0]["note"] == "Please measure again."
    assert maintainer.email not in answer.content.decode()


def test_an_owner_withdraws(submitter_api, submitter, maintainer):
    run = published(submitter, maintainer)
    answer = submitter_api.post(f"{BENCH}/submissions/{run.submission_id}/withdraw")
    assert (answer.status_code, answer.json()["status"]) == (200, "withdrawn")


def test_another_accounts_submission_is_not_there(submitter, other_submitter):
    client, run = api_client(other_submitter), sent(submitter)
    assert client.get(f"{BENCH}/submissions/{run.submission_id}").status_code == 404
    assert client.post(f"{BENCH}/submissions/{run.submission_id}/withdraw").status_code == 404
    assert client.get(f"{BENCH}/submissions").json()["count"] == 0
    run.refresh_from_db()
    assert run.status == "pending"


def test_a_key_for_the_schedule_does_not_open_the_bench(submitter):
    assert submit(key_client(submitter, "schedule"), make_bundle()).status_code == 403
    assert submit(key_client(submitter, "bench"), make_bundle()).status_code == 201


def test_a_machine_is_described_again_and_again(submitter_api, submitter):
    facts = {"node_hash": "c" * 64, "gpu_name": "NVIDIA H200", "vram_gb": 141.0, "surprise": 1}
    for _ in range(2):
        answer = submitter_api.post(f"{BENCH}/nodes", facts)
        assert (answer.status_code, answer.json()) == (201, {"status": "ok", "node_hash": "c" * 64})
    submitter_api.post(f"{BENCH}/nodes", {"node_hash": "c" * 64, "gpu_name": None})
    (node,) = submitter_api.get(f"{BENCH}/nodes").json()["results"]
    assert (node["gpu_name"], node["vram_gb"], node["n_runs"]) == ("NVIDIA H200", 141.0, 0)
    assert Node.objects.count() == 1


@pytest.mark.parametrize("facts", [{}, {"node_hash": "short"}, {"node_hash": "c" * 64, "vram_gb": "12"}])
def test_a_machine_that_cannot_be_read_is_refused(submitter_api, facts):
    assert submitter_api.post(f"{BENCH}/nodes", facts).status_code == 400
    assert not Node.objects.exists()


# Query counts

READS = (
    *("leaderboard", "leaderboard?task=gsm8k", "routing-table", "recommend", "recommend?gpu_class=H200", "facets"),
    *("sweeps", "leaderboard?format=csv", "routing-table?format=csv", "recommend?format=csv", "sweeps?format=csv"),
)


@pytest.fixture
def three_rows(submitter, maintainer) -> list[Run]:
    runs = [published(submitter, maintainer, max_tokens=100 + i) for i in range(3)]
    services.board_rebuild()
    return runs


def test_asked_again_a_read_takes_one_query(stranger_api, three_rows, django_assert_num_queries, subtests):
    for path in READS:
        stranger_api.get(f"{BENCH}/{path}")
        with subtests.test(path), django_assert_num_queries(1):
            assert stranger_api.get(f"{BENCH}/{path}").status_code == 200


@pytest.mark.parametrize(
    ("path", "queries"),
    [
        ("leaderboard", 3),  # board, board, stored answer
        ("leaderboard?sort=-accuracy", 5),
        ("leaderboard?format=csv", 3),
        ("routing-table?sort=-accuracy", 6),
        ("routing-table?format=csv", 4),
        ("recommend?min_accuracy=0.1", 5),
        ("recommend?format=csv", 4),
        ("sweeps", 4),
        ("sweeps?format=csv", 3),
        ("facets", 3),
        ("moderation-log", 3),
        ("corpus", 1),
    ],
)
def test_a_read_takes_as_many_queries_for_three_rows_as_for_one(
    stranger_api, three_rows, django_assert_num_queries, path, queries
):
    with django_assert_num_queries(queries):
        stranger_api.get(f"{BENCH}/{path}")


def test_one_configuration_takes_a_fixed_number_of_queries(stranger_api, three_rows, django_assert_num_queries):
    with django_assert_num_queries(7):
        assert stranger_api.get(f"{BENCH}/configs/{three_rows[0].config_key}").status_code == 200


def test_files_for_machines_take_a_fixed_number_of_queries(stranger_api, three_rows, django_assert_num_queries):
    for path, queries in {"/bench-data.json": 3, "/llms.txt": 11}.items():
        with django_assert_num_queries(queries):
            assert stranger_api.get(path).status_code == 200


def test_the_owners_lists_take_a_fixed_number_of_queries(submitter_api, submitter, django_assert_num_queries):
    for i in range(3):
        sent(submitter, max_tokens=100 + i)
    for path, queries in {"submissions": 5, "nodes": 3, f"nodes/{'a' * 64}/recommended-cap": 5}.items():
        with django_assert_num_queries(queries):
            assert submitter_api.get(f"{BENCH}/{path}").status_code == 200
