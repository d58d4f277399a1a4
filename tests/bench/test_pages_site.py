"""What holds for every page: sound markup, no inline code, no dead link, and words where there is no figure."""

import html
import re
from collections import Counter
from pathlib import Path

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from learn.sitemaps import PAGES
from tests.bench.pages_corpus import make_row, publish_recorded_runs
from tests.bench.pages_html import crawl, dead_anchors, read, unknown_names, unknown_names_show
from tests.conftest import NOON
from tests.scheduling.people import make_market

pytestmark = pytest.mark.django_db
TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
HANDLERS = ("onclick", "onload", "onsubmit", "onchange", "style")


def sitemap_paths():
    return [reverse(name) for name in PAGES]


@pytest.fixture(scope="module")
def site(django_db_setup, django_db_blocker):
    """All pages with the recorded runs on the board, fetched once: no test here changes anything."""
    with django_db_blocker.unblock(), transaction.atomic(), unknown_names_show():
        publish_recorded_runs()
        found = crawl(Client())
        transaction.set_rollback(True)
    return found


@pytest.fixture(scope="module")
def pages(site):
    """Every page that a visitor can reach from the home page, by address."""
    return site[0]


def by_path(pages):
    """One page a path: a filter or a sort makes no other page."""
    return {address.split("?")[0]: page for address, page in reversed(pages.items())}


def test_no_link_is_dead_and_no_page_fails(site):
    pages, statuses = site
    assert {address: status for address, status in statuses.items() if status != 200} == {}
    assert set(sitemap_paths()) <= set(by_path(pages))


def test_no_template_asks_for_a_name_that_is_not_there(pages):
    assert unknown_names(pages) == {}


def test_an_empty_corpus_has_no_dead_link_either(client):
    pages, statuses = crawl(client)
    assert {address: status for address, status in statuses.items() if status != 200} == {}
    assert set(sitemap_paths()) <= set(by_path(pages))
    assert [page.faults for page in pages.values() if page.faults] == []


def test_markup_is_sound(pages):
    for address, page in pages.items():
        assert page.faults == [], address
        ids = page.values("id")
        assert len(ids) == len(set(ids)), address
        assert len(page.all("h1")) == 1, address
        assert all("scope" in head for head in page.all("th")), address
        for name in ("popovertarget", "for", "aria-labelledby"):
            assert set(page.values(name)) <= set(ids), (address, name)


def test_names_of_code_are_set_as_code(pages):
    for address, page in pages.items():
        words = re.sub(r"<(pre|code|textarea)\b.*?</\1>", "", page.html, flags=re.DOTALL)
        assert re.findall(".*`.*", words) == [], address


def test_every_page_has_a_title_and_a_description_of_its_own(pages):
    found = by_path(pages)
    for values in ([page.title for page in found.values()], [page.description for page in found.values()]):
        assert all(values)
        assert [value for value, n in Counter(values).items() if n > 1] == []


def test_no_page_carries_inline_code_or_style(pages):
    for address, page in pages.items():
        assert page.all("style") == [], address
        assert all(script.get("src") for script in page.all("script")), address
        assert not [name for _, attributes in page.elements for name in attributes if name in HANDLERS], address


def test_every_anchor_on_a_page_exists(pages):
    assert dead_anchors(pages) == []


def test_a_chart_is_the_only_reason_to_load_chart_js(pages):
    for address, page in pages.items():
        loads = any("chart.umd" in script["src"] for script in page.all("script"))
        assert loads == bool(page.values("data-chart")), address


def test_every_chart_has_its_table(pages):
    for address, page in pages.items():
        assert set(page.values("data-table")) <= set(page.values("id")), address


def test_a_missing_page_says_so_with_a_way_out(client):
    response = client.get("/nowhere/")
    assert response.status_code == 404
    assert "/bench/leaderboard/" in read(response).values("href")


def test_the_home_page_shows_figures_of_the_corpus(pages):
    text = pages["/"].text
    assert "1 machine sent 6 published runs" in text
    assert "would have been drawn by the loaded, waiting device anyway" in text
    assert "134 J" in text


def test_the_home_page_takes_its_example_where_the_best_row_has_no_baseline(client):
    run = publish_recorded_runs()["bfloat16", "arith_recorded", 16]
    for number in range(6):
        make_row(f"{number}", task="arith_recorded", joules_per_correct_answer=1.0 + number, net_jpc=None)
    page = read(client.get("/"))
    assert f"/bench/runs/{run.pk}/#ledger" in page.values("href")


def test_the_home_page_of_an_empty_corpus_invents_nothing(client):
    text = read(client.get("/")).text
    assert "Nothing is published yet" in text
    assert "0 machines have sent a published run so far" in text
    assert "%" not in text.split("Nothing is published yet")[1]


def test_the_home_page_shows_the_cheapest_hours_of_a_market_with_prices(client, noon):
    assert "ct/kWh" not in read(client.get("/")).text
    make_market(*[0.3] * 24, *[0.1] * 12, *[0.2] * 12)
    page = read(client.get("/"))
    assert "10.0 ct/kWh on average in the cheapest four hours ahead on the market of hourly" in page.text
    assert "begun now it would be 30.0 ct/kWh" in page.text
    assert "/when-is-it-cheapest/?market=hourly" in page.values("href")


def test_the_home_page_shows_no_forecast(client, noon):
    make_market(*[0.3] * 24, *[0.1] * 24).points.filter(start__gte=NOON).update(is_forecast=True)
    assert "ct/kWh" not in read(client.get("/")).text


def test_the_way_to_measure_sends_the_newest_run_to_this_site(client):
    lines = html.unescape(
        re.search(r'aria-label="Share"><code>(.*?)</code>', read(client.get("/bench/")).html, re.DOTALL)[1]
    )
    assert lines.split("\n") == [
        "export ASYNCENERGY_API_URL=http://testserver",
        "async-energy-controller bench opt-in",
        "async-energy-controller login",
        "async-energy-controller bench submit last",
    ]


def test_the_way_to_measure_shows_the_consent_text_word_for_word(client):
    from asyncenergy_controller.wire import CONSENT_TEXT

    assert " ".join(CONSENT_TEXT.split()) in read(client.get("/bench/")).text


def test_the_home_page_asks_the_database_little(client, django_assert_num_queries):
    for number in range(30):
        make_row(f"{number:04d}", rank=number + 1)
    with django_assert_num_queries(11):
        client.get("/")


def test_who_is_signed_in_gets_a_way_out_and_a_maintainer_the_desk(client, submitter, maintainer):
    assert "Sign in" in read(client.get("/")).text
    client.force_login(submitter)
    page = read(client.get("/"))
    assert "Sign out" in page.text
    assert "Moderation" not in page.text
    client.force_login(maintainer)
    assert "Moderation" in read(client.get("/")).text


def test_the_failure_page_needs_neither_request_nor_database():
    from django.template.loader import get_template

    assert "Something failed on our side" in get_template("500.html").render()


@pytest.mark.parametrize("template", sorted(TEMPLATES.glob("bench/*.html")), ids=lambda path: path.name)
def test_templates_stay_short(template):
    assert len(template.read_text().splitlines()) < 100
