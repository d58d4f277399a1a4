"""Too large a body gets 413 before Django reads it, under every server that we start."""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from asyncenergy.bodylimit import LARGE_BYTES, SMALL_BYTES, body_limit_bytes
from tests.servers import free_port, wait_until_open

pytestmark = pytest.mark.campaign
ROOT = Path(__file__).resolve().parents[2]
COMMANDS = {
    "uvicorn": ["-m", "uvicorn", "asyncenergy.asgi:application", "--port", "{port}"],
    "gunicorn": ["-m", "gunicorn", "asyncenergy.wsgi", "--bind", "127.0.0.1:{port}", "--threads=2", "--keep-alive=0"],
    "runserver": ["manage.py", "runserver", "127.0.0.1:{port}", "--noreload", "--skip-checks"],
}


@pytest.fixture(scope="module")
def ports(tmp_path_factory) -> Iterator[dict[str, int]]:
    """All three servers, started side by side."""
    folder = tmp_path_factory.mktemp("var")
    variables = os.environ | {"DJANGO_SETTINGS_MODULE": "asyncenergy.settings", "ASYNCENERGY_VAR_DIR": str(folder)}
    ports = {name: free_port() for name in COMMANDS}
    servers = [
        subprocess.Popen(
            [sys.executable, *(part.format(port=ports[name]) for part in command)],
            cwd=ROOT,
            env=variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for name, command in COMMANDS.items()
    ]
    try:
        for port in ports.values():
            wait_until_open(port)
        yield ports
    finally:
        for server in servers:
            server.terminate()
        for server in servers:
            server.wait(timeout=20)


@pytest.fixture(params=COMMANDS)
def server(request):
    return request.param


@pytest.fixture
def connection(server, ports) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection("127.0.0.1", ports[server], timeout=30)
    yield connection
    connection.close()


def post(connection, path: str, size: int, *, chunked: bool = False) -> tuple[int, dict[str, str], bool]:
    """Return status, body, and whether the server closed the connection."""
    text = b'"' + b"x" * (size - 2) + b'"'
    parts = (text[start : start + 2**16] for start in range(0, size, 2**16))
    connection.request("POST", path, parts if chunked else text, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    parsed = json.loads(answer.read())
    return answer.status, parsed, answer.will_close


def test_samples_and_submissions_may_be_larger():
    assert body_limit_bytes("/api/v1/bench/submissions") == 16 * 2**20
    assert body_limit_bytes("/api/v1/runs/7b1c/samples") == 16 * 2**20
    assert body_limit_bytes("/api/v1/runs") == body_limit_bytes("/auth/login") == 2**20


@pytest.mark.parametrize(("path", "limit"), [("/auth/login", SMALL_BYTES), ("/api/v1/bench/submissions", LARGE_BYTES)])
def test_one_byte_too_many_is_cut_off(connection, path, limit):
    status, body, closed = post(connection, path, limit + 1)
    assert (status, body["code"], closed) == (413, "body_too_large", True)
    assert f"{limit // 2**20} MiB" in body["detail"]


def test_the_limit_itself_passes(connection):
    status, body, _ = post(connection, "/auth/login", SMALL_BYTES)
    assert (status, body["code"]) == (400, "validation_error")


def test_20_mb_get_the_sentence_and_not_a_broken_pipe(connection):
    status, body, closed = post(connection, "/api/v1/bench/submissions", 20_000_000)
    assert (status, body["code"], closed) == (413, "body_too_large", True)


@pytest.mark.parametrize("server", ["uvicorn", "gunicorn"], indirect=True)
def test_a_body_without_a_length_is_taken(connection):
    assert post(connection, "/auth/login", 1000, chunked=True)[1]["code"] == "validation_error"


@pytest.mark.parametrize("server", ["uvicorn", "gunicorn"], indirect=True)
def test_a_body_without_a_length_is_counted_too(connection):
    status, body, closed = post(connection, "/auth/login", 2 * SMALL_BYTES, chunked=True)
    assert (status, body["code"], closed) == (413, "body_too_large", True)


@pytest.mark.parametrize("server", ["runserver"], indirect=True)
def test_runserver_reads_no_body_without_a_length_and_says_so(connection):
    connection.putrequest("POST", "/auth/login")
    connection.putheader("Transfer-Encoding", "chunked")
    connection.endheaders()  # the answer comes before the body: runserver closes without reading it
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["code"], answer.will_close) == (411, "length_required", True)
