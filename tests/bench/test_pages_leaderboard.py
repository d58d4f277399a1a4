"""The leaderboard, as a visitor without scripts gets it, and the rows that htmx swaps in."""

import csv

import pytest
from django.urls import reverse

from bench.models import BoardConfig
from bench.presentation import significant
from tests.bench.pages_corpus import CONFIG, make_row, publish_recorded_runs, publish_simulated_run
from tests.bench.pages_html import read

pytestmark = pytest.mark.django_db
BOARD = "/bench/leaderboard/"


def names(page):
    """The first letters of the rows' configurations, in order."""
    return [href.split("/")[3][0] for href in page.values("href") if href.startswith("/bench/configs/")]


def row_of(letter, **fields):
    """A row whose configuration begins with a letter, so that a test can name it."""
    return make_row(letter, run_id=f"11111111-1111-4111-8111-11111111111{letter}", **fields)


def test_an_empty_corpus_says_so_and_invents_nothing(client):
    page = read(client.get(BOARD))
    assert "Nothing is published yet" in page.text
    assert page.all("table") == []
    assert reverse("bench:measure") in page.values("href")


def test_recorded_runs_stand_with_their_figures_and_intervals(client):
    publish_recorded_runs()
    text = read(client.get(BOARD, {"task": "arith_recorded"})).text
    assert "834 J" in text
    assert "134 J" in text
    assert "17.5 %" in text
    assert "scored by submitter" in text


def test_the_first_tab_is_the_task_with_most_rows(client):
    for letter, task in (("a", "gsm8k"), ("b", "arith"), ("c", "arith")):
        row_of(letter, task=task)
    page = read(client.get(BOARD))
    assert names(page) == ["b", "c"]
    assert [link for link in page.all("a") if link.get("aria-current") == "page"][-1]["href"] == "?task=arith"


def test_rows_without_a_headline_come_last_and_without_a_rank(client):
    row_of("a", joules_per_correct_answer=None, jpc_ci_low=None, jpc_ci_high=None, accuracy=0, rank=None, n_items=15)
    row_of("b", rank=1)
    page = read(client.get(BOARD))
    assert names(page) == ["b", "a"]
    assert "– not ranked" in page.text
    assert "undefined" in page.text
    assert "0 of 15 correct" in page.text


def test_a_withheld_interval_is_said_in_words(client):
    row_of("a", jpc_ci_low=None, jpc_ci_high=None, jpc_wide_low=None, jpc_wide_high=None, rank=None)
    page = read(client.get(BOARD))
    assert "interval withheld" in page.text
    assert "834 J" in page.text


def test_energy_that_was_not_measured_is_never_zero(client):
    fields = ("joules_per_correct_answer", "jpc_ci_low", "jpc_ci_high", "jpc_wide_low", "jpc_wide_high")
    row_of("a", **dict.fromkeys(fields), joules_per_token=None, rank=None, accuracy=0.5)
    text = read(client.get(BOARD)).text
    assert text.count("not measured") == 2
    assert "no energy reading" in text
    assert " 0 J" not in text


def test_rows_that_overlap_share_a_band_and_their_places(client):
    row_of("a", rank=1, joules_per_correct_answer=100)
    row_of("b", rank=2, joules_per_correct_answer=200)
    row_of("c", rank=2, joules_per_correct_answer=210)
    page = read(client.get(BOARD))
    assert [body.get("class") for body in page.all("tbody")] == [None, "band"]
    assert page.text.count("2–3") == 2


def test_a_filter_leaves_the_places_of_a_shared_rank_as_they_are(client):
    row_of("a", rank=1, quantization="Q8_0")
    row_of("b", rank=1, quantization="Q4_K_M")
    page = read(client.get(BOARD, {"quant": "Q8_0"}))
    assert names(page) == ["a"]
    assert "1–2" in page.text


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ({"gpu_class": "RTX 3090"}, "b"),
        ({"model": "other"}, "c"),
        ({"engine": "vLLM"}, "d"),
        ({"tier": "AB"}, "e"),
        ({"min_accuracy": "90"}, "f"),
    ],
)
def test_each_filter_narrows_the_board(client, asked, left):
    row_of("a")
    row_of("b", gpu_class="RTX 3090")
    row_of("c", model="other")
    row_of("d", engine="vLLM")
    row_of("e", tier="B")
    row_of("f", accuracy=0.91)
    assert names(read(client.get(BOARD, asked))) == [left]


