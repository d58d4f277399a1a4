"""The public log of decisions."""

import pytest

from bench.services.moderation import run_publish, run_reject, run_withdraw
from tests.bench.corpus import sent
from tests.bench.pages_html import read

pytestmark = pytest.mark.django_db
LOG = "/bench/moderation-log/"


def test_an_empty_log_says_so(client):
    assert "No decision yet" in read(client.get(LOG)).text


def test_a_decision_stands_with_its_reason_and_without_the_submitter(client, submitter, maintainer):
    run = sent(submitter)
    run_reject(run=run, by=maintainer, reason_code="faulty", note="The fan was blocked.")
    page = read(client.get(LOG))
    for words in ("hidden", "fault in the measurement", "The fan was blocked.", "a maintainer", run.model):
        assert words in page.text
    assert submitter.email not in page.html
    assert maintainer.email not in page.html
    assert f"/bench/runs/{run.pk}/" not in page.values("href")


def test_a_published_run_is_linked_until_it_is_withdrawn(client, submitter, maintainer):
    run = sent(submitter)
    run_publish(run=run, by=maintainer)
    assert f"/bench/runs/{run.pk}/" in read(client.get(LOG)).values("href")
    run_withdraw(run=run, by=maintainer, reason_code="other", note="Asked for.")
    page = read(client.get(LOG))
    assert f"/bench/runs/{run.pk}/" not in page.values("href")
    assert "2 decisions, newest first" in page.text
    assert page.text.index("withdrawn") < page.text.index("published")


def test_a_long_log_has_pages(client, submitter, maintainer, monkeypatch):
    monkeypatch.setattr("bench.views.evidence.ENTRIES_PER_PAGE", 2)
    for number in range(3):
        run_publish(run=sent(submitter, seed=number), by=maintainer)
    first, second = read(client.get(LOG)), read(client.get(LOG, {"page": 2}))
    assert (len(first.all("time")), len(second.all("time"))) == (2, 1)
    assert "?page=2" in first.values("href")
    assert "?page=1" in second.values("href")
    assert read(client.get(LOG, {"page": "x"})).text == first.text
    assert "There are 3 decisions, but none on this page" in read(client.get(LOG, {"page": 9})).text


def test_the_log_asks_the_database_little(client, submitter, maintainer, django_assert_num_queries):
    for number in range(5):
        run_publish(run=sent(submitter, seed=number), by=maintainer)
    with django_assert_num_queries(2):
        client.get(LOG)
