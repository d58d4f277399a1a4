"""Every chart of the corpus is drawn from the numbers that the API tells."""

import pytest

from bench.services.board import board_rebuild
from tests.bench.corpus import published
from tests.bench.pages_corpus import publish_recorded_runs, publish_run_with_a_fit
from tests.bench.pages_html import read

pytestmark = pytest.mark.django_db
API = "/api/v1/bench"
NEEDED = {"scatter", "sweep", "trace", "growth", "fit"}


def rows(page, name):
    """The rows of the tables of a page that a chart draws by `name`."""
    return [attributes for tag, attributes in page.elements if tag == "tr" and name in attributes]


def numbers(page, name):
    return [float(row[name]) for row in rows(page, name)]


@pytest.fixture
def fitted(client, submitter, maintainer):
    """The page of a run with a fit, and what the API says of the run."""
    run = publish_run_with_a_fit(submitter, maintainer)
    return read(client.get(f"/bench/runs/{run.pk}/")), client.get(f"{API}/runs/{run.pk}").json()


def test_power_over_time(fitted):
    page, told = fitted
    assert numbers(page, "data-t") == told["trace"]["t_s"]
    assert numbers(page, "data-w") == told["trace"]["gpu_power_w"]


def test_readings_over_time_end_at_the_figures(fitted):
    page, told = fitted
    figures, last = told["figures"], rows(page, "data-since")[-1]
    assert float(last["data-since"]) == pytest.approx(figures["run_duration_s"])
    assert float(last["data-counter"]) == pytest.approx(figures["total_joules_gpu_counter"])
    assert float(last["data-integrated"]) == pytest.approx(figures["total_joules_gpu"])
    assert "data-plug" not in last
    assert figures["wall_joules"] is None


def test_items_and_their_fit(fitted):
    page, told = fitted
    items, model = told["items"], told["figures"]["cost_model"]
    assert numbers(page, "data-j") == items["energy_j"]
    assert numbers(page, "data-tokens") == items["completion_tokens"]
    (figure,) = [attributes for _, attributes in page.elements if attributes.get("data-chart") == "fit"]
    assert float(figure["data-slope"]) == model["beta_j_per_completion_token"]
    asked = sorted(items["prompt_tokens"])
    middle = (asked[19] + asked[20]) / 2
    start_j = model["e_fixed_j"] + model["alpha_j_per_prompt_token"] * middle
    assert float(figure["data-start"]) == pytest.approx(start_j)


def test_candidates_of_the_picker(client):
    publish_recorded_runs()
    page = read(client.get("/bench/picker/", {"task": "arith_recorded"}))
    told = client.get(f"{API}/recommend", {"task": "arith_recorded"}).json()["results"]
    expected = sorted((one["predicted_j"], one["predicted_j_low"], one["predicted_j_high"]) for one in told)
    assert list(zip(*(numbers(page, name) for name in ("data-j", "data-lo", "data-hi")), strict=True)) == expected
    assert sorted(numbers(page, "data-acc")) == pytest.approx(sorted(100 * one["accuracy"] for one in told))


def test_runs_of_one_configuration(client, submitter, other_submitter, maintainer):
    for n, account in ((12, submitter), (12, submitter), (24, submitter), (12, other_submitter)):
        published(account, maintainer, n=n, node_hash=f"machine-of-{account.pk}")
    board_rebuild(full=True)
    page = read(client.get("/bench/data/"))
    links = [link["href"] for link in page.all("a") if link["href"].startswith("/bench/runs/")]
    shown = rows(page, "data-y")
    assert len(links) == len(shown) >= 6
    for row, link in zip(shown, links, strict=True):
        figures = client.get(f"/api/v1{link}".removesuffix("/")).json()["figures"]
        assert float(row["data-y"]) == figures["joules_per_correct_answer"]
        assert [row.get(end) for end in ("data-low", "data-high")] == [
            None if figures[end] is None else str(figures[end]) for end in ("jpc_ci_low", "jpc_ci_high")
        ]


def test_no_chart_is_left_out(client, fitted, submitter, maintainer):
    page, _ = fitted
    for concurrency in (1, 8):
        published(submitter, maintainer, concurrency=concurrency)
    board_rebuild(full=True)
    others = [read(client.get(path)) for path in ("/bench/data/", "/bench/picker/")]
    assert {kind for one in (page, *others) for kind in one.values("data-chart")} == NEEDED
