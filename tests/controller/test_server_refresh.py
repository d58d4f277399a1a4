"""A refresh token may be spent once: spent twice, the server takes the whole login back."""

import errno
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import pytest
from asyncenergy_controller import files
from asyncenergy_controller.server import Login, LoginFile, NotLoggedIn, ServerClient

from tests.controller.bench_server import fake_server
from tests.controller.fake_engine import on_loopback
from tests.controller.report_server import settings_for

CALLERS = 4


class Tokens:
    """Refuses the first access token, to all callers at once, and takes each refresh token once."""

    def __init__(self):
        self.url, self.refreshes, self.number, self.told = "", 0, 1, []
        self.all_refused = threading.Barrier(CALLERS)

    def refresh(self, token):
        self.refreshes += 1
        if token != f"r{self.number}":
            return 401, {"detail": "This token is spent.", "code": "not_authenticated"}
        self.number += 1
        return 200, {"access_token": f"a{self.number}", "refresh_token": f"r{self.number}"}

    def ack(self, authorization):
        self.told.append(authorization)
        if authorization == "Bearer a1":
            self.all_refused.wait(5)
            return 401, {"detail": "This token has run out.", "code": "not_authenticated"}
        return 200, {"status": "ok"}


@contextmanager
def token_server():
    tokens, one_at_a_time = Tokens(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        wbufsize = -1

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"null")
            if self.path == "/auth/refresh":
                with one_at_a_time:
                    status, answer = tokens.refresh(body["refresh_token"])
            else:
                status, answer = tokens.ack(self.headers.get("Authorization"))
            sent = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *args):
            pass

    with on_loopback(Handler) as tokens.url:
        yield tokens


@pytest.mark.parametrize("clients", [1, CALLERS], ids=["threads of one client", "clients of their own"])
def test_of_many_whose_token_ran_out_at_once_one_refreshes_and_all_go_on(tmp_path, clients):
    with token_server() as server:
        settings = settings_for(server, tmp_path, api_key=None)
        LoginFile(settings.config_dir).write(Login(server.url, "me@example.org", "a1", "r1"))
        callers = [ServerClient(settings, attempts=1) for _ in range(clients)]
        went_well = []
        threads = [
            threading.Thread(target=lambda number=number: went_well.append(callers[number % clients].post_ack({})))
            for number in range(CALLERS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert went_well == [{"status": "ok"}] * CALLERS
        assert server.refreshes == 1
        assert LoginFile(settings.config_dir).read(server.url).refresh_token == "r2"


@pytest.fixture
def disk(monkeypatch):
    """A disk that is full as long as a test says so; what was written before stays."""
    state = {"full": False}
    write = files.os.fsync

    def fsync(handle):
        if state["full"]:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(handle)

    monkeypatch.setattr(files.os, "fsync", fsync)
    return state


@pytest.fixture
def alone(monkeypatch):
    """A server that waits for one caller only."""
    monkeypatch.setattr("tests.controller.test_server_refresh.CALLERS", 1)
    with token_server() as server:
        yield server


def logged_in(server, tmp_path):
    settings = settings_for(server, tmp_path, api_key=None)
    LoginFile(settings.config_dir).write(Login(server.url, "me@example.org", "a1", "r1"))
    return settings


def test_a_full_disk_while_the_login_is_renewed_ends_neither_the_call_nor_the_login(tmp_path, alone, disk, caplog):
    settings = logged_in(alone, tmp_path)
    with ServerClient(settings, attempts=1) as client:
        disk["full"] = True
        assert client.post_ack({}) == client.post_ack({}) == {"status": "ok"}
        assert caplog.text.count("No space left") == 1
        assert LoginFile(settings.config_dir).read(alone.url).refresh_token == "r1"
        disk["full"] = False
        assert client.post_ack({}) == {"status": "ok"}
    assert alone.refreshes == 1
    assert LoginFile(settings.config_dir).read(alone.url).refresh_token == "r2"


def test_a_pair_in_memory_gives_way_to_a_login_made_meanwhile(tmp_path, alone, disk):
    settings = logged_in(alone, tmp_path)
    with ServerClient(settings, attempts=1) as client:
        disk["full"] = True
        client.post_ack({})
        disk["full"] = False
        LoginFile(settings.config_dir).write(Login(alone.url, "other@example.org", "b1", "s1"))
        client.post_ack({})
    assert LoginFile(settings.config_dir).read(alone.url).refresh_token == "s1"
    assert alone.told[-1] == "Bearer b1"


def test_a_pair_in_memory_is_forgotten_with_a_logout(tmp_path, alone, disk):
    settings = logged_in(alone, tmp_path)
    with ServerClient(settings, attempts=1) as client:
        disk["full"] = True
        client.post_ack({})
        LoginFile(settings.config_dir).forget()
        with pytest.raises(NotLoggedIn):
            client.post_ack({})


def test_a_login_that_cannot_be_kept_is_no_success_of_the_command(tmp_path, disk):
    with fake_server() as server:
        server.will("/auth/login", (200, {"access_token": "a", "refresh_token": "r"}))
        disk["full"] = True
        settings = settings_for(server, tmp_path, api_key=None)
        with ServerClient(settings) as client, pytest.raises(OSError, match="space"):
            client.login("me@example.org", "secret")


def test_a_login_that_cannot_be_locked_is_said_and_not_spent(tmp_path, alone):
    settings = logged_in(alone, tmp_path)
    (settings.config_dir / "login.lock").mkdir()
    with ServerClient(settings, attempts=1) as client, pytest.raises(NotLoggedIn, match="login.json"):
        client.post_ack({})
    assert alone.refreshes == 0


@pytest.mark.parametrize("spoil", [lambda p: p.write_text('{"half'), lambda p: p.write_text("[]"), lambda p: p.mkdir()])
def test_a_login_that_cannot_be_read_is_none_and_is_named(tmp_path, alone, spoil):
    settings = logged_in(alone, tmp_path)
    path = settings.config_dir / "login.json"
    path.unlink()
    spoil(path)
    with ServerClient(settings, attempts=1) as client, pytest.raises(NotLoggedIn, match=r"login\.json.*log in again"):
        client.post_ack({})
    assert alone.told == []
