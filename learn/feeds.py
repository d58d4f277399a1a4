"""The blog as an Atom feed."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.contrib.syndication.views import Feed
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed

from learn.posts import Post, posts

if TYPE_CHECKING:  # generic in the stubs only
    PostFeed = Feed[Post, None]
else:
    PostFeed = Feed


class BlogFeed(PostFeed):
    feed_type = Atom1Feed
    title = "Async Energy"
    subtitle = "What AI on your own hardware costs in energy, and when to run it."
    author_name = "Async Energy"

    def link(self) -> str:
        return reverse("learn:blog")

    def items(self) -> list[Post]:
        return posts()

    def item_title(self, item: Post) -> str:
        return item.title

    def item_description(self, item: Post) -> str:
        return item.description

    def item_link(self, item: Post) -> str:
        return reverse("learn:post", args=[item.slug])

    def item_pubdate(self, item: Post) -> datetime:
        return item.published

    def item_updateddate(self, item: Post) -> datetime:
        return item.published
