"""The privacy net: nothing that names a person's machine leaves it, and nothing such is taken in."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from asyncenergy_controller.wire.errors import WireError

_PRIVATE_KEY = re.compile(r"uuid|serial|hostname|entity_id", re.IGNORECASE)
_MAC_AS_A_WORD = re.compile(r"(?<![A-Za-z])(?:mac|Mac|MAC)(?![a-z])")
_PRIVATE_PATH = re.compile(r"/home/|/Users/|/root|:\\|^/")
_HARMLESS = {int, float, bool, type(None)}


class PrivacyFinding(NamedTuple):
    """`path` is dotted (``nodes.0.serial``); `code` is ``private_key`` or ``private_path``."""

    path: str
    code: str
    detail: str


def find_private(value: Any) -> PrivacyFinding | None:
    """Return the first private key or value, or None."""
    return next(_findings(value, ""), None)


def refuse_private(value: Any) -> None:
    """Raise WireError for the first private key or value."""
    if finding := find_private(value):
        place = {"attr": finding.path, "code": finding.code, "detail": finding.detail}
        raise WireError(finding.code, finding.detail, [place])  # type: ignore[list-item]  # the literal is a Place


def _findings(value: Any, path: str) -> Iterator[PrivacyFinding]:
    if isinstance(value, dict):
        for key, inner in value.items():
            here = f"{path}.{key}" if path else str(key)
            if _is_private_key(str(key)):
                yield PrivacyFinding(here, "private_key", f"The key {here} could name a machine; leave it out.")
            yield from _findings(inner, here)
    elif isinstance(value, list):
        if not set(map(type, value)) <= _HARMLESS:  # columns of numbers are passed over at C speed
            for i, inner in enumerate(value):
                yield from _findings(inner, f"{path}.{i}" if path else str(i))
    elif isinstance(value, str) and _PRIVATE_PATH.search(value):
        yield PrivacyFinding(
            path, "private_path", f"The value at {path or 'the top'} looks like a path on a machine; send a bare name."
        )


def _is_private_key(key: str) -> bool:
    return bool(_PRIVATE_KEY.search(key) or _MAC_AS_A_WORD.search(key))
