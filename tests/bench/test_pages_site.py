"""What holds for every page: sound markup, no inline code, no dead link, and words where there is no figure."""

from pathlib import Path

import pytest

from tests.bench.pages_corpus import make_row, publish_recorded_runs
from tests.bench.pages_html import read

pytestmark = pytest.mark.django_db
TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
HANDLERS = ("onclick", "onload", "onsubmit", "onchange", "style")


@pytest.fixture
def pages(client):
    """Every kind of page of the corpus, by address."""
    run = publish_recorded_runs()["bfloat16", "arith_recorded", 1]
    addresses = ("/", "/bench/", "/bench/leaderboard/", f"/bench/runs/{run.pk}/", "/nowhere/")
    return {address: read(client.get(address)) for address in addresses}


def test_markup_is_sound(pages):
    for address, page in pages.items():
        assert page.faults == [], address
        ids = page.values("id")
        assert len(ids) == len(set(ids)), address
        assert len(page.all("h1")) == 1, address
        assert all("scope" in head for head in page.all("th")), address
        for name in ("popovertarget", "for", "aria-labelledby"):
            assert set(page.values(name)) <= set(ids), (address, name)


def test_every_page_has_a_title_and_a_description_of_its_own(pages):
    titles = [page.text.split(" · Async Energy")[0] for page in pages.values()]
    metas = [meta for page in pages.values() for meta in page.all("meta") if meta.get("name") == "description"]
    assert len(set(titles)) == len({meta["content"] for meta in metas}) == len(pages)
    assert all(titles)
    assert all(meta["content"] for meta in metas)


def test_no_page_carries_inline_code_or_style(pages):
    for address, page in pages.items():
        assert page.all("style") == [], address
        assert all(script.get("src") for script in page.all("script")), address
        assert not [name for _, attributes in page.elements for name in attributes if name in HANDLERS], address


def is_there(client, link):
    response = client.get(link, follow=True)
    return response.status_code < 400 and bool(response.getvalue())  # a file is closed once it is read


def test_no_link_is_dead(client, pages):
    links = {href.split("#")[0] for page in pages.values() for href in page.values("href") if href.startswith("/")}
    files = {src for page in pages.values() for src in page.values("src")}
    assert [link for link in sorted(links | files) if not is_there(client, link)] == []


def test_every_anchor_on_a_page_exists(client, pages):
    anchors = [href for page in pages.values() for href in page.values("href") if "#" in href]
    for href in anchors:
        address, anchor = href.split("#")
        target = read(client.get(address)) if address else None
        assert any(anchor in page.values("id") for page in ([target] if target else pages.values())), href


def test_a_chart_is_the_only_reason_to_load_chart_js(pages):
    for address, page in pages.items():
        loads = any("chart.umd" in script["src"] for script in page.all("script"))
        assert loads == bool(page.values("data-chart")) == address.startswith("/bench/runs/")


def test_the_home_page_shows_figures_of_the_corpus(pages):
    text = pages["/"].text
    assert "1 machine sent 6 published runs" in text
    assert "would have been drawn by the loaded, waiting device anyway" in text
    assert "134 J" in text


def test_the_home_page_of_an_empty_corpus_invents_nothing(client):
    text = read(client.get("/")).text
    assert "Nothing is published yet" in text
    assert "0 machines have sent a published run so far" in text
    assert "%" not in text.split("Nothing is published yet")[1]


def test_the_way_to_measure_shows_the_consent_text_word_for_word(client):
    from asyncenergy_controller.wire import CONSENT_TEXT

    assert " ".join(CONSENT_TEXT.split()) in read(client.get("/bench/")).text


def test_the_home_page_asks_the_database_little(client, django_assert_num_queries):
    for number in range(30):
        make_row(f"{number:04d}", rank=number + 1)
    with django_assert_num_queries(9):
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
