"""Where the energy goes: each figure follows from the corpus and leads to where it comes from."""

import re

import pytest

from bench.models import BoardRow
from bench.verification.hardware import MEMORY_BANDWIDTH
from learn import evidence, markdown
from learn.views import CONTENT
from tests.bench.pages_corpus import make_config, make_row, publish_recorded_runs
from tests.bench.pages_html import read
from tests.bench.test_pages_data import sweep
from tests.bench.test_pages_picker import FIT

pytestmark = pytest.mark.django_db
ARTICLE = "/blog/where-the-energy-goes/"


def answer(client, anchor):
    """The part of the page under one question, as text and as its links."""
    html = client.get(ARTICLE).content.decode()
    part = html.split(f'id="{anchor}"')[1].split("</section>")[0]
    text = " ".join(re.sub(r"<[^>]+>", " ", part).replace("\u202f", " ").split())
    return text, re.findall(r'href="([^"]+)"', part)


def test_every_question_has_its_evidence_and_the_other_way_round():
    document = markdown.read(CONTENT / "where-the-energy-goes.md")
    assert [section.anchor for section in document.sections] == list(evidence.ANSWERS)


def test_no_figure_is_typed_into_the_article():
    assert re.findall(r"\d", (CONTENT / "where-the-energy-goes.md").read_text()) == []


def test_an_empty_corpus_says_of_every_question_what_is_missing(client):
    page = read(client.get(ARTICLE))
    assert page.text.count("The corpus can’t show it yet.") == len(evidence.ANSWERS)
    assert page.all("table") == []


def test_the_recorded_runs_answer_with_their_own_figures(client):
    runs = publish_recorded_runs()
    text, links = answer(client, "concurrency")
    assert "16 at a time needs 134 J for a correct answer, 1 at a time 834 J, 6.23 times as much." in text
    assert f"/bench/runs/{runs['bfloat16', 'arith_recorded', 16].pk}/" in links
    text, _ = answer(client, "idle")
    assert "waiting makes up 91.7 to 97.3 % of the energy" in text
    text, _ = answer(client, "quantization")
    assert "Their intervals overlap, so they can’t be told apart." in text
    text, _ = answer(client, "task")
    assert "an item of gsm8k takes" in text


def test_a_changed_row_changes_the_answer(client):
    row = make_row("a", joules_per_correct_answer=100.0, net_jpc=25.0)
    assert "75.0 %" in answer(client, "idle")[0]
    BoardRow.objects.filter(pk=row.pk).update(payload=row.payload | {"net_jpc": 50.0})
    assert "50.0 %" in answer(client, "idle")[0]


def test_devices_are_compared_with_one_setup_and_with_what_their_makers_say(client):
    make_row("a", gpu_class="H200", joules_per_correct_answer=100.0, jpc_ci_low=90.0, jpc_ci_high=110.0)
    make_row("b", gpu_class="RTX 3090", joules_per_correct_answer=50.0, jpc_ci_low=45.0, jpc_ci_high=55.0)
    make_row("c", gpu_class="RTX 3090", joules_per_correct_answer=1.0, quantization="Q4_K_M")
    text, links = answer(client, "hardware")
    assert "On arith, H200 needs 2.00 times the energy of RTX 3090 for a correct answer." in text
    assert "overlap" not in text
    source = MEMORY_BANDWIDTH["RTX 3090"].source
    assert f"936.2 GB/s memory bandwidth, by the {source}" in text
    assert "/bench/leaderboard/?gpu_class=RTX+3090" in links


def test_models_are_compared_on_one_device_and_task(client):
    make_row("a", model="small-1b", joules_per_correct_answer=100.0, jpc_ci_low=90.0, jpc_ci_high=110.0)
    make_row("b", model="large-9b", joules_per_correct_answer=105.0, jpc_ci_low=95.0, jpc_ci_high=115.0)
    text, _ = answer(client, "model")
    assert "large-9b needs 1.05 times the energy of small-1b" in text
    assert "can’t be told apart" in text


@pytest.mark.parametrize("other", [{"energy_boundary": "wall"}, {"energy_source": "amdsmi"}, {"verified": False}])
@pytest.mark.parametrize(
    ("anchor", "differs", "missing"),
    [
        ("model", {"model": "large-9b"}, "No two models are published on one device and task yet."),
        ("hardware", {"gpu_class": "RTX 3090"}, "No configuration is published on two kinds of device yet."),
        ("task", {"task": "gsm8k"}, "No setup is published on two tasks yet."),
    ],
)
def test_different_kinds_of_energy_are_not_compared(client, other, anchor, differs, missing):
    make_row("a", joules_per_correct_answer=100.0)
    make_row("b", joules_per_correct_answer=300.0, joules_per_item=400.0, **differs, **other)
    text, _ = answer(client, anchor)
    assert missing in text
    assert "times" not in text


def test_a_power_sweep_answers_whether_to_lower_the_limit(client):
    sweep(points=((None, 100.0), (250.0, 80.0)))
    text, links = answer(client, "power-limit")
    assert "250 W needs 80.0 J for a correct answer, stock 100 J, 1.25 times as much." in text
    assert any(href.startswith("/bench/data/?kind=power_cap") for href in links)


def test_a_fit_tells_question_from_answer(client):
    make_config(make_row("a").payload, cost_model=FIT)
    text, links = answer(client, "length")
    assert "1.00 J per token of the answer 0.0100 J per token of the question, 10.0 J for any answer" in text
    assert "/bench/configs/a000000000000000/" in links


def test_several_machines_show_their_spread(client):
    make_row("a", spread_min=80.0, spread_max=120.0, n_nodes=3)
    text, _ = answer(client, "machines")
    assert "machines of one kind differ 1.50 times" in text
    assert "80.0–120 J per correct answer on 3 machines" in text


def test_a_wall_meter_tells_what_the_device_leaves_out(client, submitter, maintainer):
    from bench.services.board import board_rebuild
    from tests.bench.corpus import published
    from tests.wire.bundles import make_trace

    trace = make_trace(16.0, watts=100.0)
    trace["wall_power_w"] = [150.0] * len(trace["t_s"])
    published(submitter, maintainer, trace=trace)
    board_rebuild(full=True)
    assert "1.50 ×" in answer(client, "wall")[0]
