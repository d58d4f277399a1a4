"""Without history the published corpus says what a class of work draws, and what a power cap does to it."""

from datetime import timedelta

import pytest

from bench.models import BoardRow, BoardSweep
from scheduling.selectors.corpus import class_rows, parameters_b, power_caps, prior_w
from scheduling.selectors.schedule import certificate_of
from tests.people import key_client
from tests.scheduling.people import NOON, make_market, make_workflow, placement_of, plan

pytestmark = pytest.mark.django_db
CLASS = {"bench_gpu_class": "RTX 3090", "bench_model_size_class": "8b", "bench_quant": "Q4_K_M"}


def publish_row(key, *, watts, speed, limit_w=None, model="Example-8B-Instruct", **fields):
    payload = {
        "model": model,
        "quantization": "Q4_K_M",
        "engine": "llama.cpp",
        "engine_version": "b1",
        "thinking_mode": None,
        "task": "gsm8k",
        "concurrency": 1,
        "power_limit_w": limit_w,
        "joules_per_token": watts / speed,
        "pooled_tokens_per_second": speed,
        **fields,
    }
    BoardRow.objects.create(
        config_key=key,
        task="gsm8k",
        model=model,
        quantization="Q4_K_M",
        engine="llama.cpp",
        gpu_class="RTX 3090",
        verified=True,
        joules_per_token=payload["joules_per_token"],
        pooled_tokens_per_second=speed,
        n_runs=1,
        n_nodes=1,
        updated_at=NOON,
        payload=payload,
    )


@pytest.mark.parametrize(
    ("words", "size"),
    [
        ("8b", 8),
        ("Llama-3.1-8B-Instruct", 8),
        ("SmolLM2-135M-Instruct", 0.135),
        ("qwen2.5 0.5B", 0.5),
        ("70B", 70),
        ("gpt-oss", None),
        ("A100", None),
        ("32bit", None),
    ],
)
def test_the_size_of_a_model_is_read_from_its_name(words, size):
    assert parameters_b(words) == (None if size is None else pytest.approx(size))


def test_the_power_of_a_class_is_its_median_row_at_stock():
    for key, watts in (("a", 280), ("b", 300), ("c", 350)):
        publish_row(key, watts=watts, speed=50)
    publish_row("capped", watts=150, speed=40, limit_w=200)
    publish_row("big", watts=900, speed=9, model="Example-70B")
    rows = class_rows("RTX 3090", "8b", "Q4_K_M")
    assert len(rows) == 4
    assert prior_w(rows) == pytest.approx(300)
    assert class_rows("RTX 3090", None, "Q4_K_M") == class_rows(None, "8b", None) == []
    assert prior_w(class_rows("H200", "8b", None)) is None


def test_a_workflow_without_history_is_predicted_from_its_class(submitter):
    make_market(*[0.1] * 48)
    publish_row("a", watts=280, speed=50)
    workflow = make_workflow(submitter, nameplate_watts=None, deadline="by 9am", recurrence="none", **CLASS)
    placed = placement_of(plan(submitter), workflow)
    assert (placed.prediction_method, placed.predicted_wh) == ("bench_prior", pytest.approx(280))


def publish_sweep(*points, model="Example-8B-Instruct", quantization="Q4_K_M"):
    """Points of (cap in W or None for stock, tokens per second, mean W), the stock setting first."""
    rows = [
        {"setting": cap, "is_stock": cap is None, "tokens_per_second": speed, "mean_w": watts}
        for cap, speed, watts in points
    ]
    payload = {"model": model, "quantization": quantization, "points": rows}
    BoardSweep.objects.create(kind="power_cap", task="gsm8k", gpu_class="RTX 3090", model=model, payload=payload)


def test_a_sweep_tells_what_each_cap_costs_in_time_and_saves_in_power():
    publish_sweep((None, 50, 350), (300.0, 48, 280), (200.0, 40, 190))
    publish_sweep((None, 50, 350), (100.0, 30, 90))
    publish_sweep((None, 9, 900), (700.0, 8, 700), (600.0, 7, 600), (500.0, 6, 500), model="Example-70B")
    publish_sweep((300.0, 48, 280), (250.0, 47, 240), (200.0, 45, 190), (150.0, 44, 140))
    caps = power_caps("RTX 3090", "8b", None)
    assert [cap.cap_w for cap in caps] == [300, 200], "the largest sweep of the class that has a stock point"
    assert [cap.slowdown for cap in caps] == [pytest.approx(50 / 48), pytest.approx(1.25)]
    assert [cap.power_ratio for cap in caps] == [pytest.approx(0.8), pytest.approx(190 / 350)]
    assert power_caps("RTX 3090", "8b", "Q8_0") == power_caps("H200", "8b", None) == power_caps(None, "8b", None) == ()


def test_the_plan_chooses_the_cap_together_with_the_start_and_says_so(submitter, noon):
    make_market(*[0.3] * 24, *[0.1] * 4, *[0.3] * 20)
    publish_row("stock", watts=350, speed=50)
    publish_sweep((None, 50, 350), (200.0, 40, 190))
    ours = make_workflow(submitter, name="ours", controller_id="box", deadline="by 9am", recurrence="none", **CLASS)
    field = make_workflow(submitter, name="field", deadline="by 9am", recurrence="none", **CLASS)
    version = plan(submitter)
    assert placement_of(version, field).cap_w is None, "a deployed controller can't set one"
    capped = placement_of(version, ours)
    assert capped.cap_w == 200
    assert capped.reserved_s == pytest.approx(4500 * 1.25)
    assert capped.predicted_wh == pytest.approx(350 * 1.25 * 190 / 350)
    assert capped.cost < placement_of(version, field).cost
    told = key_client(submitter).get("/api/v1/schedule?after=-1", HTTP_X_CONTROLLER_ID="box").json()["placements"]
    caps = {p["workflow_id"]: p["cap_w"] for p in told}
    assert caps == {str(ours.pk): 200, str(field.pk): None}, "the controller is told which cap to set"
    assert sorted(len(job["modes"]) for job in certificate_of(submitter, version.number)["jobs"]) == [1, 2]
    again = placement_of(plan(submitter, capped.start + timedelta(minutes=5)), ours)
    assert (again.start, again.end, again.cap_w) == (capped.start, capped.end, 200), "once begun it stays as it is"


def test_where_the_window_is_too_short_for_a_slower_run_no_cap_is_chosen(submitter):
    make_market(*[0.1] * 48)
    publish_row("stock", watts=350, speed=50)
    publish_sweep((None, 50, 350), (200.0, 40, 190))
    workflow = make_workflow(submitter, controller_id="box", deadline="in 80 min", recurrence="none", **CLASS)
    assert placement_of(plan(submitter), workflow).cap_w is None
