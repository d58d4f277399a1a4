"""Picks, routing table, sweeps, configurations and caps over HTTP."""

import csv
import io
from typing import Any

import pytest

from api.v1.bench_rows import ConfigSerializer, PickSerializer, PicksSerializer, RoutingRowSerializer, SweepSerializer
from bench import services
from bench.models import Run
from tests.bench.corpus import published, sent
from tests.people import api_client
from tests.wire.bundles import make_items

pytestmark = pytest.mark.django_db
BENCH = "/api/v1/bench"
STOCK_W = 350.0


def varied(n: int = 20) -> dict[str, Any]:
    """Items whose token counts tell the parameters of a cost model apart."""
    return {
        **make_items(n, right=n // 2),
        "prompt_tokens": [30 + 17 * (i % 7) for i in range(n)],
        "completion_tokens": [20 + 13 * (i % 5) for i in range(n)],
    }


def capped(watts: float, **changes: Any) -> dict[str, Any]:
    return {"n": 20, "items": varied(), "power_limit_w": watts, "gpu_stock_power_limit_w": STOCK_W, **changes}


@pytest.fixture
def board(submitter, maintainer) -> list[Run]:
    """A sweep of four power limits on one machine."""
    services.alias_set(kind="model", raw="example-3b", name="example-3b")
    power = {350.0: 300.0, 300.0: 280.0, 250.0: 240.0, 200.0: 195.0}
    runs = [published(submitter, maintainer, watts=watts, **capped(limit)) for limit, watts in power.items()]
    services.board_rebuild()
    return runs


def get(client, path: str) -> Any:
    answer = client.get(f"{BENCH}/{path}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def table(client, path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(client.get(f"{BENCH}/{path}").content.decode())))


def test_every_read_answers_on_an_empty_board(stranger_api):
    for path in ("routing-table", "sweeps"):
        assert get(stranger_api, path)["results"] == []
    assert get(stranger_api, "recommend") == {
        "objective": "energy",
        "task": None,
        "shape": {"prompt_tokens": None, "output_tokens": None},
        "count": 0,
        "results": [],
        "data_version": "0",
    }
    assert get(stranger_api, "corpus")["files"] == []
    assert stranger_api.get(f"{BENCH}/configs/{'0' * 16}").status_code == 404
    assert stranger_api.get("/bench-data.json").json()["rows"] == []
    assert stranger_api.get("/llms.txt").status_code == 200


def test_answers_have_exactly_the_fields_of_their_schemas(stranger_api, board):
    picks = get(stranger_api, "recommend")
    assert set(picks) == set(PicksSerializer().fields)
    assert set(picks["results"][0]) == set(PickSerializer().fields)
    assert set(get(stranger_api, "routing-table")["results"][0]) == set(RoutingRowSerializer().fields)
    sweep = get(stranger_api, "sweeps?kind=power_cap")["results"][0]
    assert set(sweep) == set(SweepSerializer().fields)
    assert set(sweep["points"][0]) == set(SweepSerializer().fields["points"].child.fields)
    config = get(stranger_api, f"configs/{board[0].config_key}")
    assert set(config) == set(ConfigSerializer().fields)
    assert set(config["runs"][0]) == set(ConfigSerializer().fields["runs"].child.fields)
    assert set(config["cost_model"]) == set(ConfigSerializer().fields["cost_model"].fields)
    assert set(config["machine_costs"][0]) == set(ConfigSerializer().fields["machine_costs"].child.fields)


def test_the_pick_is_the_row_of_least_energy_and_says_why(stranger_api, board):
    picks = get(stranger_api, "recommend?price_per_kwh=0.3")["results"]
    assert [pick["power_limit_w"] for pick in picks] == [200.0, 250.0, 300.0, None]
    assert picks[0]["why"][0].startswith("Number 1 of 4 by energy: ")
    assert picks[0]["predicted_cost"] == pytest.approx(picks[0]["predicted_j"] / 3.6e6 * 0.3)


def test_a_shape_is_predicted_by_the_cost_model_of_the_routing_table(stranger_api, board):
    pick = get(stranger_api, "recommend?prompt_tokens=100&output_tokens=50&limit=1")["results"][0]
    rows = get(stranger_api, "routing-table")["results"]
    (row,) = [row for row in rows if row["config_key"] == pick["config_key"]]
    cost = row["cost_model"]
    item_j = cost["e_fixed_j"] + 100 * cost["alpha_j_per_prompt_token"] + 50 * cost["beta_j_per_completion_token"]
    assert pick["predicted_j"] == pytest.approx(item_j / row["accuracy"])


@pytest.mark.parametrize(
    "query",
    [
        "objective=cheap",
        "prompt_tokens=-1",
        "prompt_tokens=nan",
        "output_tokens=inf",
        "min_accuracy=1.5",
        "limit=0",
        "surprise=1",
    ],
)
def test_a_wish_that_cannot_be_read_is_refused(stranger_api, query):
    answer = stranger_api.get(f"{BENCH}/recommend?{query}")
    assert (answer.status_code, answer.json()["errors"][0]["attr"]) == (400, query.partition("=")[0])


def test_a_sweep_comes_with_its_points_in_json_and_csv(stranger_api, board):
    (sweep,) = get(stranger_api, "sweeps?kind=power_cap&gpu_class=RTX 3090")["results"]
    assert [point["setting"] for point in sweep["points"]] == [None, 300.0, 250.0, 200.0]
    assert sweep["flex_band_w"] == pytest.approx(300 - 195)
    lines = table(stranger_api, "sweeps?kind=power_cap&format=csv")
    assert [line["point.setting"] for line in lines] == ["", "300.0", "250.0", "200.0"]
    assert {line["model"] for line in lines} == {"example-3b"}
    assert get(stranger_api, "sweeps?kind=clock_lock")["count"] == 0


@pytest.mark.parametrize("path", ["leaderboard", "routing-table", "recommend"])
def test_tables_hold_what_the_answers_hold(stranger_api, board, path):
    rows, lines = get(stranger_api, path)["results"], table(stranger_api, f"{path}?format=csv")
    assert len(rows) == len(lines)
    for row, line in zip(rows, lines, strict=True):
        for name in ("config_key", "joules_per_token", "accuracy", "pooled_tokens_per_second"):
            assert str(row[name]) == line[name]
        cost = row.get("cost_model")
        assert cost is None or float(line["cost_model.e_fixed_j"]) == cost["e_fixed_j"]


def test_the_log_of_decisions_is_a_table_as_well(stranger_api, board):
    entries, lines = get(stranger_api, "moderation-log")["results"], table(stranger_api, "moderation-log?format=csv")
    assert [line["run_id"] for line in lines] == [entry["run_id"] for entry in entries]
    assert {line["reason"] for line in lines} == {"checked, nothing against it"}


def test_a_configuration_shows_its_rows_runs_sweeps_and_costs(stranger_api, board):
    config = get(stranger_api, f"configs/{board[1].config_key}")
    assert [row["config_key"] for row in config["rows"]] == [board[1].config_key]
    assert [run["id"] for run in config["runs"]] == [str(board[1].pk)]
    assert "power_cap" in [sweep["kind"] for sweep in config["sweeps"]]
    assert config["cost_model"]["node"] == config["runs"][0]["node"] == config["machine_costs"][0]["node"]
    assert config["config"]["power_limit_w"] == 300.0


def test_who_has_the_newest_gets_no_body(stranger_api, board):
    paths = (f"{BENCH}/recommend", f"{BENCH}/routing-table", f"{BENCH}/sweeps", "/bench-data.json", "/llms.txt")
    for path in (*paths, f"{BENCH}/configs/{board[0].config_key}"):
        first = stranger_api.get(path)
        again = stranger_api.get(path, headers={"if-none-match": first["ETag"]})
        assert (again.status_code, again.content) == (304, b""), path
    board_before = stranger_api.get(f"{BENCH}/recommend")["ETag"]
    services.submission_withdraw(submission=board[0].submission, by=board[0].account)
    services.board_rebuild()
    assert stranger_api.get(f"{BENCH}/recommend", headers={"if-none-match": board_before}).status_code == 200


def test_links_to_pages_follow_the_name_that_the_reader_called(stranger_api, board, settings):
    settings.ALLOWED_HOSTS = ["*"]
    for host in ("one.example", "two.example"):
        answer = stranger_api.get(f"{BENCH}/leaderboard?limit=2", headers={"host": host}).json()
        assert answer["next"].startswith(f"http://{host}/api/v1/bench/leaderboard?")
        assert stranger_api.get(answer["next"], headers={"host": host}).json()["previous"] is not None


# Caps


def test_a_cap_comes_from_the_machines_own_runs_also_from_calibration(submitter, submitter_api):
    for limit, watts in {350.0: 300.0, 280.0: 270.0}.items():
        sent(submitter, watts=watts, suite="calibrate", **capped(limit))
    assert get(submitter_api, f"nodes/{'a' * 64}/recommended-cap") == {"recommended_cap_w": 280.0, "source": "own_runs"}


def test_a_machine_without_runs_gets_the_cap_of_its_class(board, other_submitter):
    services.node_upsert(account=other_submitter, node_hash="c" * 64, gpu_name="NVIDIA GeForce RTX 3090")
    found = get(api_client(other_submitter), f"nodes/{'c' * 64}/recommended-cap?tolerance_pct=5")
    assert found == {"recommended_cap_w": 200.0, "source": "gpu_class"}


def test_no_sweep_is_no_error(submitter, submitter_api):
    services.node_upsert(account=submitter, node_hash="c" * 64, gpu_name="NVIDIA H200")
    assert get(submitter_api, f"nodes/{'c' * 64}/recommended-cap") == {"recommended_cap_w": None, "source": None}


def test_another_accounts_machine_is_not_there(board, other_submitter):
    answer = api_client(other_submitter).get(f"{BENCH}/nodes/{'a' * 64}/recommended-cap")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("pct", ["-1", "101", "x", "nan"])
def test_a_tolerance_that_cannot_be_read_is_refused(submitter, submitter_api, pct):
    services.node_upsert(account=submitter, node_hash="c" * 64)
    assert submitter_api.get(f"{BENCH}/nodes/{'c' * 64}/recommended-cap?tolerance_pct={pct}").status_code == 400
