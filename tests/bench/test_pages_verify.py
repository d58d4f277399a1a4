"""A stranger derives a published row again, on the page."""

import pytest

from bench.models import BoardRow
from bench.services.corpus import corpus_release_make
from tests.bench.pages_corpus import make_row, publish_recorded_runs
from tests.bench.pages_html import read

pytestmark = pytest.mark.django_db
VERIFY = "/bench/verify/"


@pytest.fixture
def row():
    run = publish_recorded_runs()["bfloat16", "arith_recorded", 16]
    return BoardRow.objects.get(config_key=run.config_key, task=run.task)


def verified(client, row):
    return read(client.get(VERIFY, {"config": row.config_key, "task": row.task}))


def test_a_published_row_comes_out_again(client, row):
    text = verified(client, row).text
    assert "figures come out as published" in text
    assert "derived again from the items and traces of 1 run" in text


def test_a_row_that_somebody_changed_is_found_out(client, row):
    row.payload["joules_per_correct_answer"] *= 0.9
    row.save()
    page = verified(client, row)
    assert "come out otherwise" in page.text or "comes out otherwise" in page.text
    assert "joules_per_correct_answer" in page.text
    assert "notice bad" in page.html


def test_a_configuration_leads_to_the_check_of_each_of_its_rows(client, row):
    page = read(client.get(f"/bench/configs/{row.config_key}/"))
    (link,) = [href for href in page.values("href") if href.startswith(VERIFY + "?")]
    assert "come out as published" in read(client.get(link)).text


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"config": "0" * 16, "task": "arith"}, "No row of 0000000000000000 on arith is published."),
        ({"config": "X", "task": "arith"}, "A configuration key has 16 letters and digits"),
        ({"config": "0" * 16}, "This field is required."),
    ],
)
def test_what_cannot_be_derived_is_said(client, asked, words):
    page = read(client.get(VERIFY, asked))
    assert words in page.text
    assert "come out as published" not in page.text


def test_a_row_of_very_many_runs_is_left_to_the_command(client):
    make_row("a", n_runs=41)
    page = read(client.get(VERIFY, {"config": "a".ljust(16, "0"), "task": "arith"}))
    assert "This row rests on 41 runs, too many for a page." in page.text


def test_nobody_keeps_the_server_busy(client, row, settings):
    settings.THROTTLES = {**settings.THROTTLES, "verify": 0}
    response = client.get(VERIFY, {"config": row.config_key, "task": row.task})
    assert response.status_code == 429
    assert "Try again in" in read(response).text


def test_before_the_first_download_the_page_says_when(client):
    assert "No download yet" in read(client.get(VERIFY)).text


def test_the_download_stands_with_its_checksums(client, row, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    release = corpus_release_make()
    page = read(client.get(VERIFY))
    for file in release.files:
        assert file["sha256"] in page.text
        assert f"/api/v1/bench/corpus/{release.version}/{file['name']}" in page.values("href")
    assert "python manage.py verify FOLDER" in page.text
