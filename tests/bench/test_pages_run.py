"""The page of one run: readings, ledger, trace, gates, honesty, items, decisions."""

import json

import pytest

from bench import selectors
from bench.presentation import between, significant
from bench.services.ingest import submission_ingest
from bench.services.moderation import run_publish, run_withdraw
from tests.bench.corpus import published, sent, sent_totals
from tests.bench.pages_corpus import (
    publish_recorded_runs,
    publish_run_with_a_fit,
    publish_simulated_run,
    submit_recorded_run,
)
from tests.bench.pages_html import read
from tests.wire.bundles import make_bundle, make_run, make_trace

pytestmark = pytest.mark.django_db


def page_of(client, run):
    return read(client.get(f"/bench/runs/{run.pk}/"))


@pytest.fixture
def recorded():
    return publish_recorded_runs()


def test_a_recorded_run_shows_its_headline_and_readings(client, recorded):
    run = recorded["bfloat16", "arith_recorded", 1]
    text = page_of(client, run).text
    interval = between(*(significant(run.figures[end]) for end in ("jpc_ci_low", "jpc_ci_high")))
    assert f"Joules per correct answer834.1 J {interval}, 95 %" in text
    assert "Energy counter 5,838.7 J" in text
    assert "Wall meter not measured No wall meter was read." in text
    assert "7 right of 40" in text


def test_the_gross_energy_is_split_into_empty_loaded_and_answering(client, recorded):
    run = recorded["bfloat16", "arith_recorded", 1]
    page = page_of(client, run)
    figures = run.figures
    waiting = 100 * (1 - figures["net_joules"] / figures["total_joules_gpu_best"])
    assert f"{waiting:.1f} % of the 5,838.7 J would have been drawn anyway" in page.text
    assert [rect["class"] for rect in page.all("rect") if rect.get("height") == "100%" and "x" in rect] == [
        "seg-1",
        "seg-2",
        "seg-3",
    ]
    assert "Loading the modelnot recorded" in page.text


def test_the_chart_draws_the_samples_that_its_table_shows(client, recorded):
    run = recorded["bfloat16", "arith_recorded", 1]
    page = page_of(client, run)
    trace = run.columns.trace()
    assert [float(power) for power in page.values("data-w")] == trace["gpu_power_w"]
    assert [float(time) for time in page.values("data-t")] == trace["t_s"]
    assert page.values("data-answer").count("right") == 7
    assert any("chart.umd" in script.get("src", "") for script in page.all("script"))


def grown(page):
    """What the chart of the readings is drawn from."""
    rows = [attributes for tag, attributes in page.elements if tag == "tr" and "data-integrated" in attributes]
    return [(float(row["data-since"]), float(row["data-counter"]), float(row["data-integrated"])) for row in rows]


def test_the_readings_grow_from_nothing_to_the_figures_of_the_api(client, recorded):
    run = recorded["bfloat16", "arith_recorded", 1]
    found = grown(page_of(client, run))
    told = client.get(f"/api/v1/bench/runs/{run.pk}").json()["figures"]
    assert found[0] == (0, 0, 0)
    whole = (told["run_duration_s"], told["total_joules_gpu_counter"], told["total_joules_gpu"])
    assert found[-1] == pytest.approx(whole)
    assert found == sorted(found)


def test_a_run_without_a_right_answer_has_no_headline(client, recorded):
    text = page_of(client, recorded["bfloat16", "gsm8k", 1]).text
    assert "Joules per correct answerundefined 0 of 15 correct" in text


def test_the_page_says_whose_word_correctness_is(client, recorded):
    text = page_of(client, recorded["float32", "arith_recorded", 1]).text
    assert "Correctness is the submitter’s word" in text


def test_the_decision_and_the_decider_stand_on_the_page(client, recorded):
    text = page_of(client, recorded["float32", "arith_recorded", 1]).text
    assert "maintainers (reference data)" in text


