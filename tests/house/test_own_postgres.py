"""Where no PostgreSQL can be had, the tests go on without one."""

import os
import shutil
from pathlib import Path

import pytest

from scripts import test_postgres


@pytest.fixture
def refusing(monkeypatch, tmp_path):
    """PostgreSQL is installed, none runs, and whatever is called of it fails, with words of its own."""
    for name in ("initdb", "pg_ctl"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\necho 'made by another version' >&2\nexit 1\n")
        program.chmod(0o700)
    monkeypatch.setattr(Path, "glob", lambda *_: [])
    monkeypatch.setattr(shutil, "which", lambda _: str(tmp_path / "initdb"))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(test_postgres, "_running", list)
    monkeypatch.setattr(test_postgres, "DATA", tmp_path / "data")
    monkeypatch.delenv("TEST_DATABASE_URL", raising=False)
    return tmp_path / "data"


@pytest.mark.parametrize("is_made", [True, False])
def test_a_postgres_that_does_not_start_is_said_and_none_is_named(refusing, capfd, is_made):
    refusing.mkdir()
    if is_made:
        (refusing / "PG_VERSION").write_text("9\n")
    test_postgres.main()
    said = capfd.readouterr()
    assert said.out == ""
    assert "made by another version" in said.err
    assert f"remove {refusing}" in said.err
