"""`meter-check`: the conformance suite of meters."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column, Table

from asyncenergy_controller.cli.console import say, show, show_json
from asyncenergy_controller.cli.options import Json
from asyncenergy_controller.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from asyncenergy_controller.meter_check import Case, CaseResult, Report

MeterNames = Annotated[
    list[str] | None,
    typer.Option(
        "--meter",
        help="ours, zeus, codecarbon, or module:factory from the path or this directory. Repeat it to compare.",
        show_default="ours",
    ),
]
CaseNames = Annotated[
    list[str] | None, typer.Option("--case", help="Run this case alone; repeat it for several.", show_default="all")
]


def meter_check(meter: MeterNames = None, case: CaseNames = None, json: Json = False) -> None:
    """Check a meter against loads whose energy is known, on a machine and a clock that are simulated.

    Nothing of this machine is measured or touched. Exit codes: 0 no case failed, 1 a case failed or none could be run,
    2 there is no such meter or its package is not installed.
    """
    from asyncenergy_controller.meter_check import CASES, check_meter, load_factory  # loads pynvml

    names = meter or ["ours"]
    if json and len(names) > 1:
        raise UsageError(f"--json reports one meter, but {len(names)} were given: run it once for each")
    cases = _chosen(case, {case.name: case for case in CASES})
    with redirect_stdout(sys.stderr):  # what a meter prints is talk
        factories = [(name, load_factory(name)) for name in names]
        reports = [check_meter(name, factory, cases=cases) for name, factory in factories]
    if json:
        show_json(reports[0].as_dict())
    else:
        _show(reports)
    if not all(report.conforms for report in reports):
        raise typer.Exit(ExitCode.FAILED)


def _chosen(names: Sequence[str] | None, known: "Mapping[str, Case]") -> "Sequence[Case]":
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise UsageError(f"there is no case {unknown[0]!r}: choose {', '.join(known)}")
    return [known[name] for name in names or known]


def _show(reports: "Sequence[Report]") -> None:
    meters = [Column(report.meter, overflow="fold") for report in reports]
    table = Table(Column("case", no_wrap=True), Column("energy J", justify="right", no_wrap=True), *meters)
    for results in zip(*(report.cases for report in reports), strict=True):
        case = results[0].case
        table.add_row(case.name, _joules(case.expected_j), *map(_cell, results))
    table.add_section()
    table.add_row("passed", "", *(f"{report.passed} of {len(report.cases)}" for report in reports))
    show(table)
    for report in reports:
        _explain(report)


def _explain(report: "Report") -> None:
    for result in report.cases:
        if result.note:
            say(f"{report.meter}, {result.case.name} ({result.case.about}): {result.note}")


def _cell(result: "CaseResult") -> str:
    return result.result if result.result == "skip" else f"{result.result} {_joules(result.measured_j)}"


def _joules(value: float | None) -> str:
    return "none" if value is None else f"{value:,.1f}"
