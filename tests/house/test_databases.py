"""Tests that commit leave a database that the next test can use."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
COMMITS = re.compile(r"django_db\(transaction=True(?P<more>[^)]*)\)")


def test_tests_that_commit_all_restore_what_migrations_made():
    """One that doesn't makes content types anew, and the next one that restores them finds them there."""
    files = [file for file in TESTS.rglob("test_*.py") if "browser" not in file.parts]
    marks = {file.name: COMMITS.findall(file.read_text()) for file in files if file != Path(__file__)}
    assert sum(map(len, marks.values())) > 3
    assert [
        name for name, found in marks.items() if any("serialized_rollback=True" not in more for more in found)
    ] == []
