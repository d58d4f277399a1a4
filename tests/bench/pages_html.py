"""Reads a page as a browser would, as far as tests need it."""

import copy
import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin

from django.conf import settings
from django.test import override_settings

VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
DRAWN = {"line", "rect", "text", "svg", "g", "path", "circle"}


@dataclass
class Page(HTMLParser):
    """The elements of a page in order, its text, and what is wrong with its markup."""

    html: str
    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._open: list[str] = []
        self._text: list[str] = []
        self.feed(self.html)
        self.faults += [f"<{tag}> is never closed" for tag in self._open]

    def handle_starttag(self, tag, attrs):
        names = Counter(name for name, _ in attrs)
        self.faults += [f"<{tag}> has {name} twice" for name, n in names.items() if n > 1]
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()
            if tag not in DRAWN:
                self.faults.append(f"<{tag}/> is not closed by a slash in HTML")

    def handle_endtag(self, tag):
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        self._text.append(data)

    @property
    def title(self) -> str:
        return " ".join(self.html.split("<title>")[1].split("</title>")[0].split())

    @property
    def description(self) -> str:
        return next((meta.get("content", "") for meta in self.all("meta") if meta.get("name") == "description"), "")

    @property
    def text(self) -> str:
        """The words of the page; narrow spaces read as plain ones."""
        return " ".join("".join(self._text).replace("\u202f", " ").split())

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def values(self, attribute: str) -> list[str]:
        return [attributes[attribute] for _, attributes in self.elements if attribute in attributes]


def read(response) -> Page:
    """The page of a response."""
    return Page(response.content.decode())


def unknown_names_show():
    """While this holds, a name that a template does not know stands on the page, where nothing would."""
    templates = copy.deepcopy(settings.TEMPLATES)
    templates[0]["OPTIONS"]["string_if_invalid"] = "⚠%s⚠"
    return override_settings(TEMPLATES=templates)


def unknown_names(pages: dict[str, Page]) -> dict[str, list[str]]:
    """Names that templates did not know, by address."""
    found = {address: re.findall("⚠(.+?)⚠", page.html) for address, page in pages.items()}
    return {address: names for address, names in found.items() if names}


def crawl(client, start: str = "/", most: int = 400) -> tuple[dict[str, Page], dict[str, int]]:
    """Every page that can be reached by links, and the status of every address that was asked for."""
    waiting, pages = [start], {}
    statuses: dict[str, int] = {}
    while waiting and len(statuses) < most:
        address = waiting.pop(0)
        if address in statuses:
            continue
        response = client.get(address, follow=True)
        statuses[address] = response.status_code
        body = response.getvalue()  # a file is closed once it is read
        if response.get("Content-Type", "").startswith("text/html"):
            pages[address] = Page(body.decode())
            waiting += [urljoin(address, link).split("#")[0] for link in _links(pages[address])]
    return pages, statuses


def dead_anchors(pages: dict[str, Page]) -> list[tuple[str, str]]:
    """Links to a place that their page lacks: where they stand, and the link."""
    dead = []
    for address, page in pages.items():
        for href in page.values("href"):
            target, _, anchor = urljoin(address, href).partition("#")
            if anchor and target in pages and anchor not in pages[target].values("id"):
                dead.append((address, href))
    return dead


def _links(page: Page) -> list[str]:
    links = page.values("href") + page.values("src")
    return [link for link in links if not link.startswith(("#", "http:", "https:", "mailto:", "data:"))]
