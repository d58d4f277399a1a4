"""The one error of the wire: what is wrong with a body, and where."""

from collections.abc import Sequence
from typing import TypedDict


class Place(TypedDict):
    """One offending place: a dotted path, a stable code, a sentence."""

    attr: str
    code: str
    detail: str


class WireError(ValueError):
    """A body that can't be taken. `code` is stable, `detail` is a sentence, `errors` name the places."""

    def __init__(self, code: str, detail: str, errors: Sequence[Place] = ()) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.errors = list(errors)
