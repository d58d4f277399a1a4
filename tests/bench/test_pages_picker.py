"""Which model should I run: the pick with its reasons, and every candidate under its number in chart and table."""

import re

import pytest

from bench.models import BoardRow
from tests.bench.pages_corpus import make_config, make_row, publish_recorded_runs
from tests.bench.pages_html import read

pytestmark = pytest.mark.django_db
PICKER = "/bench/picker/"
FIT = {
    "e_fixed_j": 10.0,
    "alpha_j_per_prompt_token": 0.01,
    "beta_j_per_completion_token": 1.0,
    "r2": 0.97,
    "n": 40,
    "prompt_token_range": [50.0, 200.0],
    "completion_token_range": [10.0, 100.0],
    "e_fixed_se_j": 0.5,
    "alpha_se": 0.001,
    "beta_se": 0.02,
    "claimed": False,
    "node": "H",
    "n_machines": 1,
    "mean_prompt_tokens": 60.0,
    "mean_completion_tokens": 50.0,
    "mean_item_j": 60.6,
    "mean_item_j_min": 60.6,
    "mean_item_j_max": 60.6,
}


def row(letter, joules, accuracy, *, spread=0.05, **changes):
    """A row with an interval of `spread` on both sides."""
    limits = {"jpc_ci_low": joules * (1 - spread), "jpc_ci_high": joules * (1 + spread)}
    named = {"model": f"model-{letter}", "accuracy": accuracy, "accuracy_ci_low": accuracy - 0.05}
    wide = {"jpc_wide_low": limits["jpc_ci_low"], "jpc_wide_high": limits["jpc_ci_high"]}
    return make_row(
        letter,
        **{
            "joules_per_correct_answer": joules,
            "accuracy_ci_high": accuracy + 0.05,
            **limits,
            **named,
            **wide,
            **changes,
        },
    )


def asked(client, **wish):
    return read(client.get(PICKER, wish))


def heading(page):
    return page.html.split('id="answer">')[1].split("<")[0]


def drawn(page):
    """The candidates as the chart gets them, by number."""
    return {attributes["data-no"]: attributes for tag, attributes in page.elements if "data-no" in attributes}


def test_the_least_energy_is_picked_and_what_is_right_more_often_is_named(client):
    row("a", 100, 0.40)
    row("b", 150, 0.74)
    row("c", 300, 0.90)
    page = asked(client, min_accuracy=60)
    assert heading(page).startswith("model-b")
    assert "Need more right? model-c" in page.text
    assert "90.0 % for 300 J" in page.text
    assert [(one["data-no"], one["data-pick"]) for one in drawn(page).values()] == [
        ("1", "no"),
        ("2", "yes"),
        ("3", "no"),
    ]
    assert "not what you asked" in page.text
    assert page.values("data-least") == ["60.0"]


def test_a_runner_up_whose_interval_overlaps_cannot_be_told_apart(client):
    row("a", 149, 0.73)
    row("b", 155, 0.74)
    assert "model-b (bfloat16 · transformers 4.57 · H200) at 155 J (147–163), can’t be told apart" in asked(client).text


def test_a_clear_lead_is_said_as_a_factor(client):
    row("a", 100, 0.73)
    row("b", 300, 0.74)
    assert "needs 3.00 × the energy" in asked(client).text


def test_without_an_interval_nothing_is_decided(client):
    row("a", 100, 0.73)
    row("b", 120, 0.74, jpc_ci_low=None, jpc_ci_high=None)
    assert "may be as good: one of the two has no interval" in asked(client).text


def test_times_have_no_interval_and_the_page_says_so(client):
    row("a", 100, 0.73, pooled_tokens_per_second=10.0)
    row("b", 300, 0.74, pooled_tokens_per_second=20.0)
    page = asked(client, objective="speed")
    assert heading(page).startswith("model-b")
    assert "Predicted times carry no interval" in page.text


def test_a_price_makes_a_cost_and_without_one_there_are_kilowatt_hours(client):
    row("a", 360, 0.5)  # 1,000 correct answers take 0.1 kWh
    assert "1,000 correct answers take 0.100 kWh at the GPU board" in asked(client).text
    text = asked(client, price=28).text
    assert "1,000 correct answers cost 2.80 ct 0.100 kWh at the GPU board × 28 ct/kWh" in text


def test_a_shape_is_predicted_by_the_fit_and_the_api_predicts_the_same(client):
    stored = row("a", 100, 0.5)
    make_config(stored.payload, cost_model=FIT)
    page = asked(client, prompt_tokens=100, output_tokens=50)
    result = client.get("/api/v1/bench/recommend", {"task": "arith", "prompt_tokens": 100, "output_tokens": 50}).json()
    (candidate,) = result["results"]
    assert candidate["predicted_j"] == pytest.approx((10 + 1 + 50) / 0.5)
    assert float(drawn(page)["1"]["data-j"]) == candidate["predicted_j"]
    assert "122 J per correct answer" in page.text
    assert "One answer of your shape 61.0 J predicted" in page.text


def test_a_shape_far_from_what_was_measured_says_so(client):
    make_config(row("a", 100, 0.5).payload, cost_model=FIT)
    page = asked(client, prompt_tokens=100, output_tokens=5000)
    assert "outside twice the measured range" in page.text


def test_a_shape_without_a_fit_is_not_predicted(client):
    row("a", 100, 0.5)
    page = asked(client, prompt_tokens=100, output_tokens=50)
    assert "None of the candidates can be ranked by least energy" in page.text
    assert "no energy known" in page.text


