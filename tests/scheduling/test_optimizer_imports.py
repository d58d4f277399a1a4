"""The optimizer is pure: it and what reads times load without Django."""

import subprocess
import sys
from dataclasses import fields
from inspect import Parameter, signature
from pathlib import Path

import pytest

import scheduling.optimizer
from scheduling.optimizer import Infeasible, Job, Mode, Piece, Placement, Plan, PricePoint, plan, verify

NAMES = ("PricePoint", "Mode", "Job", "Piece", "Placement", "Infeasible", "Plan", "plan", "verify", "random_start_mean")


def test_the_public_names_are_importable_from_the_package():
    assert [name for name in NAMES if name not in scheduling.optimizer.__all__] == []
    assert all(hasattr(scheduling.optimizer, name) for name in scheduling.optimizer.__all__)


REQUIRED = object()
FIELDS = [
    (PricePoint, {"start": REQUIRED, "end": REQUIRED, "price_per_kwh": REQUIRED}),
    (Mode, {"duration_s": REQUIRED, "power_w": REQUIRED, "label": ""}),
    (
        Job,
        {
            "id": REQUIRED,
            "duration_s": REQUIRED,
            "power_w": REQUIRED,
            "earliest_start": REQUIRED,
            "deadline": REQUIRED,
            "priority": 0,
            "machine": "",
            "interruptible": False,
            "min_run_s": 0,
            "restart_wh": 0.0,
            "modes": (),
        },
    ),
    (Piece, {"start": REQUIRED, "end": REQUIRED}),
    (Placement, dict.fromkeys(("id", "machine", "mode", "pieces", "energy_wh", "cost"), REQUIRED)),
    (Infeasible, dict.fromkeys(("id", "reason", "smallest_change", "proof"), REQUIRED)),
]
CALLS = [
    (
        plan,
        {"prices": REQUIRED, "jobs": REQUIRED},
        {
            "now": REQUIRED,
            "capacity": 1,
            "watt_limit": None,
            "pinned": (),
            "time_limit_s": 10.0,
            "node_limit": None,
        },
    ),
    (
        verify,
        {"plan": REQUIRED, "prices": REQUIRED, "jobs": REQUIRED},
        {"now": None, "capacity": 1, "watt_limit": None},
    ),
]


def defaults(parameters: list[Parameter]) -> dict[str, object]:
    return {p.name: REQUIRED if p.default is Parameter.empty else p.default for p in parameters}


@pytest.mark.parametrize(("kind", "promised"), FIELDS, ids=lambda value: getattr(value, "__name__", ""))
def test_each_name_is_made_of_what_was_promised_in_that_order(kind, promised):
    made_of = defaults(list(signature(kind).parameters.values()))
    assert list(made_of.items())[: len(promised)] == list(promised.items())


@pytest.mark.parametrize(("call", "by_place", "by_name"), CALLS, ids=lambda value: getattr(value, "__name__", ""))
def test_each_call_takes_what_was_promised(call, by_place, by_name):
    parameters = list(signature(call).parameters.values())
    assert defaults([p for p in parameters if p.kind is Parameter.POSITIONAL_OR_KEYWORD]) == by_place
    assert defaults([p for p in parameters if p.kind is Parameter.KEYWORD_ONLY]) == by_name


def test_a_plan_has_what_was_promised():
    names = {field.name for field in fields(Plan)} | {name for name in vars(Plan) if not name.startswith("_")}
    promised = "placements infeasible cost lower_bound solver_bound gap baseline_cost certificate"
    assert names >= set(promised.split())


def test_it_loads_neither_django_nor_the_network():
    code = (
        "import sys, scheduling.optimizer, scheduling.humantime, scheduling.recurrence;"
        "print([m for m in ('django', 'celery', 'httpx2', 'urllib3', 'ortools') if m in sys.modules])"
    )
    root = Path(__file__).resolve().parents[2]
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True, cwd=root)
    assert ran.stdout.strip() == "[]"
