"""Lists come in pages, and a typing error in the query string is no answer."""

import pytest


def test_a_page_tells_its_neighbours_and_the_version_of_the_data(client, probe):
    page = client.get(f"{probe}/numbers", {"limit": 2, "offset": 3}).json()
    assert set(page) == {"count", "next", "previous", "data_version", "results"}
    assert (page["count"], page["data_version"], page["results"]) == (1200, "v1", [3, 4])
    assert "offset=5" in page["next"]
    assert "offset=1" in page["previous"]


def test_following_next_shows_everything_once(client, probe):
    seen, url = [], f"{probe}/numbers?limit=500"
    while url:
        page = client.get(url).json()
        seen += page["results"]
        url = page["next"]
    assert seen == list(range(1200))


def test_no_page_is_longer_than_500(client, probe):
    assert len(client.get(f"{probe}/numbers", {"limit": 100_000}).json()["results"]) == 500


@pytest.mark.parametrize(
    "query",
    [
        *("limit=0", "limit=-1", "limit=x", "limit=", "offset=-1", "offset=1e9", "offset=9" * 9),
        *(f"{name}={digit * 5000}" for name in ("limit", "offset") for digit in "01"),
    ],
)
def test_an_unreadable_page_is_refused(client, probe, query):
    answer = client.get(f"{probe}/numbers?{query}")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["code"] == "invalid_parameter"


def test_an_unknown_parameter_is_refused_by_name(client, probe):
    answer = client.get(f"{probe}/numbers?limitt=5")
    assert answer.status_code == 400
    assert answer.json()["errors"][0] == {
        "attr": "limitt",
        "code": "unknown_parameter",
        "detail": "Unknown parameter. This address takes limit, offset.",
    }
