"""No file and no function is too long to be read at once."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILE_LINES = 400
FUNCTION_LINES = 60
NOT_OURS_TO_SIZE = {"migrations", "build"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def source_files() -> list[Path]:
    folders = [path for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")]
    files = [*ROOT.glob("*.py"), *(file for folder in folders for file in folder.rglob("*.py"))]
    return [file for file in files if NOT_OURS_TO_SIZE.isdisjoint(file.relative_to(ROOT).parts)]


def too_long(text: str) -> list[str]:
    """What of a file's text passes its limit, with its length in lines."""
    length = len(text.splitlines())
    whole = [f"the file: {length}"] if length > FILE_LINES else []
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, FUNCTIONS)]
    lengths = [(node.name, node.end_lineno - node.lineno + 1) for node in functions]
    return whole + [f"{name}: {lines}" for name, lines in lengths if lines > FUNCTION_LINES]


@pytest.mark.campaign  # it parses the whole of the source
def test_every_file_and_every_function_can_be_read_at_once():
    files = source_files()
    assert {"manage.py", "test_sizes.py", "models.py", "energy.py"} <= {file.name for file in files}
    long = {str(file.relative_to(ROOT)): too_long(file.read_text(encoding="utf-8")) for file in files}
    assert {name: found for name, found in long.items() if found} == {}


def test_what_passes_a_limit_by_one_line_is_named():
    def work(lines: int) -> str:
        return "async def work():\n" + "    pass\n" * (lines - 1)

    assert too_long(work(FUNCTION_LINES) + "\n" * (FILE_LINES - FUNCTION_LINES)) == []
    assert too_long(work(FUNCTION_LINES + 1)) == [f"work: {FUNCTION_LINES + 1}"]
    assert too_long("\n" * (FILE_LINES + 1)) == [f"the file: {FILE_LINES + 1}"]
