"""Every public page for search engines."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from django.contrib.sitemaps import Sitemap
from django.urls import reverse

from bench import selectors
from bench.selectors import BoardQuery
from learn.posts import Post, posts

PAGES = (
    "bench:home",
    "bench:measure",
    "bench:leaderboard",
    "bench:picker",
    "bench:data",
    "bench:methodology",
    "bench:gates",
    "bench:moderation-log",
    "bench:verify",
    "learn:index",
    "learn:energy",
    "learn:glossary",
    "learn:blog",
    "learn:api",
    "learn:mcp",
    "scheduling:how-it-works",
    "scheduling:quickstart",
    "scheduling:cheapest",
)

MOST_RUNS = 5000

if TYPE_CHECKING:  # generic in the stubs only
    NameSitemap = Sitemap[str]
    PostsSitemap = Sitemap[Post]
else:
    NameSitemap = PostsSitemap = Sitemap


class PageSitemap(NameSitemap):
    def items(self) -> Sequence[str]:
        return PAGES

    def location(self, item: str) -> str:
        return reverse(item)


class PostSitemap(PostsSitemap):
    def items(self) -> Sequence[Post]:
        return posts()

    def location(self, item: Post) -> str:
        return reverse("learn:post", args=[item.slug])

    def lastmod(self, item: Post) -> datetime:
        return item.published


class RunSitemap(NameSitemap):
    """The run that each row of the board shows."""

    def items(self) -> Sequence[str]:
        return [row["run_id"] for row in selectors.board_rows(BoardQuery(limit=MOST_RUNS))]

    def location(self, item: str) -> str:
        return reverse("bench:run", args=[item])


SITEMAPS = {"pages": PageSitemap, "posts": PostSitemap, "runs": RunSitemap}
