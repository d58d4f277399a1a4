"""What holds for every page of an account: no dead link, sound markup, words of its own, tables for charts."""

from collections import Counter
from pathlib import Path

import pytest
from django.db import transaction
from django.test import Client

from tests.bench.pages_html import crawl, dead_anchors, unknown_names, unknown_names_show
from tests.bench.test_pages_site import HANDLERS
from tests.people import make_user
from tests.scheduling.night import make_night

pytestmark = pytest.mark.django_db
TEMPLATES = Path(__file__).resolve().parents[2] / "templates" / "scheduling"
SENT_ON = "/accounts/login/"  # who is signed in is sent to the account
SECTION = ("/schedule/", "/accounts/", "/quickstart/", "/how-it-works/", "/when-is-it-cheapest/")


@pytest.fixture(scope="module")
def site(django_db_setup, django_db_blocker):
    """All pages that an account can reach, fetched once: no test here changes anything."""
    with django_db_blocker.unblock(), transaction.atomic(), unknown_names_show():
        account = make_user("owner@example.org", timezone="Europe/Prague")
        make_night(account)
        client = Client()
        client.force_login(account)
        found = crawl(client, "/schedule/")
        transaction.set_rollback(True)
    return found


@pytest.fixture(scope="module")
def pages(site):
    return {address: page for address, page in site[0].items() if address.startswith(SECTION)}


def by_path(pages):
    """One page a path: a page of a list or a wish makes no other page."""
    return {address.split("?")[0]: page for address, page in reversed(pages.items())}


def test_no_link_is_dead_and_no_page_fails(site):
    assert {address: status for address, status in site[1].items() if status != 200} == {}
    assert len(by_path(site[0])) > 30


def test_no_template_asks_for_a_name_that_is_not_there(site):
    assert unknown_names(site[0]) == {}


def test_markup_is_sound_and_nothing_is_inline(pages):
    for address, page in pages.items():
        assert page.faults == [], address
        ids = page.values("id")
        assert [name for name, n in Counter(ids).items() if n > 1] == [], address
        assert len(page.all("h1")) == 1, address
        assert all("scope" in head for head in page.all("th")), address
        assert set(page.values("for")) <= set(ids), address
        assert page.all("style") == [], address
        assert not [name for _, attributes in page.elements for name in attributes if name in HANDLERS], address


def test_every_page_has_a_title_and_a_description(pages):
    shown = {address: page for address, page in by_path(pages).items() if address != SENT_ON}
    titles = Counter(page.title for page in shown.values())
    assert [title for title, n in titles.items() if n > 1] == []
    assert all(page.description for page in pages.values())


def test_every_anchor_on_a_page_exists(pages):
    assert dead_anchors(pages) == []


def test_a_chart_has_its_tables_and_is_the_only_reason_to_load_chart_js(pages):
    drawn = set()
    for address, page in pages.items():
        loads = any("chart.umd" in script["src"] for script in page.all("script"))
        assert loads == bool(page.values("data-chart")), address
        for name in ("data-table", "data-lanes", "data-predicted"):
            assert set(page.values(name)) <= set(page.values("id")), address
        drawn |= set(page.values("data-chart"))
    assert drawn == {"plan", "months", "power"}


def test_every_form_that_writes_carries_its_token(pages):
    for address, page in pages.items():
        posting = sum(form.get("method") == "post" for form in page.all("form"))
        assert page.values("name").count("csrfmiddlewaretoken") == posting, address


@pytest.mark.parametrize("template", sorted(TEMPLATES.glob("*.html")), ids=lambda path: path.name)
def test_templates_stay_short(template):
    assert len(template.read_text().splitlines()) < 100
