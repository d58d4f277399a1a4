"""The certificate: a bound that strangers can check, with the documented lines and without a solver."""

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from scheduling.optimizer import Mode, Plan, plan
from tests.scheduling.planning import NOON, job, minute, prices, sound_plan

DOCS = Path(__file__).resolve().parents[2] / "docs" / "certificate.md"
REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "certificate_check.py"


def documented() -> str:
    (code,) = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    return str(code)


def check_of(source: str) -> Callable[[Any], float]:
    scope: dict[str, Any] = {"__name__": "checker"}
    exec(compile(source, "checker", "exec"), scope)
    checker: Callable[[Any], float] = scope["check"]
    return checker


@pytest.fixture(scope="module")
def checkers() -> list[Callable[[Any], float]]:
    """The documented check, and the reference where it lies beside this checkout."""
    found = [documented(), *([REFERENCE.read_text()] if REFERENCE.is_file() else [])]
    return [check_of(source) for source in found]


def accepted(made: Plan, checkers: list[Callable[[Any], float]]) -> None:
    """The file survives a round trip through JSON, and every checker finds its bound."""
    certificate = json.loads(json.dumps(made.certificate, allow_nan=False))
    for check in checkers:
        assert check(certificate) == pytest.approx(certificate["lower_bound"], abs=1e-9)
    assert certificate["lower_bound"] <= certificate["cost"] + 1e-9
    assert made.lower_bound == pytest.approx(certificate["lower_bound"] + certificate["carried_cost"], abs=1e-12)
    assert made.cost == pytest.approx(certificate["cost"] + certificate["carried_cost"], abs=1e-12)


def random_question(seed: int) -> tuple[Any, Any, dict[str, Any]]:
    draw = random.Random(seed)
    unit = draw.choice([15, 5, 1, 1 / 60])
    machines = draw.choice([("",), ("a", "b"), ("a", "b", "")])
    points = prices([None if draw.random() < 0.05 else draw.gauss(0.08, 0.08) for _ in range(12)], 60)
    jobs = []
    for n in range(draw.randrange(1, 6)):
        length, opens = unit * draw.randrange(1, round(150 / unit)), unit * draw.randrange(0, round(200 / unit))
        closes = opens + length + unit * draw.randrange(0, round(400 / unit))
        more: dict[str, Any] = {"machine": draw.choice(machines), "priority": draw.choice([0, 0, 1])}
        watts: Any = float(draw.randrange(100, 500))
        kind = draw.randrange(4)
        if kind == 0:
            more |= {"interruptible": True, "min_run_s": draw.choice([0, 600]), "restart_wh": draw.choice([0.0, 10.0])}
        elif kind == 1:
            watts = ((length * 20, watts), (length * 30, draw.randrange(50, 400)))
        elif kind == 2:
            more["modes"] = (Mode(length * 75, watts * 0.7, "cap"),)
        jobs.append(job(f"j{n}", length, opens, closes, watts, **more))
    limits = {"capacity": draw.choice([1, 2, {"a": 2}]), "watt_limit": draw.choice([None, 700.0])}
    return points, jobs, limits


@pytest.mark.parametrize("seed", range(16))
def test_every_checker_accepts_the_certificate(seed, checkers):
    points, jobs, limits = random_question(seed)
    accepted(sound_plan(points, jobs, **limits), checkers)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16, 1016))
def test_every_checker_accepts_the_certificate_a_thousand_times(seed, checkers):
    points, jobs, limits = random_question(seed)
    accepted(sound_plan(points, jobs, **limits), checkers)


def test_pinned_runs_are_in_the_certificate_or_carried_beside_it(checkers):
    points, work = prices([0.3, 0.1, 0.2, 0.4, 0.2]), [job("a", 90, 0, 300), job("b", 60, 0, 300)]
    running = sound_plan(points, work[:1]).placements
    known = plan(points, work, now=minute(90), pinned=running)
    assert known.certificate["carried_cost"] == 0
    accepted(known, checkers)
    partly_gone = plan(points[2:], work, now=minute(120), pinned=running)
    assert partly_gone.certificate["carried_cost"] == pytest.approx(0.1)
    accepted(partly_gone, checkers)


def test_a_mode_too_long_for_the_window_is_not_in_the_certificate(checkers):
    slow = Mode(7200, 100.0, "cap")
    made = sound_plan(prices([0.3, 0.05, 0.2]), [job("a", 60, 0, 110, 300.0, modes=(slow,)), job("b", 60, 0, 180)])
    assert [len(one["modes"]) for one in made.certificate["jobs"]] == [1, 1]
    accepted(made, checkers)


def test_two_jobs_and_one_cheap_hour_are_proved_to_the_last_cent(checkers):
    made = sound_plan(prices([0.3, 0.05, 0.2, 0.4, 0.4]), [job(n, 45, 0, 300, 400.0) for n in ("a", "b")])
    assert made.gap == pytest.approx(0, abs=1e-9)
    accepted(made, checkers)


def test_a_wrong_certificate_is_refused(checkers):
    made = sound_plan(prices([0.3, 0.05, 0.2]), [job(n, 45, 0, 180, 400.0) for n in ("a", "b")])
    forged = json.loads(json.dumps(made.certificate))
    forged["machine_rows"][""]["lambda_per_h"][0] = -0.1
    for check in checkers:
        with pytest.raises(AssertionError):
            check(forged)
    dearer = json.loads(json.dumps(made.certificate))
    dearer["jobs"][0]["profile"][0][0] = dearer["jobs"][0]["modes"][0][0][0] = 3600
    assert all(check(dearer) > made.lower_bound + 1e-6 for check in checkers)


def test_the_digest_is_over_edges_and_prices():
    made = sound_plan(prices([0.3, -0.05]), [job("a", 45)])
    assert made.certificate["prices_sha256"] == sha256(b"0 0.300000000\n3600 -0.050000000\n").hexdigest()


def test_the_documented_check_runs_as_a_program(tmp_path):
    made = plan(prices([0.3, 0.05, 0.2]), [job("a", 45, 0, 180, 400.0)], now=NOON)
    script, file = tmp_path / "check.py", tmp_path / "certificate.json"
    script.write_text(documented())
    file.write_text(json.dumps(made.certificate))
    ran = subprocess.run(
        [sys.executable, str(script), str(file)], capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stdout.startswith("no plan costs less than 0.015000; this one costs 0.015000")
