"""The site, served on loopback, and a browser that looks at it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request

from tests.bench.pages_corpus import publish_recorded_runs
from tests.browser.chromium import CHROMIUM, chromium

os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright's loop runs in the thread that also prepares the rows


@dataclass
class Site:
    """Addresses of the served site, by name."""

    url: str
    pages: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.url + self.pages[name]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not installed")
    with chromium() as browser:
        yield browser


@pytest.fixture
def site(live_server) -> Site:
    """The site with the recorded runs on its board."""
    run = publish_recorded_runs()["bfloat16", "arith_recorded", 1]
    pages = {
        "home": "/",
        "measure": "/bench/",
        "leaderboard": "/bench/leaderboard/?task=arith_recorded",
        "run": f"/bench/runs/{run.pk}/",
        "missing": "/nowhere/",
        "login": "/accounts/login/",
    }
    return Site(live_server.url, pages)


class Complaints:
    """What the browser complained about while it showed a page: errors, and breaches of the content policy."""

    def __init__(self, page: Page) -> None:
        self.heard: list[str] = []
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.heard.append(str(error)))
        page.on("requestfailed", self._hear_of_failure)

    def _hear_of_failure(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # the test itself went on to another page
            self.heard.append(f"{request.url}: {request.failure}")

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.heard.append(message.text)
