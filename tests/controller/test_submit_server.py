"""The client of the server: who we are, what is repeated, and the server's own words."""

import stat

import pytest
from asyncenergy_controller.errors import ExitCode
from asyncenergy_controller.server import (
    LoginFile,
    NotLoggedIn,
    RequestRefused,
    ServerClient,
    ServerFailed,
    ServerUnreachable,
)
from asyncenergy_controller.settings import load_settings

from tests.controller.bench_server import ACCEPTED, fake_server

SUBMISSIONS = "/api/v1/bench/submissions"
LOGIN = {"access_token": "a1", "refresh_token": "r1", "token_type": "bearer", "expires_in": 60}
REFRESHED = {"access_token": "a2", "refresh_token": "r2", "token_type": "bearer", "expires_in": 60}


@pytest.fixture
def server():
    with fake_server() as fake:
        yield fake


@pytest.fixture
def client(server, tmp_path):
    """A client with an API key."""
    with ServerClient(make_settings(server, tmp_path, api_key="ae_key")) as client:
        yield client


@pytest.fixture
def person(server, tmp_path):
    """A client that knows e-mail and password."""
    with ServerClient(make_settings(server, tmp_path, email="a@b.example", password="secret")) as client:
        yield client


def make_settings(server, tmp_path, **values):
    return load_settings(api_url=server.url, config_dir=tmp_path / "config", data_dir=tmp_path / "data", **values)


def test_an_api_key_goes_with_the_call(server, client):
    server.will(SUBMISSIONS, (201, ACCEPTED))
    assert client.submit_bundle(b"{}")["status"] == "accepted"
    (call,) = server.asked
    assert call.headers["X-API-Key"] == "ae_key"
    assert call.headers["Content-Type"] == "application/json"


def test_the_first_call_logs_in_with_email_and_password(server, person, tmp_path):
    server.will("/auth/login", (200, LOGIN))
    server.will(SUBMISSIONS, (201, ACCEPTED))
    person.submit_bundle(b"{}")
    assert server.at("/auth/login")[0].json == {"email": "a@b.example", "password": "secret"}
    assert server.at(SUBMISSIONS)[0].headers["Authorization"] == "Bearer a1"
    assert stat.S_IMODE((tmp_path / "config" / "login.json").stat().st_mode) == 0o600


def test_a_spent_access_token_is_refreshed_once_and_the_new_pair_is_kept(server, person, tmp_path):
    server.will("/auth/login", (200, LOGIN))
    server.will("/auth/refresh", (200, REFRESHED))
    server.will(SUBMISSIONS, (401, {"detail": "expired"}), (201, ACCEPTED))
    person.submit_bundle(b"{}")
    assert [call.headers["Authorization"] for call in server.at(SUBMISSIONS)] == ["Bearer a1", "Bearer a2"]
    assert server.at("/auth/refresh")[0].json == {"refresh_token": "r1"}
    assert LoginFile(tmp_path / "config").read(server.url).refresh_token == "r2"


def test_a_refresh_that_is_refused_logs_in_again_where_the_password_is_known(server, person):
    server.will("/auth/login", (200, LOGIN), (200, REFRESHED))
    server.will("/auth/refresh", (401, {"detail": "spent"}))
    server.will(SUBMISSIONS, (401, {"detail": "expired"}), (201, ACCEPTED))
    person.submit_bundle(b"{}")
    assert len(server.at("/auth/login")) == 2


def test_a_login_of_another_server_is_not_sent_to_this_one(server, tmp_path):
    settings = make_settings(server, tmp_path)
    LoginFile(settings.config_dir).path.parent.mkdir()
    with fake_server() as other, ServerClient(make_settings(other, tmp_path)) as elsewhere:
        other.will("/auth/login", (200, LOGIN))
        elsewhere.login("a@b.example", "secret")
    with ServerClient(settings) as client, pytest.raises(NotLoggedIn, match="not logged in"):
        client.submit_bundle(b"{}")
    assert server.asked == []


def test_the_servers_sentence_is_the_message(server, client):
    server.will(SUBMISSIONS, (400, {"detail": "runs.0.seed: too odd.", "code": "schema"}))
    with pytest.raises(RequestRefused) as refused:
        client.submit_bundle(b"{}")
    assert refused.value.message == "runs.0.seed: too odd."
    assert (refused.value.code, refused.value.exit_code) == ("schema", ExitCode.SERVER)


def test_named_places_stand_below_the_sentence(server, client):
    places = [{"attr": "runs.0.seed", "code": "int", "detail": "no number"}]
    server.will(SUBMISSIONS, (400, {"detail": "Wrong.", "code": "schema", "errors": places}))
    with pytest.raises(RequestRefused) as refused:
        client.submit_bundle(b"{}")
    assert refused.value.message == "Wrong.\n  runs.0.seed: no number"


def test_a_server_error_is_never_a_success_and_is_not_repeated(server, client):
    server.will(SUBMISSIONS, (500, b"<html>boom</html>"))
    with pytest.raises(ServerFailed, match="answered 500"):
        client.submit_bundle(b"{}")
    assert len(server.asked) == 1


def test_a_two_hundred_without_json_is_no_success(server, client):
    server.will(SUBMISSIONS, (200, b"<html>hello</html>"))
    with pytest.raises(ServerFailed, match="answered 200 without a reason"):
        client.submit_bundle(b"{}")


def test_a_submission_is_repeated_while_the_server_says_not_now(server, client):
    server.will(SUBMISSIONS, (503, {"detail": "busy"}), (201, ACCEPTED))
    assert client.submit_bundle(b"{}") == ACCEPTED
    assert len({call.body for call in server.asked}) == 1


def test_a_login_is_not_repeated(server, person):
    server.will("/auth/login", (503, {"detail": "busy"}), (200, LOGIN))
    with pytest.raises(ServerFailed, match="busy"):
        person.login("a@b.example", "secret")
    assert len(server.asked) == 1


def test_a_server_that_is_not_there_is_named_with_the_way_out(tmp_path):
    settings = load_settings(api_url="http://127.0.0.1:9", config_dir=tmp_path, api_key="ae_key")
    with ServerClient(settings) as client, pytest.raises(ServerUnreachable, match=r"127\.0\.0\.1:9.*--api-url"):
        client.submit_bundle(b"{}")
