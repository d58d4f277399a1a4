"""Health and the schema; what every answer carries in its head."""

import pytest


def test_health_asks_no_database(client):
    answer = client.get("/health")  # pytest-django fails a query here: the test has no database
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert client.head("/health").status_code == 200


def test_health_looks_at_no_credentials(client):
    assert client.get("/health", headers={"authorization": "Bearer junk", "x-api-key": "junk"}).status_code == 200


def test_the_schema_is_served_as_json(client):
    answer = client.get("/openapi.json")
    assert answer.status_code == 200
    assert answer.json()["openapi"].startswith("3.")
    assert "/auth/login" in answer.json()["paths"]
    again = client.get("/openapi.json", headers={"if-none-match": answer.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["/health", "/api/docs", "/accounts/login/", "/api/v1/nothing"])
def test_every_answer_forbids_inline_script_and_frames(client, path):
    policy = client.get(path).headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "style-src 'self'" in policy
    assert "img-src 'self' data:" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", ["/health", "/openapi.json", "/api/v1/bench/leaderboard?task=x", "/llms.txt"])
def test_public_reads_may_be_called_from_any_page_without_credentials(client, db, path):
    head = client.get(path, headers={"origin": "https://elsewhere.example"}).headers
    assert head["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in head


@pytest.mark.parametrize("path", ["/auth/login", "/api/v1/keys", "/api/v1/bench/submissions", "/accounts/login/"])
def test_nothing_else_may(client, db, path):
    head = client.get(path, headers={"origin": "https://elsewhere.example"}).headers
    assert "Access-Control-Allow-Origin" not in head


def test_a_preflight_allows_reading_only(client):
    asked = {"origin": "https://elsewhere.example", "access-control-request-method": "POST"}
    head = client.options("/openapi.json", headers=asked).headers
    assert head["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"
