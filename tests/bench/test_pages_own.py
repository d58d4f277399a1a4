"""What a submitter sees of the own runs, from upload to decision."""

import pytest

from bench.services.moderation import run_publish, run_reject
from tests.bench.corpus import sent
from tests.bench.pages_html import read

pytestmark = pytest.mark.django_db
OWN = "/bench/own/"


def test_a_stranger_is_sent_to_sign_in(client):
    assert client.get(OWN)["Location"] == f"/accounts/login/?next={OWN}"


def test_who_sent_nothing_is_told_how(client, submitter):
    client.force_login(submitter)
    page = read(client.get(OWN))
    assert "You have sent no run yet" in page.text
    assert "/bench/" in page.values("href")


def test_a_run_is_followed_from_waiting_to_its_decision(client, submitter, maintainer):
    run = sent(submitter)
    client.force_login(submitter)
    page = read(client.get(OWN))
    assert f"{run.model} gsm8k · RTX 3090 waiting" in page.text
    assert f"/bench/runs/{run.pk}/" in page.values("href")
    run_reject(run=run, by=maintainer, reason_code="faulty", note="The fan was blocked.")
    page = read(client.get(OWN))
    assert "hidden: fault in the measurement: The fan was blocked." in page.text
    assert maintainer.email not in page.html
    assert page.faults == []


def test_nobody_sees_the_runs_of_another(client, submitter, other_submitter, maintainer):
    run_publish(run=sent(submitter), by=maintainer)
    client.force_login(other_submitter)
    assert "You have sent no run yet" in read(client.get(OWN)).text


def test_a_long_list_has_pages(client, submitter, monkeypatch):
    monkeypatch.setattr("bench.views.own.SUBMISSIONS_PER_PAGE", 2)
    for _ in range(3):
        sent(submitter)
    client.force_login(submitter)
    page = read(client.get(OWN))
    assert len(page.all("time")) == 2
    assert "?page=2" in page.values("href")
    assert len(read(client.get(OWN, {"page": 2})).all("time")) == 1
    assert "No run on this page" in read(client.get(OWN, {"page": 9})).text


def test_the_list_asks_the_database_little(client, submitter, django_assert_num_queries):
    for _ in range(4):
        sent(submitter)
    client.force_login(submitter)
    with django_assert_num_queries(6):
        client.get(OWN)
