"""A call to the server ends in its time, whatever trickles back, and an address or proxy that is none is said so."""

import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import pytest
from asyncenergy_controller.errors import ExitCode, UsageError
from asyncenergy_controller.server import ServerClient, ServerFailed, ServerUnreachable, limits

from tests.controller.fake_engine import on_loopback
from tests.controller.report_server import settings_for

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@contextmanager
def raw_server(send):
    """Answers with whatever bytes `send` writes."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            send(self.wfile.write)
            self.close_connection = True

        def log_message(self, *args):
            pass

    with on_loopback(Handler) as url:
        yield url, asked


def client_of(url, tmp_path, **values):
    return ServerClient(settings_for(url, tmp_path, **values), attempts=1)


def dripping(before):
    """One byte every 50 ms for 3 s."""

    def send(write):
        write(before)
        for _ in range(60):
            write(b"x")
            time.sleep(0.05)

    return send


@pytest.mark.parametrize(
    "before", [HEAD + b"Content-Length: 1000\r\n\r\n", HEAD + b"X-Long: "], ids=["in its body", "in its head"]
)
def test_an_answer_that_trickles_ends_with_the_time_limit_of_the_call(tmp_path, before):
    with raw_server(dripping(before)) as (url, _):
        began_s = time.monotonic()
        with client_of(url, tmp_path, server_timeout_s=0.3) as client:
            with pytest.raises(ServerUnreachable, match="no answer within 0.3 s"):
                client.schedule(-1)
            assert time.monotonic() - began_s < 1.5


def test_an_answer_that_is_far_too_long_is_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MOST_BYTES", 1000)
    answer = HEAD + b"Content-Length: 5000\r\n\r\n" + b"x" * 5000
    with (
        raw_server(lambda write: write(answer)) as (url, _),
        client_of(url, tmp_path) as client,
        pytest.raises(ServerUnreachable, match="far longer"),
    ):
        client.schedule(-1)


def test_an_answer_in_a_compression_that_it_is_not_in_is_a_failure_of_the_server(tmp_path):
    answer = HEAD + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd"
    with (
        raw_server(lambda write: write(answer)) as (url, _),
        client_of(url, tmp_path) as client,
        pytest.raises(ServerFailed, match="can't be read"),
    ):
        client.schedule(-1)


def test_a_proxy_of_the_environment_is_asked(tmp_path, monkeypatch):
    with raw_server(lambda write: write(b"HTTP/1.1 204 No Content\r\n\r\n")) as (proxy, asked):
        monkeypatch.setenv("http_proxy", proxy)
        with client_of("http://energy.example", tmp_path) as client:
            assert client.schedule(-1) is None
    assert asked == ["http://energy.example/api/v1/schedule?after=-1"]


@pytest.mark.parametrize("proxy", ["socks5h://127.0.0.1:9", "socks://127.0.0.1:9", "http://localhost:port"])
def test_a_proxy_that_cannot_be_used_is_named_with_the_variables(tmp_path, monkeypatch, proxy):
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(UsageError, match="ALL_PROXY") as refused:
        client_of("http://energy.example", tmp_path)
    assert refused.value.exit_code == ExitCode.USAGE
