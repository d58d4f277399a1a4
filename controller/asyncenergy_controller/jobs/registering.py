"""Add a job to jobs.json as its owner would: at the end, with everything else left as it is."""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.files import PRIVATE_FILE, lock, make_folders, write_atomically
from asyncenergy_controller.jobs.catalog import parse_catalog, read_catalog
from asyncenergy_controller.jobs.text import decode, plain_json, without_comments
from asyncenergy_controller.jobs.trust import check_folders

Entry = Mapping[str, Any]
PRIVATE_FOLDER = 0o700
NEW_FILE = """// What this machine runs, and nothing else does it run: workflow id -> job.
// Comments like this one, and keys that begin with _, are yours and stay.
{
}
"""


def with_entry(text: str, workflow_id: str, entry: Entry) -> str:
    """Return the text with one more job before the last bracket. Pure; `text` is a catalog that can be read."""
    end_line = "\r\n" if "\r\n" in text else "\n"
    close = plain_json(text).rindex("}")
    last = len(plain_json(text)[:close].rstrip())
    head, between = text[:last], text[last:close]
    if not head.endswith("{") and "," not in without_comments(text)[last:close]:
        head += ","
    job = json.dumps({workflow_id: entry}, indent=2, ensure_ascii=False, allow_nan=False)[2:-2]
    between = between.rstrip(" \t")
    gap = "" if between.endswith("\n") else end_line
    return f"{head}{between}{gap}{job.replace(chr(10), end_line)}{end_line}{text[close:]}"


def add_entry(path: Path, workflow_id: str, entry: Entry) -> None:
    """Write the job into the file, whole or not at all; a file that isn't there is made, for its owner alone.

    Raises CatalogError where the file can't be used, and UsageError where the id stands there with another job.
    """
    make_folders(path.parent, PRIVATE_FOLDER)
    check_folders(path)
    held = lock(path.with_name(f".{path.name}.lock"))
    if held is None:
        raise UsageError(f"{path} is being written by another `register`; try again.")
    with held:
        text, mode = _text_and_mode(path)
        known = decode(text).get(workflow_id)
        if known == entry:
            return
        if known is not None:
            raise UsageError(f"{path} holds another job for {workflow_id} already; change it there.")
        _put(path.resolve(), with_entry(text, workflow_id, entry).encode(), mode)


def _text_and_mode(path: Path) -> tuple[str, int]:
    if not path.exists() and not path.is_symlink():
        return NEW_FILE, PRIVATE_FILE
    raw, mode = read_catalog(path)
    parse_catalog(path, raw, mode)
    return raw.decode("utf-8-sig"), mode


def _put(path: Path, raw: bytes, mode: int) -> None:
    """Only what can be read again is written, and it is on the disk for good afterwards."""
    parse_catalog(path, raw, mode)
    write_atomically(path, raw, mode=stat.S_IMODE(mode))
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