def test_gates_are_told_in_words(client, recorded):
    page = page_of(client, recorded["bfloat16", "arith_recorded", 1])
    verdicts = [attributes["class"] for tag, attributes in page.elements if "verdict" in attributes.get("class", "")]
    assert {"verdict ok", "verdict flag", "verdict none"} <= set(verdicts)
    assert "cut off at 64 tokens" in page.text


def test_page_and_row_show_one_number(client, recorded):
    run = recorded["bfloat16", "arith_recorded", 16]
    row = selectors.board_rows(selectors.BoardQuery(task="arith_recorded"))[0]
    assert row["run_id"] == str(run.pk)
    assert f"{row['joules_per_correct_answer']:.1f} J" in page_of(client, run).text
    assert "134 J" in read(client.get("/bench/leaderboard/?task=arith_recorded")).text


def test_nothing_is_blank_or_none(client, recorded):
    for run in recorded.values():
        text = page_of(client, run).text
        assert "None" not in text
        assert "nan" not in text.split()


def own_page(client, run):
    """The page as the owner of a waiting run sees it."""
    client.force_login(run.account)
    return page_of(client, run)


def test_totals_without_a_trace_say_what_is_missing(client, submitter):
    page = own_page(client, sent_totals(submitter))
    assert "1,029.0 J" in page.text
    assert "81 right of 100" in page.text
    assert "this kind of bundle carries no answers" in page.text
    assert "sent as totals only, which hold no interval" in page.text
    assert "It came without a recording, so it has no phases." in page.text
    assert page.values("data-chart") == []
    assert "None" not in page.text


def test_a_run_without_any_meter_still_shows_its_answers(client, submitter):
    trace = make_trace()
    bare = {**trace, **{name: [None] * len(trace["t_s"]) for name in trace if name not in ("t_s", "power_field")}}
    run = make_run(trace=bare)
    del run["energy_source"]
    raw = json.dumps(make_bundle(run)).encode()
    page = own_page(client, submission_ingest(account=submitter, raw=raw).runs[0].run)
    assert "Joules per correct answernot measured no energy was measured" in page.text
    assert "Accuracy50.0 %" in page.text
    assert page.text.count("not measured") >= 5
    assert "No energy was measured, so there is nothing to split." in page.text
    assert "no item has one" in page.text
    assert page.values("data-t") == []
    assert " 0.0 J" not in page.text
    assert page.values("data-chart") == []


def test_a_processor_is_not_called_a_card(client, submitter):
    trace = make_trace()
    n = len(trace["t_s"])
    gpu = {"gpu_power_w": [None] * n, "gpu_energy_mj": [None] * n}
    package = {"cpu_energy_uj": [30e6 * t for t in trace["t_s"]]}
    run = sent(
        submitter,
        trace=trace | gpu | package,
        device={"kind": "cpu", "count": 1},
        energy_source="rapl",
        energy_boundary="cpu_package",
        sensor={"cpu_energy_range_uj": 262143328850},
        ledger=[{"phase": "loaded_idle", "t_start_s": 0.0, "t_end_s": 2.0}],
    )
    page = own_page(client, run)
    assert "the processor package" in page.text
    assert "Empty processor" not in page.text  # no such baseline was taken
    assert "Model loaded and waiting" in page.text
    assert "Empty card" not in page.text


def test_a_wall_meter_gets_its_own_line_and_column(client, submitter):
    trace = make_trace()
    walled = trace | {"wall_power_w": [180.0] * len(trace["t_s"])}
    run = sent(submitter, trace=walled)
    page = own_page(client, run)
    assert float(page.values("data-plug")[-1]) == pytest.approx(run.figures["wall_joules"])
    assert len(page.values("data-wall")) == len(trace["t_s"])
    assert "Wall (W)" in page.text
    assert "dashed the wall meter" in page.text
    assert "1.80 × the device" in page.text


def test_a_missing_sample_leaves_a_gap_in_chart_and_table(client, submitter):
    trace = make_trace()
    trace["gpu_power_w"][40] = None
    page = own_page(client, sent(submitter, trace=trace))
    assert len(page.values("data-w")) == len(page.values("data-t")) - 1
    assert page.text.count("–") >= 1


