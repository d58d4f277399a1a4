"""The proxy of the campaigns: each mishap is what its name says."""

import http.client
import json
from collections import Counter
from http.server import BaseHTTPRequestHandler

import pytest

from tests.controller.fake_engine import on_loopback
from tests.loop.proxy import CLEAR, Proxy, Weather


@pytest.fixture
def behind():
    """A server that counts what it is asked, and a proxy before it."""
    asked = Counter()

    class Handler(BaseHTTPRequestHandler):
        wbufsize = -1

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked[body.decode()] += 1
            answer = json.dumps({"times": asked[body.decode()]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args):
            pass

    with on_loopback(Handler) as url, Proxy(int(url.rsplit(":", 1)[1])) as proxy:
        yield asked, proxy


def post(proxy, body):
    connection = http.client.HTTPConnection(proxy.url.removeprefix("http://"), timeout=5)
    try:
        connection.request("POST", "/x", body)
        return json.loads(connection.getresponse().read())
    except (http.client.HTTPException, ConnectionError):
        return None
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("weather", "answer", "asked"),
    [
        (CLEAR, {"times": 1}, 1),
        (Weather(delay=1.0, delay_s=0.05), {"times": 1}, 1),
        (Weather(repeat=1.0), {"times": 2}, 2),
        (Weather(drop_answer=1.0), None, 1),
        (Weather(drop_request=1.0), None, 0),
    ],
)
def test_each_mishap_is_what_its_name_says(behind, weather, answer, asked):
    calls, proxy = behind
    proxy.weather = weather
    assert post(proxy, "a" * 100_000) == answer
    assert calls["a" * 100_000] == asked


def test_a_server_that_is_away_is_a_closed_connection():
    with Proxy(9) as proxy:
        assert post(proxy, "x") is None
        assert proxy.counts["server away"] == 1
