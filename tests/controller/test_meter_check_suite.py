"""The conformance suite: our own meter passes all of it, and a broken one fails where it is broken."""

import json
import sys
import time

import pytest
from asyncenergy_controller.cli import app
from asyncenergy_controller.meter_check import CASES, CaseResult, Report, check_case, check_meter, load_factory
from asyncenergy_controller.meter_check import virtual_time as virtual
from typer.testing import CliRunner

from . import broken_meters

BY_NAME = {case.name: case for case in CASES}
NAMES = list(BY_NAME)
WITHOUT_COUNTER = {"unsupported_counter", "gap", "nan"}


def run(*arguments):
    return CliRunner().invoke(app, ["meter-check", *arguments])


def test_our_meter_passes_every_case_well_within_twenty_seconds():
    begun_s = time.perf_counter()
    result = run("--json")
    assert time.perf_counter() - begun_s < 20
    report = json.loads(result.stdout)
    assert result.exit_code == 0
    assert list(report) == ["meter", "cases", "passed", "failed"]
    assert (report["meter"], report["passed"], report["failed"]) == ("ours", 14, 0)
    assert [list(case) for case in report["cases"]] == [["name", "result", "expected_j", "measured_j"]] * 14
    assert {case["result"] for case in report["cases"]} == {"pass"}
    measured = {case["name"]: case["measured_j"] for case in report["cases"]}
    assert measured["unit_slip"] == pytest.approx(16_800, abs=56)
    assert measured["wrap"] == pytest.approx(90_000, abs=120)
    assert measured["gap"] is None


def test_the_cases_are_those_that_are_promised():
    assert " ".join(NAMES) == (
        "flat step pulse staircase counter_reset late_first_reading unsupported_counter gap sleep nan unit_slip "
        "two_windows long_window wrap"
    )


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_energy_of_each_window_is_the_integral_of_its_load(case):
    for window in case.windows:
        assert window.integral_j() == pytest.approx(window.joules)
        assert window.tolerance_j < 0.04 * window.joules


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("meter", "fails"),
    [
        (broken_meters.Counter, {"counter_reset", "late_first_reading", *WITHOUT_COUNTER}),
        (broken_meters.Polling, {"gap", "sleep", "nan"}),
        (broken_meters.ClippedBuffer, {"unsupported_counter", "sleep", "nan", "unit_slip", "long_window", "gap"}),
    ],
)
def test_a_broken_meter_fails_where_it_is_broken_and_nowhere_else(meter, fails):
    names = [name for name in NAMES if name not in {"step", "pulse", "staircase"} or meter is broken_meters.Polling]
    report = check_meter("broken", meter, cases=[BY_NAME[name] for name in names])
    assert {result.case.name for result in report.cases if result.result == "fail"} == fails
    assert [result.case.name for result in report.cases if result.result == "skip"] == ["wrap"]
    assert report.passed + report.failed == len(names) - 1
    assert not report.conforms


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("meter", "fails"),
    [
        (broken_meters.Zero, {"flat", "counter_reset", "gap", "two_windows"}),
        (broken_meters.Lifetime, {"flat", "counter_reset", "gap", "two_windows"}),
        (broken_meters.Millijoules, {"flat", "counter_reset", "gap", "two_windows"}),
        (broken_meters.Nothing, {"flat", "two_windows"}),
        (broken_meters.OneShot, {"counter_reset", "gap", "two_windows"}),
        (broken_meters.Absolute, {"counter_reset", "gap"}),
    ],
)
def test_a_constant_a_lifetime_a_wrong_unit_and_silence_pass_nowhere_that_they_should_not(meter, fails):
    names = ("flat", "counter_reset", "gap", "two_windows")
    report = check_meter("broken", meter, cases=[BY_NAME[name] for name in names])
    assert {result.case.name for result in report.cases if result.result == "fail"} == fails


