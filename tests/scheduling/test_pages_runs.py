"""Runs in the browser: predicted against measured, money against both baselines, power over time."""

from datetime import timedelta

import pytest

from scheduling.models import RunRecord
from scheduling.services.runs import runs_ingest, runs_roll_up, samples_append
from scheduling.services.savings import savings_settle_due
from tests.bench.pages_html import read
from tests.scheduling.people import at, make_market, make_workflow, placement_of, plan
from tests.scheduling.test_savings import DAYS_LATER, WAVE, report

pytestmark = pytest.mark.django_db


@pytest.fixture
def own(client, submitter):
    client.force_login(submitter)
    return client


@pytest.fixture
def placed(submitter):
    make_market(*WAVE * 4)
    workflow = make_workflow(submitter, deadline="by 9am", recurrence="none")
    return placement_of(plan(submitter), workflow)


def settled(account, placement, **fields):
    run = report(account, placement, **fields)
    savings_settle_due(now=DAYS_LATER)
    return run


def page_of(client, run):
    return read(client.get(f"/schedule/runs/{run.pk}/"))


def sampled(account, run, watts, *, hole_at=None):
    start = run.actual_start
    rows = [
        {"ts": (start + timedelta(seconds=10 * i)).isoformat(), "power_w": w}
        for i, w in enumerate(watts)
        if hole_at is None or not hole_at <= i < hole_at + 10
    ]
    samples_append(account=account, run_id=run.pk, samples=rows)
    runs_roll_up()


def test_a_run_shows_what_was_predicted_and_what_was_measured(own, submitter, placed):
    run = settled(submitter, placed, energy_wh=270.0)
    page = page_of(own, run)
    assert "Measured energy270 Wh source: counter" in page.text.replace("energy 270", "energy270")
    assert "300 Wh from its nameplate; measured is lower: −10.0 %" in page.text
    assert page.faults == []


def test_a_piece_of_a_run_is_not_held_against_the_energy_of_the_whole(own, submitter, placed):
    run = settled(submitter, placed, energy_wh=100.0)
    run.piece_of_attempt = 1
    run.save()
    text = page_of(own, run).text
    assert "for all its pieces" in text
    assert "measured is" not in text


def test_its_money_stands_against_both_baselines(own, submitter, placed):
    page = page_of(own, settled(submitter, placed))
    assert "as planned3.0 ct" in page.text.replace("planned 3.0", "planned3.0")
    assert "9.0 ct+6.0 ct" in page.text.replace("ct +6.0", "ct+6.0")
    assert "at a random moment of its window" in page.text


def test_a_workflow_says_how_far_its_predictions_were_off(own, submitter, placed):
    page = f"/schedule/workflows/{placed.workflow_id}/"
    assert "no finished run with measured energy yet" in read(own.get(page)).text
    for number, energy_wh in enumerate((270.0, 330.0, 360.0, None)):
        report(submitter, placed, run_id=str(number), energy_wh=energy_wh)
    assert "+10.0 % median of the last 3 measured runs" in read(own.get(page)).text


def test_a_loss_is_called_one(own, submitter, placed):
    run = report(submitter, placed, start=at(9, 21))
    make_market(0.90, start=at(9, 21))
    savings_settle_due(now=DAYS_LATER)
    assert "−18.0 cta loss" in page_of(own, run).text
    assert "a loss" in read(own.get("/schedule/runs/")).text


def test_energy_that_was_not_measured_is_said_so_and_its_money_marked(own, submitter, placed):
    run = settled(submitter, placed, energy_wh=None, energy_source=None)
    page = page_of(own, run)
    assert "not measured the controller sent no energy" in page.text
    assert "this money rests on the predicted energy" in page.text
    listed = read(own.get("/schedule/runs/"))
    assert "predicted energy" in listed.text
    assert "0 Wh" not in listed.text.replace("300 Wh", "")


def test_a_run_that_failed_shows_what_its_plan_had_predicted(own, submitter, placed):
    run = report(submitter, placed, exit_status="error", energy_wh=120.0)
    assert "Predicted energy300 Wh" in page_of(own, run).text
    assert "failed" in read(own.get("/schedule/runs/")).text
    assert "300 Wh" in read(own.get("/schedule/runs/")).text


