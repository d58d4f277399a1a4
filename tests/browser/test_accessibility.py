"""axe-core looks at every page in both schemes and at two widths; nothing scrolls sideways; nothing complains."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.urls import resolve

from tests.api.test_rights import RIGHTS
from tests.browser.chromium import NARROW, NARROWEST, WIDE, until, window
from tests.browser.conftest import Complaints

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
REFUSED = {"missing", "spent-letter", "spent-reset"}  # whose status is an error, which the browser says itself
PROGRAMS = ("api/v1/", "auth/", "admin/", "mcp")
FILES = (".json", ".txt", ".xml", "<str:name>", "health")
WCAG = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")


def routes_of_pages():
    """Each address that a reader may look at; the desk has tests of its own."""
    read = {route for route, rights in RIGHTS.items() if "GET" in rights}
    return {route for route in read if not route.startswith(PROGRAMS) and not route.endswith(FILES)}


def test_no_page_is_left_out(site, own):
    looked_at = {*site.pages.values(), *own[0].pages.values()} - {site.pages["missing"]}
    assert routes_of_pages() == {resolve(urlsplit(path).path).route for path in looked_at}


def serious_faults(page, *, rules=(*WCAG, "best-practice")):
    """Faults by rule and place."""
    page.evaluate(AXE)
    found = page.evaluate("rules => axe.run({runOnly: rules})", list(rules))
    return [
        f"{fault['id']}: {node['target']} {node['failureSummary']}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_no_page_has_a_serious_fault(browser, site, width, scheme):
    with window(browser, width=width, scheme=scheme) as context:
        page = context.new_page()
        for name in site.pages:
            page.goto(site[name])
            assert serious_faults(page) == [], name


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_no_page_of_an_account_has_a_serious_fault(browser, own, width, scheme):
    site, cookie = own
    with window(browser, width=width, scheme=scheme) as context:
        context.add_cookies([cookie])
        page = context.new_page()
        for name in site.pages:
            page.goto(site[name])
            assert page.url == site[name]
            assert serious_faults(page) == [], name


def test_a_refused_form_has_no_serious_fault(browser, site):
    with window(browser, width=NARROW) as context:
        page = context.new_page()
        page.goto(site["signup"])
        page.get_by_label("E-mail").fill("somebody@example.org")
        page.get_by_label("Password").first.fill("short")
        page.locator("main button[type=submit]").click()
        assert page.locator(".field-error").count()
        assert serious_faults(page) == []


def test_axe_would_find_a_fault(browser, site):
    with window(browser) as context:
        page = context.new_page()
        page.goto(site["home"])
        page.evaluate("document.querySelector('h1').insertAdjacentHTML('afterend', '<button></button>')")
        assert any("button-name" in fault for fault in serious_faults(page))


def test_nothing_scrolls_sideways_on_the_narrowest_phone(browser, site):
    with window(browser, width=NARROWEST) as context:
        page = context.new_page()
        for name in site.pages:
            page.goto(site[name])
            widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert widths[0] <= widths[1], name


def test_the_browser_has_nothing_to_complain_about(browser, site):
    with window(browser) as context:
        page = context.new_page()
        complaints = Complaints(page)
        for name in set(site.pages) - REFUSED:
            page.goto(site[name], wait_until="networkidle")
            page.emulate_media(color_scheme="dark")
            page.emulate_media(color_scheme="light")
        assert complaints.heard == []


def test_no_page_of_an_account_scrolls_sideways_or_complains(browser, own):
    site, cookie = own
    with window(browser, width=NARROWEST) as context:
        context.add_cookies([cookie])
        page = context.new_page()
        complaints = Complaints(page)
        for name in site.pages:
            page.goto(site[name], wait_until="networkidle")
            widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert widths[0] <= widths[1], name
            page.emulate_media(color_scheme="dark")
            page.emulate_media(color_scheme="light")
            assert complaints.heard == [], name


def test_a_breach_of_the_content_policy_would_be_heard(browser, site):
    with window(browser) as context:
        page = context.new_page()
        complaints = Complaints(page)
        page.goto(site["home"])
        page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">')")
        until(page, lambda: any("Content Security Policy" in words for words in complaints.heard))
