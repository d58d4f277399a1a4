"""Consent and submission from the command line: nothing is sent without the one, nothing is lost in the other."""

import json

import pytest
from asyncenergy_controller.errors import ExitCode
from asyncenergy_controller.wire import CONSENT_TEXT

from tests.controller.bench_cli import Box
from tests.controller.bench_engine import bench_engine
from tests.controller.bench_server import ACCEPTED, fake_server

SUBMISSIONS = "/api/v1/bench/submissions"
BOOM = (500, {"detail": "The database is away.", "code": "server_error"})


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    """The bytes of one real bundle."""
    with bench_engine() as engine:
        box = Box(tmp_path_factory.mktemp("measured"), engine.url)
        box.run("bench", "smoke", "--items", 3)
    return box.last.bundle_path.read_bytes()


@pytest.fixture
def server():
    with fake_server() as fake:
        fake.will(SUBMISSIONS, (201, ACCEPTED))
        yield fake


@pytest.fixture
def box(tmp_path, server):
    """Somebody who has opted in."""
    box = Box(tmp_path, api_url=server.url)
    box.run("bench", "opt-in")
    return box


@pytest.fixture
def file(tmp_path, bundle):
    path = tmp_path / "some-bundle.json"
    path.write_bytes(bundle)
    return path


def test_opt_in_prints_the_whole_text_and_asks_nothing(tmp_path):
    result = Box(tmp_path).run("bench", "opt-in")
    assert result.exit_code == 0
    assert CONSENT_TEXT.strip() in result.stdout


def test_where_nothing_failed_the_way_to_send_the_newest_run_is_said(box, server):
    result = box.run("bench", "submit")
    assert result.exit_code == 0
    assert "`bench submit last` sends the newest run" in result.stderr
    assert server.asked == []


def test_nothing_is_sent_before_opt_in(tmp_path, server, file):
    result = Box(tmp_path, api_url=server.url).run("bench", "submit", file)
    assert result.exit_code == ExitCode.USAGE
    assert "bench opt-in" in result.stderr
    assert server.asked == []


def test_nothing_is_sent_after_opt_out(box, server, file):
    box.run("bench", "opt-out")
    assert box.run("bench", "submit", file).exit_code == ExitCode.USAGE
    assert server.asked == []


@pytest.mark.parametrize(("optin", "agrees", "why"), [("false", True, "is false"), ("true", False, "an earlier text")])
def test_the_deployed_opt_in_may_forbid_but_never_stands_for_the_text(tmp_path, server, file, optin, agrees, why):
    box = Box(tmp_path, api_url=server.url)
    if agrees:
        box.run("bench", "opt-in")
    result = box.run("bench", "submit", file, env=box.env | {"BENCH_OPTIN": optin})
    assert result.exit_code == ExitCode.USAGE
    assert why in result.stderr
    assert server.asked == []


def test_a_changed_consent_text_needs_a_new_opt_in(box, server, file):
    (box.home / "config" / "consent.json").write_text('{"consent_version": "0"}')
    result = box.run("bench", "submit", file)
    assert result.exit_code == ExitCode.USAGE
    assert "has changed" in result.stderr


def test_the_bytes_of_the_file_are_what_is_sent(box, server, file, bundle):
    answers = box.json("bench", "submit", file)
    assert [call.body for call in server.at(SUBMISSIONS)] == [bundle]
    assert answers[0]["state"] == "submitted"
    assert answers[0]["answer"]["id"] == ACCEPTED["id"]


def test_a_server_error_is_no_success_and_the_bundle_is_sent_again_exactly_once(box, server, file, bundle):
    server.will(SUBMISSIONS, BOOM, (201, ACCEPTED))
    failed = box.run("bench", "submit", file)
    assert failed.exit_code == ExitCode.SERVER
    assert "The database is away." in failed.stderr.splitlines()
    assert "pending-upload" in failed.stderr
    file.unlink()
    assert box.run("bench", "submit").exit_code == 0
    assert box.run("bench", "submit").exit_code == 0
    assert [call.body for call in server.at(SUBMISSIONS)] == [bundle, bundle]


def test_a_bundle_that_the_server_refuses_is_kept_and_not_sent_again(box, server, file):
    server.will(SUBMISSIONS, (400, {"detail": "runs.0.seed: too odd.", "code": "schema"}))
    assert box.json("bench", "submit", file, code=ExitCode.SERVER)[0]["state"] == "refused"
    box.run("bench", "submit")
    assert len(server.at(SUBMISSIONS)) == 1
    assert len(list((box.home / "data" / "uploads").glob("*/bundle.json"))) == 1


