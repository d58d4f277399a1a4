"""Markdown files to clean HTML. Pure but for reading the file."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import nh3
from django.utils.safestring import SafeString
from markdown import Markdown
from markdown.extensions.toc import slugify

_HEADING = re.compile(r"^## +(?P<title>.+?)(?: +\{#(?P<anchor>[a-z0-9-]+)\})? *$", re.MULTILINE)
_ATTRIBUTES = {**nh3.ALLOWED_ATTRIBUTES, "h2": {"id"}, "h3": {"id"}, "code": {"class"}}


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one second-level heading."""

    anchor: str
    title: str
    html: SafeString


@dataclass(frozen=True, slots=True)
class Document:
    """A file with its head lines (``title: …``), what stands before the first heading, and its sections."""

    meta: dict[str, str]
    opening: SafeString
    sections: list[Section]
    html: SafeString


def read(path: Path) -> Document:
    """The document in a file; read again once the file has changed."""
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _read(path: Path, changed_ns: int) -> Document:
    head, _, body = path.read_text(encoding="utf-8").partition("\n\n")
    meta = dict(line.split(": ", 1) for line in head.splitlines())
    opening = _HEADING.split(body, maxsplit=1)[0]
    return Document(meta, to_html(opening), list(_sections(body)), to_html(body))


def _sections(body: str) -> Iterator[Section]:
    headings = list(_HEADING.finditer(body))
    ends = [heading.start() for heading in headings[1:]] + [len(body)]
    for heading, end in zip(headings, ends, strict=True):
        title = heading["title"]
        yield Section(heading["anchor"] or slugify(title, "-"), title, to_html(body[heading.end() : end]))


def to_html(text: str) -> SafeString:
    """Tables, code and anchors; whatever else is not plain text is dropped."""
    rendered = Markdown(extensions=["tables", "fenced_code", "attr_list", "toc"]).convert(text)
    return SafeString(nh3.clean(rendered, attributes=_ATTRIBUTES, link_rel=None))
