"""Debian's Chromium, started so that it talks to nobody but the page it is shown."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
WIDE, NARROW, NARROWEST = 1280, 390, 360
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser; closed at the end."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def window(browser: Browser, *, width: int = WIDE, scheme: str = "light", scripts: bool = True) -> BrowserContext:
    """A window of its own: 1280 px is a laptop, 390 a phone."""
    return browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if scheme == "dark" else "light",
        java_script_enabled=scripts,
        reduced_motion="reduce",
    )


def until(page: Page, holds: Callable[[], bool], limit_s: float = 10.0) -> None:
    """Look until it holds; Playwright's own `wait_for_function` is refused by the policy of our pages."""
    end_s = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end_s, "it did not happen in time"
        page.wait_for_timeout(20)
