"""Energy data: each sweep as a chart with its table, and what is missing in words."""

import json

import pytest

from bench.models import BoardSweep
from bench.pages.sweeps import KINDS
from bench.repetition import KINDS as AGAIN
from bench.services.board import board_rebuild
from bench.sweeps import KINDS as SWEPT
from tests.bench.corpus import published
from tests.bench.pages_corpus import publish_recorded_runs
from tests.bench.pages_html import Page, read

pytestmark = pytest.mark.django_db
DATA = "/bench/data/"
POINT = {
    "is_stock": False,
    "config_key": "a" * 16,
    "run_id": "11111111-1111-4111-8111-111111111111",
    "tokens_per_second": 50.0,
    "mean_w": 300.0,
    "joules_per_token": 2.0,
    "joules_per_correct_answer": 100.0,
    "jpc_ci_low": 90.0,
    "jpc_ci_high": 110.0,
    "accuracy": 0.5,
    "accuracy_ci_low": 0.4,
    "accuracy_ci_high": 0.6,
}


def sweep(kind="power_cap", points=((None, 100.0), (250.0, 80.0)), unit="W", **changes):
    head = {"model": "example-7b", "quantization": "Q4_K_M", "engine": "llama.cpp", "engine_version": "b1"}
    place = {"task": "gsm8k", "gpu_class": "RTX 3090", "node": "0badcafe", "kind": kind, "unit": unit}
    told = [{**POINT, "setting": s, "is_stock": s is None, "joules_per_correct_answer": j} for s, j in points]
    payload = {**head, **place, "flex_band_w": None, "knee_savings_pct": None, "points": told, **changes}
    names = ("kind", "task", "gpu_class", "model")
    return BoardSweep.objects.create(payload=payload, **{name: payload[name] for name in names})


def drawn(page, table):
    """What a chart is drawn from: the rows of its table."""
    rows = page.html.split(f'<table id="{table}"')[1].split("</table>")[0]
    elements = Page(f"<table{rows}</table>").elements
    return [attributes for tag, attributes in elements if tag == "tr" and "data-label" in attributes]


def test_every_kind_that_is_found_has_words_and_the_other_way_round():
    assert set(KINDS) == {*SWEPT, *AGAIN}


def test_an_empty_corpus_says_of_every_kind_what_is_missing(client):
    page = read(client.get(DATA))
    assert page.all("table") == []
    for kind in KINDS.values():
        assert kind.missing in page.text
        assert kind.code in page.values("id")


def test_a_sweep_is_drawn_from_its_table_with_its_stock_point_marked(client):
    sweep(points=((None, 100.0), (300.0, 90.0), (250.0, 80.0)))
    page = read(client.get(DATA))
    rows = drawn(page, "power_cap-0")
    assert [(row["data-label"], row["data-y"], row.get("data-stock")) for row in rows] == [
        ("stock", "100.0", "yes"),
        ("300\u202fW", "90.0", None),
        ("250\u202fW", "80.0", None),
    ]
    assert (rows[0]["data-low"], rows[0]["data-high"]) == ("90.0", "110.0")
    assert "90.0–110" in page.text
    assert KINDS["power_cap"].missing not in page.text


def test_the_page_shows_the_numbers_of_the_api(client):
    publish_recorded_runs()
    page = read(client.get(DATA))
    shown = {attributes["data-y"] for tag, attributes in page.elements if tag == "tr" and "data-y" in attributes}
    answers = client.get("/api/v1/bench/sweeps").json()["results"]
    told = {json.dumps(p["joules_per_correct_answer"]) for answer in answers for p in answer["points"]}
    per_token = {json.dumps(p["joules_per_token"]) for answer in answers for p in answer["points"]}
    assert shown
    assert shown <= told | per_token


def test_where_nothing_is_right_joules_per_token_are_drawn(client):
    sweep(points=((None, None), (250.0, None)))
    page = read(client.get(DATA))
    assert "Joules per token (J)" in page.values("data-quantity")
    assert [row["data-y"] for row in drawn(page, "power_cap-0")] == ["2.0", "2.0"]
    assert "data-low" not in drawn(page, "power_cap-0")[0]


def test_a_sweep_that_tells_of_flexibility_says_it(client):
    sweep(flex_band_w=95.4, knee_savings_pct=17.25, turndown_ratio=1.9)
    assert "It can give up 95 W and keep 95 % of its speed; the best setting saves 17.2 % a token" in (
        read(client.get(DATA)).text
    )


def test_the_overview_shows_two_of_a_kind_and_leads_to_all(client):
    for number in range(3):
        sweep(model=f"example-{number}b")
    page = read(client.get(DATA))
    assert len(page.all("canvas")) == 2
    assert "All 3 of this kind" in page.text
    assert "?kind=power_cap" in page.values("href")
    assert len(read(client.get(DATA, {"kind": "power_cap"})).all("canvas")) == 3


def test_a_very_long_sweep_is_cut_and_says_so(client):
    sweep("concurrency", [(n, 100.0 / n) for n in range(1, 60)], unit=None)
    page = read(client.get(DATA))
    assert len(drawn(page, "concurrency-0")) == 40
    assert "The first 40 of 59." in page.text


def test_filters_narrow_the_page_and_name_what_is_missing(client):
    sweep()
    sweep("concurrency", ((1, 100.0), (16, 30.0)), unit=None, model="other-3b")
    page = read(client.get(DATA, {"model": "other-3b"}))
    assert "other-3b on RTX 3090" in page.text
    assert "example-7b on" not in page.text
    assert "16 at a time" in page.text
    assert "Nothing published yet for Model other-3b" in page.text


def test_htmx_gets_the_shelves_alone_and_the_address_with_them(client):
    sweep()
    response = client.get(DATA, {"kind": "power_cap"}, headers={"HX-Request": "true"})
    assert response.content.decode().lstrip().startswith('<div id="shelves">')
    assert response["HX-Push-Url"] == "/bench/data/?kind=power_cap"


def test_repeats_item_counts_and_machines_are_found(client, submitter, other_submitter, maintainer):
    for n, account in ((12, submitter), (12, submitter), (24, submitter), (12, other_submitter)):
        published(account, maintainer, n=n, right=6, node_hash=f"machine-of-{account.pk}")
    board_rebuild(full=True)
    page = read(client.get(DATA))
    assert [row["data-label"] for row in drawn(page, "item_count-0")] == ["12 items", "24 items"]
    assert [row["data-label"] for row in drawn(page, "repeats-0")] == ["run 1", "run 2"]
    assert len(drawn(page, "nodes-0")) == 2
    assert "machine-of-" not in page.html


def test_the_page_asks_the_database_little(client, django_assert_num_queries):
    for number in range(10):
        sweep(model=f"example-{number}b")
    with django_assert_num_queries(9):
        client.get(DATA)
