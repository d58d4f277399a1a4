"""The one base of the errors that a caller may read."""

from collections.abc import Sequence
from typing import Any, ClassVar


class AsyncEnergyError(Exception):
    """Something a caller can understand and act on.

    `detail` is one sentence for people, `code` stays stable for programs, `errors` names each
    offending place as ``{"attr", "code", "detail"}``.
    """

    status_code: ClassVar[int] = 400

    def __init__(self, detail: str, *, code: str, errors: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code
        self.errors = list(errors)
