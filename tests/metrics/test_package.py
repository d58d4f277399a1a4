"""The package stands alone, and costs little beside reading its input."""

import json
import random
import subprocess
import sys
from timeit import repeat

import pytest
from asyncenergy_controller import metrics
from asyncenergy_controller.metrics import METHODOLOGY_VERSION, recompute_run

from .runs import made_run

FORBIDDEN = ("django", "typer", "rich", "pynvml", "httpx2", "pydantic", "asyncenergy", "scipy")


def test_importing_the_formulas_loads_no_meter_no_network_no_server_and_not_what_only_a_fit_needs():
    code = "import sys; from asyncenergy_controller.metrics import *; print('\\n'.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "asyncenergy_controller.metrics.figures" in loaded
    assert [name for name in loaded if name.split(".")[0] in FORBIDDEN] == []


def test_every_name_of_the_package_is_where_it_is_said_to_be():
    assert sorted(metrics._HOMES) == sorted(metrics.__all__)
    assert all(getattr(metrics, name) is not None for name in metrics.__all__)
    with pytest.raises(AttributeError, match="no_such_formula"):
        metrics.no_such_formula  # noqa: B018 - the access is what is tested


def test_energy_totals_need_no_arrays():
    code = "import sys; from asyncenergy_controller.metrics import totals, throttling, reasons; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "asyncenergy_controller.metrics.totals" in loaded
    assert "numpy" not in loaded


def test_the_methodology_has_a_version():
    assert METHODOLOGY_VERSION == "3"


def test_recomputing_a_long_run_costs_less_than_four_times_reading_it():
    raw = json.dumps(long_run(samples=7500, n_items=40))
    run = json.loads(raw)
    reading_s = min(repeat(lambda: json.loads(raw), number=1, repeat=7))
    recomputing_s = min(repeat(lambda: recompute_run(run), number=1, repeat=7))
    ratio = recomputing_s / reading_s
    print(f"json.loads {1e3 * reading_s:.1f} ms, recompute_run {1e3 * recomputing_s:.1f} ms, ratio {ratio:.2f}")
    assert ratio < 4


def long_run(*, samples: int, n_items: int):
    rng = random.Random(samples + n_items)
    prompt = [rng.randrange(50, 900) for _ in range(n_items)]
    completion = [rng.randrange(20, 600) for _ in range(n_items)]
    lengths = [20 + p / 20 + c for p, c in zip(prompt, completion, strict=True)]
    seconds = 0.2 * (samples - 1) - 4
    edges = [seconds * sum(lengths[:i]) / sum(lengths) for i in range(n_items + 1)]
    run = made_run(
        seconds=seconds,
        watts=lambda _: round(rng.uniform(120, 300), 3),
        spans=list(zip(edges[:-1], edges[1:], strict=True)),
        correct=[float(rng.random() < 0.5) for _ in range(n_items)],
        prompt_tokens=prompt,
        completion_tokens=completion,
    )
    for name, top in (("gpu_util_pct", 100), ("gpu_mem_used_mib", 9e4), ("gpu_temp_c", 80), ("sm_clock_mhz", 1980)):
        run["trace"][name] = [round(rng.uniform(1, top), 1) for _ in range(samples)]
    run["trace"]["throttle_mask"] = [0] * samples
    return run
