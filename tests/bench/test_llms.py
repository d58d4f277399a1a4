"""What an assistant reads before it cites the site: nothing in it can go stale."""

import re
from urllib.parse import urlsplit

import pytest
from django.urls import reverse

from bench import selectors, services
from bench.presentation import significant
from bench.selectors import BoardQuery
from learn.posts import posts
from learn.sitemaps import PAGES
from tests.bench.corpus import published

pytestmark = pytest.mark.django_db
LINK = re.compile(r"https?://[^\s)]+")


@pytest.fixture
def board(submitter, maintainer):
    runs = [published(submitter, maintainer, right=right, max_tokens=100 + right) for right in (3, 6)]
    services.alias_list_names(runs=runs)
    services.board_rebuild()


def text_of(client) -> str:
    return client.get("/llms.txt").content.decode()


def paths(text: str) -> set[str]:
    return {urlsplit(link).path for link in LINK.findall(text)}


def test_every_link_leads_somewhere(client, board):
    for path in paths(text_of(client)) - {"/mcp"}:
        assert client.get(path).status_code == 200, path


def test_every_page_and_article_of_the_sitemap_is_named(client, board):
    named = paths(text_of(client))
    assert {reverse(name) for name in PAGES} <= named
    assert {reverse("learn:post", args=[post.slug]) for post in posts()} <= named


def test_figures_and_version_are_those_of_the_board(client, board):
    text = text_of(client)
    assert f"Data version {selectors.data_version()}: 2 published runs from 1 machine." in text
    for row in selectors.board_rows(BoardQuery()):
        assert f"{significant(row['joules_per_correct_answer'])} J per correct answer (gpu_board)" in text


def test_after_a_decision_it_says_something_else(client, board, submitter, maintainer):
    before = text_of(client)
    published(submitter, maintainer, right=12, max_tokens=300)
    services.board_rebuild()
    assert "3 published runs" in text_of(client) != before
