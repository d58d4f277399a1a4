"""What search engines ask for."""

import xml.etree.ElementTree as ET

import pytest

from tests.bench.pages_corpus import SHOWN_RUN, make_row

pytestmark = pytest.mark.django_db
SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def locations(client):
    return [loc.text for loc in ET.fromstring(client.get("/sitemap.xml").content).iter(f"{SITEMAP}loc")]


def test_every_place_of_the_sitemap_is_there(client):
    places = locations(client)
    assert len(places) == len(set(places))
    for place in places:
        assert client.get(place.removeprefix("http://testserver")).status_code == 200, place


def test_the_runs_of_the_board_stand_in_the_sitemap(client):
    make_row("a")
    assert f"http://testserver/bench/runs/{SHOWN_RUN}/" in locations(client)


def test_robots_may_read_all_but_accounts_and_find_the_sitemap(client):
    response = client.get("/robots.txt")
    lines = response.content.decode().splitlines()
    assert response["Content-Type"].startswith("text/plain")
    assert {"Disallow: /accounts/", "Disallow: /admin/", "Disallow: /schedule/"} <= set(lines)
    assert "Disallow: /" not in lines
    assert "Sitemap: http://testserver/sitemap.xml" in lines
