"""Markdown files become posts, a feed, and a glossary."""

import xml.etree.ElementTree as ET

import pytest
from django.urls import reverse

from learn import markdown, posts
from tests.bench.pages_html import read

pytestmark = pytest.mark.django_db
ATOM = "{http://www.w3.org/2005/Atom}"
POST = """title: A post
description: Of three words.
date: {date}

Before the first heading, with `code`.

## A question? {{#asked}}
An answer with <script>alert(1)</script> and [a link](/bench/).

## Another one
| a | b |
|---|---|
| 1 | 2 |
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(posts, "FOLDER", tmp_path)
    for slug, date in (("older", "2026-01-02"), ("newer", "2026-03-04")):
        (tmp_path / f"{slug}.md").write_text(POST.format(date=date))
    return tmp_path


def test_a_file_is_read_with_its_head_and_its_sections(folder):
    document = markdown.read(folder / "older.md")
    assert document.meta == {"title": "A post", "description": "Of three words.", "date": "2026-01-02"}
    assert [(section.anchor, section.title) for section in document.sections] == [
        ("asked", "A question?"),
        ("another-one", "Another one"),
    ]
    assert document.opening == "<p>Before the first heading, with <code>code</code>.</p>"
    assert "<td>1</td>" in document.sections[1].html


def test_nothing_that_runs_survives(folder):
    html = markdown.read(folder / "older.md").html
    assert "alert" not in html
    assert '<a href="/bench/">a link</a>' in html


def test_a_changed_file_is_read_again(folder):
    assert "three words" in posts.post("older").description
    (folder / "older.md").write_text(POST.format(date="2026-01-02").replace("three", "four"))
    assert "four words" in posts.post("older").description


def test_the_newest_post_is_the_first(client, folder):
    assert [post.slug for post in posts.posts()] == ["newer", "older"]
    links = read(client.get("/blog/")).values("href")
    assert links.index("/blog/newer/") < links.index("/blog/older/")


def test_a_post_has_its_own_title_description_and_date(client, folder):
    page = read(client.get("/blog/newer/"))
    assert page.title == "A post · Async Energy"
    assert page.description == "Of three words."
    assert "2026-03-04" in page.values("datetime")
    assert client.get("/blog/nowhere/").status_code == 404


def test_the_feed_is_atom_and_names_each_post_once(client, folder):
    response = client.get(reverse("learn:feed"))
    assert response["Content-Type"].startswith("application/atom+xml")
    feed = ET.fromstring(response.content)
    entries = feed.findall(f"{ATOM}entry")
    assert [entry.find(f"{ATOM}link").get("href") for entry in entries] == [
        "http://testserver/blog/newer/",
        "http://testserver/blog/older/",
    ]
    assert [entry.findtext(f"{ATOM}published")[:10] for entry in entries] == ["2026-03-04", "2026-01-02"]
    for part in ("id", "title", "updated"):
        assert feed.findtext(f"{ATOM}{part}")
        assert all(entry.findtext(f"{ATOM}{part}") for entry in entries)


def test_every_shipped_post_can_be_read(client):
    assert posts.posts()
    for post in posts.posts():
        page = read(client.get(f"/blog/{post.slug}/"))
        assert page.faults == []
        assert len(page.all("h1")) == 1


def test_the_glossary_is_sorted_and_every_term_can_be_linked(client):
    page = read(client.get("/learn/glossary/"))
    document = markdown.read(posts.FOLDER.parent / "glossary.md")
    assert len(document.sections) == len(page.all("dt")) > 20
    titles = [section.title for section in document.sections]
    assert titles == sorted(titles, key=str.lower)
    assert {section.anchor for section in document.sections} <= set(page.values("id"))
