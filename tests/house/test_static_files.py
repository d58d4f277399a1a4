"""Static files under an ASGI server: whole, compressed, never stale, and nothing outside their folders."""

import asyncio
import gzip
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync

from asyncenergy.staticfiles import with_static_files

ROOT = Path(__file__).resolve().parents[2]


async def site(scope, receive, send):
    await send({"type": "http.response.start", "status": 299, "headers": []})
    await send({"type": "http.response.body", "body": b"the site"})


def get(path, method="GET", **headers):
    """Status, headers and body of one request."""
    sent = []

    async def call():
        waiting = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive():
            return waiting.pop() if waiting else await asyncio.Event().wait()

        async def send(message):
            sent.append(message)

        pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "method": method, "path": path, "root_path": "", "headers": pairs, "query_string": b""}
        await with_static_files(site)(scope, receive, send)

    async_to_sync(call)()
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], found, b"".join(message.get("body", b"") for message in sent[1:])


@pytest.mark.parametrize("file", ["css/site.css", "vendor/htmx.min.js", "icon.svg"])
def test_a_file_comes_whole(file):
    status, headers, body = get(f"/static/{file}")
    assert (status, body) == (200, (ROOT / "static" / file).read_bytes())
    assert headers["x-content-type-options"] == "nosniff"


def test_a_file_of_an_app_is_found():
    assert get("/static/admin/css/base.css")[0] == 200


def test_a_large_file_is_compressed():
    _, headers, body = get("/static/vendor/chart.umd.min.js", accept_encoding="gzip")
    assert headers["content-encoding"] == "gzip"
    assert gzip.decompress(body) == (ROOT / "static/vendor/chart.umd.min.js").read_bytes()


def test_a_browser_asks_again_and_is_told_that_nothing_changed():
    _, headers, _ = get("/static/css/site.css")
    assert headers["cache-control"] == "no-cache"
    status, again, body = get("/static/css/site.css", if_none_match=headers["etag"])
    assert (status, body, again["cache-control"]) == (304, b"", "no-cache")


def test_a_changed_file_is_sent_anew(tmp_path, settings):
    settings.STATICFILES_DIRS = [tmp_path]
    file = tmp_path / "note.txt"
    file.write_text("old")
    tag = get("/static/note.txt")[1]["etag"]
    file.write_text("new and longer")
    status, _, body = get("/static/note.txt", if_none_match=tag)
    assert (status, body) == (200, b"new and longer")


@pytest.mark.parametrize("path", ["/static/../manage.py", "/static//etc/hostname", "/static/nothing.css", "/static/"])
def test_nothing_else_is_served(path):
    assert get(path)[0] == 404


def test_nothing_is_written_to_a_file():
    assert get("/static/css/site.css", method="POST")[0] == 405


def test_everything_else_goes_to_the_site():
    assert get("/bench/")[0] == get("/staticfoo")[0] == 299
