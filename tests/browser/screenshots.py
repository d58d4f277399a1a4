"""Takes pictures of pages of a running site, in both schemes and at two widths.

    python -m tests.browser.screenshots OUT [--site http://127.0.0.1:8000] [--cookie sessionid=…] PATH …

A path may have a name in front: ``queue=/admin/bench/run/``.
"""

import argparse
from pathlib import Path

from playwright.sync_api import Browser

from tests.browser.chromium import NARROW, WIDE, chromium, window

DEFAULT_PATHS = [
    "home=/",
    "measure=/bench/",
    "leaderboard=/bench/leaderboard/",
    "cheapest=/when-is-it-cheapest/",
    "how=/how-it-works/",
    "quickstart=/quickstart/",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder for the pictures")
    parser.add_argument("paths", nargs="*", default=DEFAULT_PATHS, help="paths of the site, each with an optional name")
    parser.add_argument("--site", default="http://127.0.0.1:8000")
    parser.add_argument("--cookie", help="a session, as name=value, for pages behind a sign-in")
    arguments = parser.parse_intermixed_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for named in arguments.paths:
            name, _, path = named.partition("=") if not named.startswith("/") else ("", "", named)
            for scheme in ("light", "dark"):
                for width in (WIDE, NARROW):
                    file = arguments.out / f"{name or path.strip('/').replace('/', '-') or 'home'}-{width}-{scheme}.png"
                    take(browser, arguments.site + path, file, width=width, scheme=scheme, cookie=arguments.cookie)
                    print(file)


def take(browser: Browser, url: str, file: Path, *, width: int, scheme: str, cookie: str | None) -> None:
    """One picture of the whole page."""
    context = window(browser, width=width, scheme=scheme)
    if cookie:
        name, _, value = cookie.partition("=")
        context.add_cookies([{"name": name, "value": value, "url": url}])
    page = context.new_page()
    page.goto(url)
    page.screenshot(path=file, full_page=True)
    context.close()


if __name__ == "__main__":
    main()
