"""Writes api/openapi.yaml from the code, or checks that the file there is what the code gives."""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKED_IN = ROOT / "api" / "openapi.yaml"


def generated() -> str:
    command = [sys.executable, "manage.py", "spectacular", "--validate", "--fail-on-warn"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=120).stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    schema = generated()
    if not parser.parse_args().check:
        CHECKED_IN.write_text(schema)
        return 0
    if CHECKED_IN.read_text() == schema:
        return 0
    print("api/openapi.yaml is not what the code gives: run `make schema` and look at the difference.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
