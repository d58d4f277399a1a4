"""The posts of the blog: one Markdown file each, newest first."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.utils.safestring import SafeString

from learn import markdown

FOLDER: Path = settings.BASE_DIR / "content" / "blog"


@dataclass(frozen=True, slots=True)
class Post:
    """`published` is the day the post's head line names, at 0:00 UTC."""

    slug: str
    title: str
    description: str
    published: datetime
    html: SafeString


def posts() -> list[Post]:
    found = [_post(path) for path in FOLDER.glob("*.md")]
    return sorted(found, key=lambda post: (post.published, post.slug), reverse=True)


def post(slug: str) -> Post | None:
    return next((post for post in posts() if post.slug == slug), None)


def _post(path: Path) -> Post:
    document = markdown.read(path)
    day = datetime.fromisoformat(document.meta["date"]).replace(tzinfo=UTC)
    return Post(path.stem, document.meta["title"], document.meta["description"], day, document.html)
