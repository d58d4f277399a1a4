"""The calls of the wire contract as the controller makes them, over HTTP."""

import json

import pytest
from asyncenergy_controller.server import (
    RecommendedCap,
    RequestRefused,
    ScheduleUnreadable,
    ServerClient,
    ServerFailed,
    ServerUnreachable,
)

from tests.controller.bench_server import fake_server
from tests.controller.report_server import settings_for
from tests.controller.test_server_schedule import SCHEDULE

NODE = "a" * 64
BUSY = (503, {"detail": "busy", "code": "busy"})


@pytest.fixture
def server():
    with fake_server() as fake:
        yield fake


@pytest.fixture
def client(server, tmp_path):
    with ServerClient(settings_for(server, tmp_path)) as client:
        yield client


def test_a_schedule_is_asked_for_by_version_and_box(server, client):
    server.will("/api/v1/schedule?after=6", (200, SCHEDULE))
    assert client.schedule(6, controller_id="box").version == 7
    assert server.asked[0].headers["X-Controller-Id"] == "box"


def test_nothing_new_is_no_schedule(server, client):
    server.will("/api/v1/schedule?after=-1", (204, b""))
    assert client.schedule(-1) is None
    assert "X-Controller-Id" not in server.asked[0].headers


@pytest.mark.parametrize(
    ("name", "sent"), [("küche", "k%C3%BCche"), (" box", "+box"), ("台所&after=7", "%E5%8F%B0%E6%89%80%26after%3D7")]
)
def test_a_box_whose_name_no_header_can_carry_is_named_in_the_question(server, client, name, sent):
    server.will(f"/api/v1/schedule?after=6&controller_id={sent}", (200, SCHEDULE))
    assert client.schedule(6, controller_id=name).version == 7
    assert "X-Controller-Id" not in server.asked[0].headers


@pytest.mark.parametrize("answer", [(200, {"hello": 1}), (200, {**SCHEDULE, "version": None})])
def test_an_answer_that_is_no_schedule_is_a_failure_of_the_server(server, client, answer):
    server.will("/api/v1/schedule?after=1", answer)
    with pytest.raises(ScheduleUnreadable):
        client.schedule(1)
    assert issubclass(ScheduleUnreadable, ServerFailed)


def test_an_answer_too_deep_to_be_read_is_a_failure_of_the_server(server, client):
    server.will("/api/v1/schedule?after=1", (200, b'{"a":' * 100_000))
    with pytest.raises(ServerFailed, match="answered 200 without a reason"):
        client.schedule(1)


def test_all_pages_of_the_workflows_are_one_list(server, client):
    rows = [{"id": str(number)} for number in range(3)]
    first = {"count": 3, "next": "http://elsewhere.example/?offset=2", "previous": None, "results": rows[:2]}
    server.will("/api/v1/workflows?limit=500&offset=0", (200, first))
    server.will("/api/v1/workflows?limit=500&offset=2", (200, {**first, "next": None, "results": rows[2:]}))
    assert client.workflows() == rows
    assert len(server.asked) == 2


def test_a_page_without_rows_ends_the_list_though_it_names_another(server, client):
    server.will("/api/v1/workflows?limit=500&offset=0", (200, {"next": "again", "results": []}))
    assert client.workflows() == []


@pytest.mark.parametrize("results", [None, "rows", [1]])
def test_a_list_of_workflows_that_is_none_is_a_failure_of_the_server(server, client, results):
    server.will("/api/v1/workflows?limit=500&offset=0", (200, {"results": results}))
    with pytest.raises(ServerFailed, match="can't be read"):
        client.workflows()


def test_a_workflow_is_registered_under_one_key_also_when_it_is_repeated(server, client):
    server.will("/api/v1/workflows", BUSY, (201, {"id": "w1", "name": "nightly"}))
    assert client.register_workflow({"name": "nightly", "framework": "command"}, "key-1")["id"] == "w1"
    assert [call.headers["Idempotency-Key"] for call in server.asked] == ["key-1", "key-1"]


def test_runs_are_sent_as_a_list_and_their_ids_come_back(server, client):
    server.will("/api/v1/runs", (200, {"runs": [{"run_id": "r1", "id": "uuid-1", "status": "inserted"}]}))
    assert client.post_runs([{"run_id": "r1"}]) == {"r1": "uuid-1"}
    assert server.asked[0].json == [{"run_id": "r1"}]