@pytest.mark.parametrize(
    ("meter", "case", "joules"),
    [
        (broken_meters.Zero, "unsupported_counter", 0),
        (broken_meters.Lifetime, "flat", 5_001_000),
        (broken_meters.NoBaseline, "late_first_reading", 5_002_000),
        (broken_meters.Absolute, "counter_reset", 4_998_000),
        (broken_meters.Millijoules, "unit_slip", 16_800_000),
        (broken_meters.Deduplicating, "flat", 0),
        (broken_meters.Polling, "sleep", 64_000),
        (broken_meters.Polling, "gap", 6_000),
        (broken_meters.ClippedBuffer, "long_window", 9_000),
        (broken_meters.Package, "wrap", -41_065),
        (broken_meters.UnwrappedAtTheEnd, "wrap", 24_467),
        (broken_meters.WithCores, "wrap", 144_000),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else str(value),
)
def test_what_a_broken_meter_says_is_told_beside_the_truth(meter, case, joules):
    result = check_case(BY_NAME[case], meter)
    assert result.result == "fail"
    assert result.measured_j == pytest.approx(joules, rel=0.02, abs=1)
    assert " J" in result.note


def test_a_second_window_that_is_lost_fails_the_case():
    result = check_case(BY_NAME["two_windows"], broken_meters.OneShot)
    assert result.measured_j == pytest.approx(1000, rel=0.01)
    assert result.note == "gave 0 J for 2000 J"


def test_an_exception_is_a_fault_and_is_told():
    result = check_case(BY_NAME["late_first_reading"], broken_meters.Counter)
    assert (result.result, result.measured_j) == ("fail", None)
    assert result.note == "raised NVMLError_Unknown: Unknown Error"


def test_a_meter_that_ends_the_program_does_not_end_the_check():
    class Quitter(broken_meters.Zero):
        def stop(self):
            raise SystemExit(0)

    result = check_case(BY_NAME["flat"], Quitter)
    assert (result.result, result.note) == ("fail", "raised SystemExit: 0")


def test_not_a_number_is_no_energy_and_no_json():
    class NotANumber(broken_meters.Zero):
        def stop(self):
            return float("nan")

    result = check_case(BY_NAME["flat"], NotANumber)
    assert (result.result, result.measured_j, result.note) == ("fail", None, "gave nan J for 1000 J")


def test_a_meter_that_waits_for_ever_is_a_fault():
    result = check_case(BY_NAME["flat"], broken_meters.Deadlocked)
    assert result.result == "fail"
    assert "stuck" in result.note


def test_a_thread_that_never_waits_is_a_fault(monkeypatch):
    monkeypatch.setattr(virtual, "STUCK_AFTER_S", 0.2)
    result = check_case(BY_NAME["flat"], broken_meters.Spinning)
    assert result.result == "fail"
    assert "neither end nor wait" in result.note


def test_a_meter_is_closed_even_where_it_fails():
    closed = []

    class Closing(broken_meters.Counter):
        def close(self):
            closed.append(True)

    check_case(BY_NAME["unsupported_counter"], Closing)
    assert closed == [True]


def test_a_report_without_any_measurement_conforms_to_nothing():
    skipped = Report("none", tuple(CaseResult(case, "skip", None, "another device") for case in CASES))
    assert (skipped.passed, skipped.failed, skipped.conforms) == (0, 0, False)


def test_a_failing_meter_ends_the_command_with_1_and_says_why():
    result = run("--meter", "tests.controller.broken_meters:Package", "--case", "flat", "--case", "wrap", "--json")
    report = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (report["passed"], report["failed"]) == (0, 1)
    assert [(case["name"], case["result"]) for case in report["cases"]] == [("flat", "skip"), ("wrap", "fail")]
    assert [case["measured_j"] for case in report["cases"]] == [None, pytest.approx(-41_065, rel=0.01)]


def test_several_meters_stand_side_by_side():
    meters = ("tests.controller.broken_meters:Counter", "tests.controller.broken_meters:Zero")
    result = run("--meter", meters[0], "--meter", meters[1], "--case", "flat", "--case", "gap")
    assert result.exit_code == 1
    assert "1 of 2" in result.stdout
    assert "0 of 2" in result.stdout
    assert "Zero, flat (100 W for 10 s): gave 0 J for 1000 J" in result.stderr


def test_a_command_that_could_run_no_case_does_not_end_well():
    result = run("--meter", "tests.controller.broken_meters:Package", "--case", "flat")
    assert result.exit_code == 1
    assert "it knows CPUs only" in result.stderr


def test_a_case_that_is_not_there_is_wrong_usage():
    result = run("--case", "flta")
    assert result.exit_code == 2
    assert "there is no case 'flta'" in result.stderr


@pytest.fixture
def meters_that_do_not_load(tmp_path, monkeypatch):
    (tmp_path / "meter_without_its_library.py").write_text("raise OSError('no such library')")
    (tmp_path / "meter_with_a_slip.py").write_text("def meter(:")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize(
    ("meter", "says"),
    [
        ("scaphandre", "choose ours, zeus, codecarbon"),
        ("no.such.module:Meter", "there is no module no"),
        ("tests.controller.broken_meters:Missing", "Missing"),
        ("tests.controller.broken_meters:NOT_CALLABLE", "must be a function or class"),
        (":Meter", "choose ours, zeus, codecarbon"),
        (".relative:Meter", "choose ours, zeus, codecarbon"),
        ("meter_without_its_library:Meter", "OSError: no such library"),
        ("meter_with_a_slip:Meter", "SyntaxError"),
    ],
)
@pytest.mark.usefixtures("meters_that_do_not_load")
def test_a_meter_that_cannot_be_loaded_is_wrong_usage(meter, says):
    result = run("--meter", meter)
    assert result.exit_code == 2
    assert says in " ".join(result.stderr.split())


def test_json_reports_one_meter():
    result = run("--meter", "ours", "--meter", "zeus", "--json")
    assert result.exit_code == 2
    assert "one meter" in result.stderr


@pytest.mark.parametrize("meter", ["zeus", "codecarbon"])
def test_a_shipped_meter_says_what_to_install(meter, monkeypatch):
    monkeypatch.setitem(sys.modules, meter, None)
    result = run("--meter", meter)
    assert result.exit_code == 2
    assert f"pip install 'asyncenergy-controller[{meter}]'" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("meter", "fails"),
    [("zeus", {"counter_reset", "late_first_reading", *WITHOUT_COUNTER}), ("codecarbon", {"gap", "nan"})],
)
@pytest.mark.filterwarnings("ignore")
def test_other_packages_measure_through_their_own_code(meter, fails):
    pytest.importorskip(meter, reason=f"pip install 'asyncenergy-controller[{meter}]' compares with it")
    report = check_meter(meter, load_factory(meter))
    assert {result.case.name for result in report.cases if result.result == "fail"} == fails
