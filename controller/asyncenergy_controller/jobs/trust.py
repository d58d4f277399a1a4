"""Whose file this is: what others could write is not read, as ssh does it."""

import os
import stat
from pathlib import Path

from asyncenergy_controller.errors import ControllerError, ExitCode

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
OTHERS_READ = stat.S_IRGRP | stat.S_IROTH


class CatalogError(ControllerError):
    """jobs.json can't be used as it is; the message names the place and the way out."""

    exit_code = ExitCode.USAGE


def check_file(path: Path, found: os.stat_result) -> None:
    """Raise CatalogError unless it is this user's and nobody else can change it."""
    _check(path, found, found.st_mode & OTHERS_WRITE)


def check_folders(path: Path) -> None:
    """Raise CatalogError where somebody else could put another file in its place."""
    for folder in {*path.absolute().parents, *path.resolve().parents}:
        found = folder.stat()
        sticky = found.st_mode & stat.S_ISVTX  # there only its owner moves a file
        _check(folder, found, 0 if sticky else found.st_mode & OTHERS_WRITE)


def _check(path: Path, found: os.stat_result, writable: int) -> None:
    if found.st_uid not in (0, os.geteuid()):
        raise CatalogError(
            f"{path} belongs to another user (uid {found.st_uid}), who could choose what runs here. It is not read; "
            f"make it yours: chown {os.geteuid()} {path}"
        )
    if writable:
        raise CatalogError(
            f"{path} can be written by others (mode {stat.S_IMODE(found.st_mode):04o}), who could choose what runs "
            f"here. It is not read; take that away: chmod go-w {path}"
        )