def test_a_long_trace_is_cut_to_what_a_page_can_hold_and_says_so(client, submitter):
    page = own_page(client, sent(submitter, n=396))
    assert len(page.values("data-t")) <= 600
    assert "of 2,001 samples; every peak and gap is among them" in page.text


def test_more_items_than_a_page_can_hold_are_counted(client, submitter):
    page = own_page(client, sent(submitter, n=510))
    assert len(page.values("data-answer")) == 500
    assert "The first 500 of 510 items are shown." in page.text


def test_simulated_energy_is_announced_before_any_figure(client, settings):
    settings.DEMO = True
    text = page_of(client, publish_simulated_run()).text
    assert text.index("Simulated energy.") < text.index("Joules per correct answer")


def test_a_waiting_run_is_seen_by_its_owner_and_the_maintainers_alone(client, submitter, other_submitter, maintainer):
    run = submit_recorded_run(submitter)
    address = f"/bench/runs/{run.pk}/"
    assert client.get(address).status_code == 404
    client.force_login(other_submitter)
    assert client.get(address).status_code == 404
    for person in (submitter, maintainer):
        client.force_login(person)
        assert "Not public." in read(client.get(address)).text


def test_a_withdrawn_run_is_gone_for_the_public(client, submitter, maintainer):
    run = submit_recorded_run(submitter)
    run_publish(run=run, by=maintainer, note="Fine.")
    assert client.get(f"/bench/runs/{run.pk}/").status_code == 200
    run_withdraw(run=run, by=maintainer, reason_code="faulty", note="The fan was off.")
    assert client.get(f"/bench/runs/{run.pk}/").status_code == 404


def test_an_unknown_run_is_not_found_in_words(client):
    response = client.get("/bench/runs/11111111-1111-4111-8111-111111111111/")
    assert response.status_code == 404
    assert "There is nothing here" in read(response).text


def test_a_run_page_takes_three_queries(client, recorded, django_assert_num_queries):
    run = recorded["bfloat16", "arith_recorded", 1]
    with django_assert_num_queries(3):
        page_of(client, run)


def test_the_run_page_is_read_only(client, recorded):
    run = recorded["bfloat16", "arith_recorded", 1]
    assert client.post(f"/bench/runs/{run.pk}/").status_code == 405


def test_a_fit_stands_with_its_parts_and_its_line(client, submitter, maintainer):
    run = publish_run_with_a_fit(submitter, maintainer)
    page = read(client.get(f"/bench/runs/{run.pk}/"))
    assert "Each token of the answer 2.00 J" in page.text
    assert "Each token of the question 0.200 J" in page.text
    (chart,) = [figure for figure in page.all("div") if figure.get("data-chart") == "fit"]
    assert float(chart["data-slope"]) == pytest.approx(2.0, rel=0.01)
    assert float(chart["data-start"]) == pytest.approx(10 + 0.2 * 94.5, rel=0.02)  # the median question has 94.5 tokens
    points = [row for row in page.all("tr") if "data-tokens" in row]
    assert len(points) == 40
    assert float(points[0]["data-j"]) == pytest.approx(100 * (0.1 + 0.002 * 50 + 0.02 * 5), rel=0.01)


def test_without_a_fit_the_page_says_why_and_draws_none(client):
    run = publish_recorded_runs()["bfloat16", "arith_recorded", 1]
    page = read(client.get(f"/bench/runs/{run.pk}/"))
    assert "too much alike in length to tell the parts apart" in page.text
    assert "fit" not in page.values("data-chart")


def test_a_run_leads_to_its_configuration_while_it_stands_on_the_board(client, submitter, maintainer):
    run = publish_run_with_a_fit(submitter, maintainer)
    link = f"/bench/configs/{run.config_key}/"
    assert link in read(client.get(f"/bench/runs/{run.pk}/")).values("href")
    assert client.get(link).status_code == 200
    apart = published(submitter, maintainer, suite="calibrate", max_tokens=99)
    page = read(client.get(f"/bench/runs/{apart.pk}/"))
    assert f"/bench/configs/{apart.config_key}/" not in page.values("href")