@pytest.mark.parametrize("status", [400, 413])
def test_a_proxys_page_is_no_refusal_and_the_bundle_waits(box, server, file, status):
    server.will(SUBMISSIONS, (status, b"<html>Request Entity Too Large</html>"), (201, ACCEPTED))
    assert box.json("bench", "submit", file, code=ExitCode.SERVER)[0]["state"] == "pending-upload"
    assert box.json("bench", "submit")[0]["state"] == "submitted"


def test_a_wrong_key_leaves_the_bundle_waiting(box, server, file):
    server.will(SUBMISSIONS, (401, {"detail": "This key is not known."}), (201, ACCEPTED))
    failed = box.run("bench", "submit", file)
    assert failed.exit_code == ExitCode.SERVER
    assert "This key is not known." in failed.stderr
    assert box.json("bench", "submit")[0]["state"] == "submitted"


def test_one_failure_does_not_keep_the_others_from_being_sent(box, server, file, tmp_path, bundle):
    other = tmp_path / "other.json"
    other.write_bytes(bundle.rstrip() + b"  \n")
    server.will(SUBMISSIONS, BOOM, (201, ACCEPTED))
    states = [row["state"] for row in box.json("bench", "submit", file, other, code=ExitCode.SERVER)]
    assert states == ["pending-upload", "submitted"]


def test_what_waits_for_one_server_is_not_sent_to_another(box, server, file):
    server.will(SUBMISSIONS, BOOM)
    box.run("bench", "submit", file)
    with fake_server() as elsewhere:
        elsewhere.will(SUBMISSIONS, (201, ACCEPTED))
        box.run("bench", "submit", "--api-url", elsewhere.url)
        assert elsewhere.asked == []


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda b: b | {"hostname": "x"}, "hostname"),
        (lambda b: b | {"runs": [b["runs"][0] | {"model": "/home/me/model.gguf"}]}, "runs.0.model"),
        (lambda b: b | {"typo": 1}, "typo"),
    ],
)
def test_a_file_with_something_private_or_unknown_never_leaves_the_machine(box, server, file, spoil, named):
    file.write_text(json.dumps(spoil(json.loads(file.read_text()))))
    result = box.run("bench", "submit", file)
    assert result.exit_code == ExitCode.USAGE
    assert named in result.stderr
    assert server.asked == []


def test_a_missing_file_is_named(box, server):
    result = box.run("bench", "submit", "nowhere.json")
    assert result.exit_code == ExitCode.USAGE
    assert "nowhere.json" in result.stderr


def test_a_run_is_measured_submitted_and_listed_as_submitted(box, server):
    with bench_engine() as engine:
        box.engine_url = engine.url
        assert box.run("bench", "smoke", "--items", 3, "--submit").exit_code == 0
    assert len(server.at(SUBMISSIONS)) == 1
    assert box.json("bench", "list")[0]["upload"] == "submitted"


def test_submit_before_opt_in_is_refused_before_anything_is_measured(tmp_path, server):
    with bench_engine() as engine:
        result = Box(tmp_path, engine.url, server.url).run("bench", "smoke", "--submit")
        assert result.exit_code == ExitCode.USAGE
        assert engine.asked == []


def test_a_measured_run_whose_upload_fails_ends_with_the_servers_code_and_waits(box, server):
    server.will(SUBMISSIONS, BOOM)
    with bench_engine() as engine:
        box.engine_url = engine.url
        assert box.run("bench", "smoke", "--items", 3, "--submit").exit_code == ExitCode.SERVER
    assert box.json("bench", "list")[0]["upload"] == "pending-upload"


def test_login_keeps_the_tokens_and_logout_forgets_them(box, server):
    server.will("/auth/login", (200, {"access_token": "a", "refresh_token": "r"}))
    result = box.run("login", "--email", "a@b.example", stdin="secret\n")
    assert result.exit_code == 0
    assert server.at("/auth/login")[0].json == {"email": "a@b.example", "password": "secret"}
    kept = box.home / "config" / "login.json"
    assert json.loads(kept.read_text())["refresh_token"] == "r"
    box.run("logout")
    assert not kept.exists()


def test_a_taken_email_is_told_in_the_servers_words(box, server):
    server.will("/auth/signup", (400, {"detail": "This e-mail has an account.", "code": "email_taken"}))
    result = box.run("signup", "--email", "a@b.example", env=box.env | {"ASYNCENERGY_PASSWORD": "secret"})
    assert result.exit_code == ExitCode.SERVER
    assert "This e-mail has an account." in result.stderr.splitlines()