def test_memory_that_is_too_small_leaves_a_way_out(client):
    row("a", 100, 0.5, peak_gpu_mem_used_mib=20_000.0)
    page = asked(client, memory=8, min_accuracy=40)
    assert "No measured configuration is at least 40 % right and is known to fit in 8 GB" in page.text
    assert "any memory" in page.text
    assert "?min_accuracy=40" in page.values("href")


def test_the_frontier_holds_what_nothing_beats_at_both(client):
    row("a", 100, 0.40)
    row("b", 150, 0.35)
    row("c", 300, 0.90)
    front = {number: one["data-front"] for number, one in drawn(asked(client)).items()}
    assert front == {"1": "yes", "2": "no", "3": "yes"}


def verdicts(page):
    """What the last cell of each candidate says, in order."""
    return re.findall(r'data-label="Verdict">(?:<strong>)?([^<]+)', page.html)


def test_a_claim_beats_nobody_off_the_frontier(client):
    row("a", 10, 0.80)
    row("b", 12, 0.90)
    row("c", 1, 0.95, verified=False)
    page = asked(client)
    assert verdicts(page) == ["claimed", "our pick", "frontier"]
    assert [one["data-front"] for one in drawn(page).values()] == ["no", "yes", "yes"]
    assert "Need more right? model-b" in page.text


def test_a_claim_is_no_fraction_of_what_is_verified(client):
    row("a", 10, 0.80)
    row("b", 1, 0.95, verified=False)
    page = asked(client)
    assert "model-b (bfloat16 · transformers 4.57 · H200) at 1.00 J (0.950–1.05), is only claimed" in page.text
    assert "× the energy" not in page.text


def test_a_claim_is_not_picked_where_something_verified_fits(client):
    make_config(row("a", 10, 0.80).payload)
    make_config(row("b", 1, 0.95, verified=False).payload, cost_model=FIT | {"claimed": True})
    page = asked(client, prompt_tokens=100, output_tokens=50)
    assert "our pick" not in verdicts(page)
    assert "Only claims can be ranked by least energy" in page.text


def test_where_all_is_claimed_the_least_is_picked_and_the_word_stands_with_it(client):
    row("a", 10, 0.80, verified=False)
    page = asked(client)
    assert verdicts(page) == ["our pick"]
    assert "Claimed by its submitter" in page.text


def test_energies_of_another_boundary_are_not_weighed_against_the_pick(client):
    row("a", 10, 0.80, energy_boundary="cpu_package", energy_source="rapl")
    row("b", 30, 0.90, energy_boundary="wall")
    page = asked(client)
    assert "× the energy" not in page.text
    assert "Need more right?" not in page.text
    assert "model-b (bfloat16 · transformers 4.57 · H200) at 30.0 J" in page.text
    assert "was measured at the machine at the wall, the pick at the processor package" in page.text
    assert verdicts(page) == ["our pick", "other energy"]


def test_energies_of_another_source_are_not_weighed_against_the_pick(client):
    row("a", 10, 0.80, energy_source="amdsmi")
    row("b", 30, 0.90)
    page = asked(client)
    assert "was read from the device’s energy counter, the pick from AMD SMI" in page.text
    assert "× the energy" not in page.text


def test_a_candidate_without_a_correct_answer_is_undefined_and_not_drawn(client):
    row("a", 100, 0.40)
    nothing = dict.fromkeys(("jpc_ci_low", "jpc_ci_high", "jpc_wide_low", "jpc_wide_high"))
    make_row("b", joules_per_correct_answer=None, accuracy=0.0, rank=None, **nothing)
    page = asked(client)
    assert "undefined" in page.text
    assert "data-j" not in drawn(page)["2"]


def test_an_empty_corpus_and_an_unknown_gpu_say_what_to_do(client):
    page = asked(client)
    assert "Nothing is measured yet" in page.text
    assert "/bench/measure/" not in page.values("href")
    row("a", 100, 0.40)
    page = asked(client, gpu_class="RTX 9090")
    assert "Nothing is measured yet on arith with RTX 9090" in page.text
    assert "Ask for any GPU" in page.text


@pytest.mark.parametrize(
    "wish", [{"memory": "much"}, {"min_accuracy": "400"}, {"price": "1e999"}, {"objective": "fun"}]
)
def test_what_cannot_be_read_is_named_and_not_applied(client, wish):
    row("a", 100, 0.40)
    page = asked(client, **wish)
    assert "Not applied." in page.text
    assert heading(page).startswith("model-a")


def test_htmx_gets_the_answer_alone_and_the_address_with_it(client):
    row("a", 100, 0.40)
    response = client.get(PICKER, {"min_accuracy": "30"}, headers={"HX-Request": "true"})
    assert response.content.decode().lstrip().startswith('<div id="found">')
    assert response["HX-Push-Url"] == "/bench/picker/?min_accuracy=30"
    assert "HX-Request" in response["Vary"]


def test_recorded_runs_are_recommended_with_their_marks(client):
    publish_recorded_runs()
    page = asked(client)
    assert "134 J per correct answer" in page.text
    assert "truncated 35 %" in page.text
    assert page.faults == []


def test_the_picker_asks_the_database_little(client, django_assert_num_queries):
    for number in range(20):
        row(f"{number:02d}", 100 + number, 0.5)
    assert BoardRow.objects.count() == 20
    with django_assert_num_queries(10):
        client.get(PICKER)
