"""A refresh token may be spent once: spent twice, the server takes the whole login back."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import pytest
from asyncenergy_controller.server import Login, LoginFile, ServerClient

from tests.controller.fake_engine import on_loopback
from tests.controller.report_server import settings_for

CALLERS = 4


class Tokens:
    """Refuses the first access token, to all callers at once, and takes each refresh token once."""

    def __init__(self):
        self.url, self.refreshes, self.number = "", 0, 1
        self.all_refused = threading.Barrier(CALLERS)

    def refresh(self, token):
        self.refreshes += 1
        if token != f"r{self.number}":
            return 401, {"detail": "This token is spent.", "code": "not_authenticated"}
        self.number += 1
        return 200, {"access_token": f"a{self.number}", "refresh_token": f"r{self.number}"}

    def ack(self, authorization):
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