@pytest.mark.parametrize("answer", [{}, {"runs": None}, {"runs": [1, {"run_id": "r1"}]}, {"runs": [{"id": "x"}]}])
def test_a_run_without_an_id_is_not_taken_as_sent(server, client, answer):
    server.will("/api/v1/runs", (200, answer))
    with pytest.raises(ServerFailed, match="no id for run r1"):
        client.post_runs([{"run_id": "r1"}])


def test_samples_go_to_their_run(server, client):
    server.will("/api/v1/runs/uuid-1/samples", (201, {"accepted": 1}))
    assert client.post_samples("uuid-1", [{"ts": "x"}]) == 1
    assert server.asked[0].json == {"samples": [{"ts": "x"}]}


def test_an_id_of_the_server_never_becomes_another_path(server, client):
    with pytest.raises(RequestRefused):
        client.post_samples("../../auth/login", [])
    assert server.asked[0].path == "/api/v1/runs/..%2F..%2Fauth%2Flogin/samples"


def test_an_ack_and_advice_are_asked_for(server, client):
    server.will("/api/v1/schedule/ack", (200, {"status": "ok"}))
    server.will("/api/v1/advise", (200, {"feasible": True}))
    assert client.post_ack({"event": "started"}) == {"status": "ok"}
    assert client.advise({"est_duration_s": 60}) == {"feasible": True}


@pytest.mark.parametrize(
    ("answer", "cap"),
    [
        ({"recommended_cap_w": 280.0, "source": "own_runs"}, RecommendedCap(280.0, "own_runs")),
        ({"recommended_cap_w": None, "source": None}, RecommendedCap(None, None)),
        ({"recommended_cap_w": "280", "source": ["x"]}, RecommendedCap(None, None)),
        ({}, RecommendedCap(None, None)),
    ],
)
def test_a_recommended_cap_is_a_number_or_none(server, client, answer, cap):
    server.will(f"/api/v1/bench/nodes/{NODE}/recommended-cap", (200, answer))
    assert client.recommended_cap(NODE) == cap


def test_a_node_is_named(server, client):
    server.will("/api/v1/bench/nodes", (201, {"status": "ok", "node_hash": NODE}))
    assert client.upsert_node({"node_hash": NODE})["status"] == "ok"


def test_every_call_is_repeated_while_the_server_says_not_now(server, client):
    server.will("/api/v1/runs", BUSY, BUSY, (200, {"runs": [{"run_id": "r1", "id": "u"}]}))
    assert client.post_runs([{"run_id": "r1"}]) == {"r1": "u"}
    assert len(server.asked) == 3


def test_a_caller_that_comes_again_by_itself_is_answered_after_one_attempt(server, tmp_path):
    server.will("/api/v1/schedule?after=1", BUSY, (200, SCHEDULE))
    with ServerClient(settings_for(server, tmp_path), attempts=1) as client:
        with pytest.raises(ServerFailed, match="busy"):
            client.schedule(1)
        assert client.schedule(1).version == 7


def test_a_server_that_is_not_there_is_said_so_within_the_attempts(tmp_path):
    settings = settings_for("http://127.0.0.1:9", tmp_path)
    with ServerClient(settings, attempts=2) as client, pytest.raises(ServerUnreachable):
        client.schedule(-1)


@pytest.mark.parametrize("answer", [{}, {"access_token": "a"}, {"access_token": 1, "refresh_token": 2}])
def test_a_login_without_tokens_is_a_failure_of_the_server(server, tmp_path, answer):
    server.will("/auth/login", (200, answer))
    settings = settings_for(server, tmp_path, api_key=None)
    with ServerClient(settings) as client, pytest.raises(ServerFailed, match="without tokens"):
        client.login("a@b.example", "secret")
    assert not (tmp_path / "config_dir" / "login.json").exists()


@pytest.mark.parametrize(
    ("status", "code", "passes"),
    [(400, "invalid", False), (404, "not_found", False), (404, None, True), (403, "scope", True), (429, "slow", True)],
)
def test_a_refusal_tells_whether_it_may_pass(server, client, status, code, passes):
    server.will("/api/v1/advise", (status, {"detail": "No.", "code": code}))
    with pytest.raises(RequestRefused) as refused:
        client.advise({})
    assert refused.value.is_passing is passes


@pytest.mark.parametrize("errors", ["x", [1, "x"], {"a": 1}])
def test_odd_places_in_a_refusal_are_left_out(server, client, errors):
    server.will("/api/v1/advise", (400, json.dumps({"detail": "No.", "code": 5, "errors": errors}).encode()))
    with pytest.raises(RequestRefused, match=r"^No\.$") as refused:
        client.advise({})
    assert refused.value.code is None