def test_a_simulated_meter_measures_nothing(own, submitter, placed, settings):
    settings.DEMO = False
    run = settled(submitter, placed, energy_source="simulated", energy_wh=5000.0)
    page = page_of(own, run)
    assert "Simulated energy. No meter was read." in page.text
    assert "not measured its meter was simulated" in page.text
    assert "5,000" not in page.text


def test_prices_that_are_not_published_leave_the_money_open(own, submitter, placed):
    run = report(submitter, placed)
    assert "not settled" in read(own.get("/schedule/runs/")).text
    assert "not known" in page_of(own, run).text


def test_the_measured_power_is_drawn_beside_the_predicted(own, submitter, placed):
    run = settled(submitter, placed)
    sampled(submitter, run, [290.0, 310.0] * 30)
    page = page_of(own, run)
    rows = [attributes for tag, attributes in page.elements if tag == "tr"]
    measured = [(float(row["data-t"]), float(row["data-w"])) for row in rows if "data-t" in row]
    assert measured[:3] == [(0.0, 290.0), (0.1667, 310.0), (0.3333, 290.0)]
    assert len(measured) == 60
    assert [row["data-w"] for row in rows if "data-left" in row] == ["300.0"]
    assert page.values("data-chart") == ["power"]
    assert "All 60 samples" in page.text


def test_a_hole_in_the_samples_stays_a_hole(own, submitter, placed):
    run = settled(submitter, placed)
    sampled(submitter, run, [300.0] * 60, hole_at=20)
    rows = [attributes for tag, attributes in page_of(own, run).elements if tag == "tr" and "data-t" in attributes]
    missing = [float(row["data-t"]) for row in rows if "data-w" not in row]
    assert missing == [4.0833], "in the middle, from 190 s to 300 s"


def test_a_run_without_samples_says_that_nothing_was_measured(own, submitter, placed):
    page = page_of(own, settled(submitter, placed))
    assert "Not measured: the controller sent no samples of the power" in page.text
    assert page.values("data-chart") == []


def test_a_record_of_unknown_work_is_shown_with_what_could_not_be_read(own, submitter):
    body = {"controller_id": "box", "run_id": "7", "ts": "2026-08-20T12:00:00Z", "workflow_id": "elsewhere"}
    runs_ingest(account=submitter, body=body)
    page = page_of(own, RunRecord.objects.get())
    assert "no workflow of yours" in page.text
    assert "you have no such workflow; it is stored as null" in page.text


def test_names_and_words_of_records_are_text(own, submitter, placed):
    run = report(submitter, placed, controller_id="<b>box</b>", energy_source="<i>meter</i>")
    for page in (page_of(own, run), read(own.get("/schedule/runs/"))):
        assert page.faults == []
        assert "<b>box" not in page.html


def test_nobody_elses_run_is_there(own, other_submitter):
    body = {"controller_id": "secret", "run_id": "7", "ts": "2026-08-20T12:00:00Z"}
    run = runs_ingest(account=other_submitter, body=body)[0].run
    assert own.get(f"/schedule/runs/{run.pk}/").status_code == 404
    assert "secret" not in own.get("/schedule/runs/").text


def test_savings_by_month_stand_on_the_dashboard_in_chart_and_table(own, submitter, placed):
    settled(submitter, placed)
    page = read(own.get("/schedule/"))
    (row,) = [attributes for tag, attributes in page.elements if tag == "tr" and "data-month" in attributes]
    assert (row["data-month"], float(row["data-first"])) == ("Aug 26", pytest.approx(0.06))
    assert "Aug20261300Wh0.03+0.06" in page.text.replace(" ", "")


def test_the_pages_ask_the_database_little(own, submitter, placed, django_assert_num_queries):
    run = settled(submitter, placed)
    for number in range(5):
        report(submitter, placed, run_id=f"more {number}")
    with django_assert_num_queries(4):
        own.get("/schedule/runs/")
    with django_assert_num_queries(4):
        own.get(f"/schedule/runs/{run.pk}/")