def test_a_filter_that_fits_nothing_names_the_nearest_rows(client):
    row_of("a", accuracy=0.8)
    page = read(client.get(BOARD, {"min_accuracy": "95", "gpu_class": "H200"}))
    assert "No row fits these filters" in page.text
    assert "1 row without accuracy of at least 95 %" in page.text
    assert "?gpu_class=H200&task=arith" in page.values("href")


def test_a_value_that_no_row_has_stays_visible_in_the_form(client):
    row_of("a")
    page = read(client.get(BOARD, {"gpu_class": "Voodoo 2"}))
    assert {"value": "Voodoo 2", "selected": ""} in page.all("option")
    assert names(page) == []


@pytest.mark.parametrize("asked", [{"min_accuracy": "lots"}, {"min_accuracy": "101"}, {"min_accuracy": "nan"}])
def test_an_unreadable_filter_is_named_and_not_applied(client, asked):
    row_of("a")
    page = read(client.get(BOARD, asked))
    field = next(field for field in page.all("input") if field["name"] == "min_accuracy")
    assert field["aria-invalid"] == "true"
    assert field["aria-describedby"] in page.values("id")
    assert "Not applied." in page.text
    assert names(page) == ["a"]


@pytest.mark.parametrize("asked", [{"sort": "password"}, {"page": "-1"}, {"page": "x"}, {"tier": "Z"}])
def test_nonsense_in_the_address_never_breaks_the_page(client, asked):
    row_of("a")
    assert client.get(BOARD, asked).status_code == 200


def test_sorting_turns_round_and_says_so(client):
    row_of("a", accuracy=0.2, joules_per_correct_answer=10)
    row_of("b", accuracy=0.9, joules_per_correct_answer=20)
    page = read(client.get(BOARD))
    assert [head["aria-sort"] for head in page.all("th") if "aria-sort" in head] == ["ascending"]
    by_accuracy = next(href for href in page.values("href") if "sort=-accuracy" in href)
    page = read(client.get(BOARD + by_accuracy))
    assert names(page) == ["b", "a"]
    assert [head["aria-sort"] for head in page.all("th") if "aria-sort" in head] == ["descending"]
    assert any("sort=accuracy" in href for href in page.values("href"))


def test_a_mark_opens_its_own_sentence(client):
    mark = {"code": "truncated", "label": "truncated 48 %", "sentence": "48 % of the answers were cut off."}
    row_of("a", marks=[mark])
    row_of("b", marks=[mark | {"sentence": "Other words."}])
    page = read(client.get(BOARD))
    assert set(page.values("popovertarget")) <= set(page.values("id"))
    assert "48 % of the answers were cut off." in page.text
    assert "Other words." in page.text


def test_several_machines_show_their_spread(client):
    row_of("a", n_nodes=3, spread_min=800.0, spread_max=1000.0)
    assert "800–1,000 J" in read(client.get(BOARD)).text


def test_what_people_named_themselves_is_escaped(client):
    row_of("a", model="<script>alert(1)</script>")
    assert b"<script>alert" not in client.get(BOARD).content


def test_page_json_and_csv_show_one_number_for_one_row(client):
    publish_recorded_runs()
    page = read(client.get(BOARD, {"task": "arith_recorded", "quant": "float32", "min_accuracy": "10"}))
    as_csv, as_json = [href for href in page.values("href") if href.startswith("/api/v1/bench/leaderboard?")]
    (row,) = client.get(as_json).json()["results"]
    (line,) = csv.DictReader(client.get(as_csv).content.decode().splitlines())
    assert float(line["joules_per_correct_answer"]) == row["joules_per_correct_answer"]
    assert f"{significant(row['joules_per_correct_answer'])} J" in page.text


def test_simulated_energy_stands_apart_with_the_word_on_the_row(client, settings):
    settings.DEMO = True
    run = publish_simulated_run()
    page = read(client.get(BOARD))
    assert "Simulated energy" in page.text
    assert "834 J simulated" in page.text
    assert "– not ranked" in page.text
    assert f"/bench/runs/{run.pk}/" in page.values("href")
    assert page.text.index("Nothing is published yet") < page.text.index("Simulated energy")


