"""No address and no cookie holds a NUL: PostgreSQL takes none in a text, and a look-up by one would fail there."""

import inspect
import json
from itertools import cycle, product

import pytest
from django import forms

from api.schema import schema_json
from bench import forms as bench_forms
from scheduling import forms as scheduling_forms
from tests.api.routes import METHODS, PARAMETER, routes
from tests.bench.pages_html import read

pytestmark = pytest.mark.django_db
READS = [route for route in routes() if not route.startswith("admin/")]


def query_names() -> list[str]:
    """Every name that a query string of the API or of a page may have."""
    calls = [call for methods in json.loads(schema_json())["paths"].values() for call in methods.values()]
    told = {one["name"] for call in calls for one in call.get("parameters", ()) if one["in"] == "query"}
    kinds = [kind for module in (bench_forms, scheduling_forms) for kind in vars(module).values()]
    asked = [kind for kind in kinds if inspect.isclass(kind) and issubclass(kind, forms.BaseForm)]
    return sorted(told.union("q", *(kind.base_fields for kind in asked)))


def not_refused(world, person, asked):
    client = world.client(person)
    found = {(route, name): client.get(f"{world.url(route)}?{name}=a%00b").status_code for route, name in asked}
    return {at: code for at, code in found.items() if code != 400}


@pytest.mark.parametrize("person", ["stranger", "submitter"])
def test_no_address_and_no_parameter_takes_a_nul(world, person):
    names = query_names()
    assert {"task", "row", "gpu_class", "config", "controller_id"} <= set(names)
    asked = [*zip(READS, cycle(names), strict=False), *(("bench/leaderboard/", name) for name in names)]
    assert not_refused(world, person, asked) == {}


@pytest.mark.campaign
def test_no_parameter_of_any_address_takes_a_nul(world):
    assert not_refused(world, "submitter", product(READS, query_names())) == {}


@pytest.mark.parametrize("method", METHODS)
def test_no_part_of_any_address_takes_a_nul(world, method):
    client = world.client("submitter")
    paths = ["/" + PARAMETER.sub("a%00b", route) for route in READS if "<" in route]
    found = {path: client.generic(method, path).status_code for path in paths}
    assert {path: code for path, code in found.items() if code != 400} == {}


@pytest.mark.parametrize("path", ["/", "/bench/own/", "/accounts/login/", "/api/v1/bench/facets"])
def test_no_cookie_takes_a_nul(client, path):
    cookie = 'sessionid="abcdefgh\\000ijkl"'  # a quoted cookie may write any byte in octal
    assert client.get(path, headers={"cookie": cookie}).status_code == 400


@pytest.mark.parametrize("path", ["/static/a%00b", "/static/%00", "/%00", "/admin/bench/run/?model=%00"])
def test_a_nul_fails_nowhere_else(client, path):
    assert 400 <= client.get(path).status_code < 500


def test_a_program_is_told_what_is_wrong_with_the_address(client):
    answer = client.get("/api/v1/bench/configs/%00")
    assert (answer.status_code, answer.json()["code"]) == (400, "nul_in_request")
    assert "%00" in answer.json()["detail"]
    assert answer.headers["Content-Security-Policy"]


def test_what_only_looks_like_a_nul_is_read(client):
    assert client.get("/api/v1/bench/leaderboard?task=%2500").status_code == 200
    assert client.get("/bench/compare/?task=a&row=b").status_code == 200


def test_a_person_is_shown_a_page_with_a_way_on(client):
    page = read(client.get("/bench/leaderboard/?task=%00"))
    assert "This request can’t be read" in page.text
    assert page.faults == []
    assert "/" in page.values("href")
