"""A webhook is called at the very address that was looked at, by its own name, once, and without being led away."""

import socket
import threading
import time
from contextlib import suppress

import pytest

from scheduling.errors import FieldRefused, NoticeFailed
from scheduling.notices import webhook
from tests.scheduling.webhook_receiver import HOST, OK, make_certificate, receiver

PUBLIC = "93.184.215.14"
URL = f"https://{HOST}/hook?key=1"
HEADERS = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def internet(monkeypatch, certificate):
    """Names have the addresses given here, and every connection ends at the receiver on loopback."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    net = {"addresses": [PUBLIC], "lookups": [], "connections": [], "port": None}

    def look_up(host, port, **options):
        net["lookups"].append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in net["addresses"]]

    def connect(address, timeout):
        net["connections"].append(address)
        if net["port"] is None:
            raise ConnectionRefusedError(111, "Connection refused")
        made = socket.socket(socket.AF_INET)
        made.settimeout(timeout)
        made.connect(("127.0.0.1", net["port"]))
        return made

    monkeypatch.setattr(webhook.socket, "getaddrinfo", look_up)
    monkeypatch.setattr(webhook.socket, "create_connection", connect)
    return net


def answering(text):
    return lambda secure: secure.sendall(text)


def test_it_is_called_by_its_name_at_the_address_that_was_looked_up_once(internet, certificate):
    with receiver(certificate, answering(OK)) as found:
        internet["port"] = found.port
        webhook.call(URL, b'{"id": 1}', HEADERS)
    assert (internet["lookups"], internet["connections"]) == ([HOST], [(PUBLIC, 443)])
    assert found.names == [HOST]
    (request,) = found.requests
    assert request.startswith(b"POST /hook?key=1 HTTP/1.1\r\n")
    assert f"\r\nHost: {HOST}\r\n".encode() in request
    assert request.endswith(b'\r\n\r\n{"id": 1}')


@pytest.mark.parametrize("inside", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "::ffff:10.0.0.1", "::1"])
@pytest.mark.parametrize("also_public", [False, True])
def test_a_name_with_any_address_inside_is_never_connected_to(internet, inside, also_public):
    internet["addresses"] = [PUBLIC, inside] if also_public else [inside]
    with pytest.raises(NoticeFailed, match="not on the public internet"):
        webhook.call(URL, b"", HEADERS)
    assert internet["connections"] == []


def test_a_name_without_an_address_is_said_so(internet):
    internet["addresses"] = []
    with pytest.raises(NoticeFailed, match="no address"):
        webhook.call(URL, b"", HEADERS)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"])
def test_a_redirect_is_not_followed(internet, certificate, status):
    answer = f"HTTP/1.1 {status}\r\nLocation: https://127.0.0.1/inside\r\nContent-Length: 0\r\n\r\n".encode()
    with receiver(certificate, answering(answer)) as found:
        internet["port"] = found.port
        with pytest.raises(NoticeFailed, match="is not followed"):
            webhook.call(URL, b"", HEADERS)
    assert len(found.requests) == 1
    assert internet["connections"] == [(PUBLIC, 443)]


@pytest.mark.parametrize("status", [400, 404, 410, 429, 500, 503])
def test_a_refusal_is_a_failure_with_its_status(internet, certificate, status):
    with receiver(certificate, answering(f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n".encode())) as found:
        internet["port"] = found.port
        with pytest.raises(NoticeFailed, match=f"status {status}"):
            webhook.call(URL, b"", HEADERS)


def test_an_answer_that_comes_drop_by_drop_is_cut_off(internet, certificate, monkeypatch):
    monkeypatch.setattr(webhook, "LIMIT_S", 0.3)

    def drip(secure):
        for _ in range(400):
            secure.sendall(b"H")
            time.sleep(0.05)

    with receiver(certificate, drip) as found:
        internet["port"] = found.port
        started = time.monotonic()
        with pytest.raises(NoticeFailed, match="no answer"):
            webhook.call(URL, b"", HEADERS)
        assert time.monotonic() - started < 10, "it drips for 20 s"


def test_a_greeting_that_comes_drop_by_drop_is_cut_off(internet, monkeypatch):
    monkeypatch.setattr(webhook, "LIMIT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        internet["port"] = listener.getsockname()[1]
        thread = threading.Thread(target=drip_greeting, args=(listener,))
        thread.start()
        started = time.monotonic()
        with pytest.raises(NoticeFailed, match="no answer"):
            webhook.call(URL, b"", HEADERS)
        assert time.monotonic() - started < 10, "it drips for 20 s"
        thread.join(5)


def drip_greeting(listener):
    """The head of a long TLS record, and then a byte now and then."""
    plain, _ = listener.accept()
    with plain, suppress(OSError):
        plain.sendall(b"\x16\x03\x03\x40\x00")
        for _ in range(400):
            plain.sendall(b"\x02")
            time.sleep(0.05)


def test_nonsense_for_an_answer_is_a_failure(internet, certificate):
    with receiver(certificate, answering(b"hello\r\n")) as found:
        internet["port"] = found.port
        with pytest.raises(NoticeFailed, match="no answer"):
            webhook.call(URL, b"", HEADERS)


def test_a_certificate_of_somebody_else_is_refused(internet, certificate):
    with receiver(certificate, answering(OK)) as found:
        internet["port"] = found.port
        with pytest.raises(NoticeFailed, match="no answer"):
            webhook.call("https://other.example.org/", b"", HEADERS)
    assert found.requests in ([], [b""])


def test_a_refused_connection_is_a_failure(internet):
    with pytest.raises(NoticeFailed, match="Connection refused"):
        webhook.call(URL, b"", HEADERS)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://example.org/",
            "https://example.org:8443/",
            "https://example.org:80/",
            "ftp://example.org/",
            "example.org",
        ),
        *(
            "https://user:password@example.org/",
            "https://@example.org/",
            "https:///path",
            "https://",
            "",
            "https://[::1",
        ),
        *("https://example.org/a b", "https://example.org/\r\nHost: x", "javascript:alert(1)", "file:///etc/passwd"),
        *("https://example.org:99999/", "https://example.org:x/", "https://" + "a" * 600 + ".org/", "https://a..b/"),
    ],
)
def test_only_plain_https_on_its_own_port_is_taken(url):
    with pytest.raises(FieldRefused) as refused:
        webhook.target_of(url)
    assert refused.value.errors[0]["attr"] == "webhook_url"


@pytest.mark.parametrize(
    ("url", "host", "path"),
    [
        ("https://example.org", "example.org", "/"),
        ("https://EXAMPLE.org:443/a/b?c=d#fragment", "example.org", "/a/b?c=d"),
        ("https://bücher.example/ä", "xn--bcher-kva.example", "/%C3%A4"),
        ("https://8.8.8.8/x", "8.8.8.8", "/x"),
    ],
)
def test_an_address_is_read_as_browsers_read_it(url, host, path):
    assert webhook.target_of(url) == webhook.Target(host, path)