def test_htmx_gets_the_rows_alone_and_a_clean_address(client):
    row_of("a")
    response = client.get(
        BOARD, {"task": "arith", "gpu_class": "", "min_accuracy": "10"}, headers={"HX-Request": "true"}
    )
    assert b"<html" not in response.content
    assert b'id="rows"' in response.content
    assert b'id="count" hx-swap-oob' in response.content
    assert response["HX-Push-Url"] == f"{BOARD}?min_accuracy=10&task=arith"
    assert "HX-Request" in response["Vary"]


def test_going_back_gets_the_whole_page(client):
    headers = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    assert b"<html" in client.get(BOARD, headers=headers).content


def test_the_whole_page_varies_by_the_htmx_header_too(client):
    assert "HX-Request" in client.get(BOARD)["Vary"]


def test_a_browser_gets_the_board_compressed(client):
    for number in range(60):
        make_row(f"{number:04d}", rank=number + 1)
    response = client.get(BOARD, headers={"Accept-Encoding": "gzip"})
    assert response["Content-Encoding"] == "gzip"
    assert len(response.content) < 20_000


def test_the_board_is_read_only(client):
    assert client.post(BOARD).status_code == 405
    assert client.head(BOARD).status_code == 200


@pytest.mark.parametrize("rows", [2, 60])
def test_the_number_of_queries_does_not_grow_with_the_rows(client, django_assert_num_queries, rows):
    for number in range(rows):
        make_row(f"{number:04d}", rank=number + 1)
    with django_assert_num_queries(10):
        client.get(BOARD)


def test_rows_that_would_read_the_same_are_told_apart_by_what_differs(client):
    for letter, limit in (("a", 64), ("b", 256)):
        stored = row_of(letter, model="twin")
        BoardConfig.objects.filter(pk=stored.config_key).update(config={**CONFIG, "max_tokens": limit})
    row_of("c")
    text = read(client.get(BOARD)).text
    assert "H200 · Most tokens an answer 64" in text
    assert "H200 · Most tokens an answer 256" in text
    assert text.count("Most tokens an answer") == 2


def test_rows_of_other_weights_alone_are_told_apart_by_them(client):
    for letter in "ab":
        stored = row_of(letter, model="twin")
        config = {**CONFIG, "weights_digest": letter * 64}
        BoardConfig.objects.filter(pk=stored.config_key).update(config=config)
    assert f"H200 · Digest of the weights {'a' * 23}…" in read(client.get(BOARD)).text


def test_a_long_board_goes_on_on_the_next_page(client, monkeypatch):
    monkeypatch.setattr("bench.forms.ROWS_PER_PAGE", 2)
    monkeypatch.setattr("bench.views.board.ROWS_PER_PAGE", 2)
    for letter, joules in zip("abcde", range(10, 60, 10), strict=True):
        row_of(letter, joules_per_correct_answer=joules)
    page = read(client.get(BOARD))
    assert names(page) == ["a", "b"]
    onward = next(link["href"] for link in page.all("a") if "page=2" in link.get("href", ""))
    page = read(client.get(BOARD + onward))
    assert names(page) == ["c", "d"]
    assert any("page=3" in href for href in page.values("href"))


def test_a_reader_adds_columns_and_keeps_them_through_sorts_and_filters(client):
    row_of("a", net_jpc=27.6, ttft_p50_s=None, n_runs=3)
    assert "Net J / correct 27.6 J" not in read(client.get(BOARD)).text
    page = read(client.get(BOARD, {"columns": ["net_jpc", "ttft_p50_s", "n_runs"]}))
    row = page.html.split("<tbody>")[1]
    assert "27.6" in row
    assert row.count("not measured") == 1
    assert [cell["data-label"] for cell in page.all("td") if "data-label" in cell][-3:] == [
        "Net J / correct",
        "First token",
        "Runs",
    ]
    assert "?columns=net_jpc&columns=ttft_p50_s&columns=n_runs&task=arith&sort=-accuracy" in page.values("href")


def test_a_column_that_does_not_exist_is_left_out(client):
    row_of("a")
    assert client.get(BOARD, {"columns": "secrets"}).status_code == 200
