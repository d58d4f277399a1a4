"""The site, served on loopback, and a browser that looks at it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request

from accounts.services import api_key_create
from tests.bench.pages_corpus import publish_recorded_runs, submit_recorded_run
from tests.browser.chromium import CHROMIUM, chromium
from tests.people import make_user
from tests.scheduling.night import make_night

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
    runs = publish_recorded_runs()
    run, other = runs["bfloat16", "arith_recorded", 1], runs["float32", "arith_recorded", 1]
    row = f"config={run.config_key}&task={run.task}"
    pages = {
        "home": "/",
        "measure": "/bench/",
        "leaderboard": "/bench/leaderboard/?task=arith_recorded",
        "run": f"/bench/runs/{run.pk}/",
        "picker": "/bench/picker/?price=28",
        "shape": "/bench/picker/?prompt_tokens=100&output_tokens=50&memory=1",
        "data": "/bench/data/",
        "configuration": f"/bench/configs/{run.config_key}/",
        "compare": f"/bench/compare/?task={run.task}&row={run.config_key}&row={other.config_key}",
        "verify": f"/bench/verify/?{row}",
        "methodology": "/bench/methodology/",
        "gates": "/bench/gates/",
        "log": "/bench/moderation-log/",
        "api": "/bench/api/",
        "mcp": "/bench/mcp/",
        "learn": "/learn/",
        "energy": "/blog/where-the-energy-goes/",
        "glossary": "/learn/glossary/",
        "blog": "/blog/",
        "post": "/blog/three-readings/",
        "how": "/how-it-works/",
        "quickstart": "/quickstart/",
        "cheapest": "/when-is-it-cheapest/?earliest=20:00",
        "unreadable": "/when-is-it-cheapest/?deadline=whenever",
        "missing": "/nowhere/",
        "docs": "/api/docs",
        "spent-letter": "/accounts/confirm/spent/",
        "spent-reset": "/accounts/password/new/MQ/spent/",
        "login": "/accounts/login/",
        "signup": "/accounts/signup/",
        "reset": "/accounts/password/reset/",
    }
    return Site(live_server.url, pages)


@pytest.fixture
def own(live_server, client) -> tuple[Site, dict[str, str]]:
    """The pages of an account, and the cookie that opens them."""
    user = make_user("owner@example.org", timezone="Europe/Prague")
    api_key_create(user=user, name="box under the desk", scope="bench")
    submit_recorded_run(user)
    client.force_login(user)
    night = make_night(user)
    pages = {
        "account": "/accounts/",
        "keys": "/accounts/keys/",
        "password": "/accounts/password/",
        "delete-account": "/accounts/delete/",
        "own-runs": "/bench/own/",
        "tonight": "/schedule/?whole",
        "workflows": "/schedule/workflows/",
        "workflow": f"/schedule/workflows/{night.workflow.pk}/",
        "edit": f"/schedule/workflows/{night.workflow.pk}/edit/",
        "delete": f"/schedule/workflows/{night.workflow.pk}/delete/",
        "new": "/schedule/workflows/new/",
        "runs": "/schedule/runs/",
        "planned-run": f"/schedule/runs/{night.run.pk}/",
        "controllers": "/schedule/controllers/",
        "settings": "/schedule/settings/",
        "notices": "/schedule/notices/",
        "markets": "/when-is-it-cheapest/?market=hourly&hours=2&earliest=20:00",
        "misfit": "/when-is-it-cheapest/?market=hourly&hours=20&deadline=in+4+h",
    }
    cookie = {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}
    return Site(live_server.url, pages), cookie


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
