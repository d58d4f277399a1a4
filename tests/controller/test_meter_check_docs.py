"""What docs/meter-check.md says is so."""

import re
from pathlib import Path

import pytest
from asyncenergy_controller.meter_check import CASES, check_meter

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "meter-check.md").read_text()
CELLS = re.compile(r"^\| `(\w+)` \|(.*)\|$", re.MULTILINE)


def test_both_tables_name_every_case_in_its_order():
    names = [case.name for case in CASES]
    assert [name for name, _ in CELLS.findall(PAGE)] == names * 2


def test_the_table_of_results_adds_up():
    rows = [cells.split("|") for _, cells in CELLS.findall(PAGE)][len(CASES) :]
    totals = re.search(r"^\| \*\*passed\*\* \|(.*)\|$", PAGE, re.MULTILINE)
    assert totals is not None
    for column, total in enumerate(totals[1].split("|")[1:], start=1):
        passed = sum(row[column].strip().startswith("pass ") for row in rows)
        assert total.strip() == f"**{passed} of {len(rows)}**"
    for case, row in zip(CASES, rows, strict=True):
        assert row[0].strip() == ("none" if case.expected_j is None else f"{case.expected_j:,.0f}")


def test_the_meter_of_the_example_measures():
    example = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert example is not None
    names = {}
    exec(example[1], names)
    report = check_meter("example", names["Meter"], cases=[case for case in CASES if case.name in {"flat", "wrap"}])
    assert [result.result for result in report.cases] == ["pass", "skip"]
    assert report.cases[0].measured_j == pytest.approx(1000, abs=20)
