"""Types of single fields, shared by all bundle versions."""

import re
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

_NAME = re.compile(r"[A-Za-z0-9 ._:/+@()-]{1,120}")


def _identity_name(value: str) -> str:
    if not _NAME.fullmatch(value) or value[0] in "=+-@":
        raise ValueError("a name has 1 to 120 of A-Z a-z 0-9 space . _ : / + @ ( ) - and starts with none of = + - @")
    return value


def _instant(value: str) -> str:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise ValueError("an ISO-8601 time is needed, for example 2026-08-20T09:00:00+00:00") from error
    if moment.tzinfo is None:
        raise ValueError("a time needs its offset, for example 2026-08-20T09:00:00+00:00")
    return value


Name = Annotated[str, AfterValidator(_identity_name)]
Instant = Annotated[str, AfterValidator(_instant), Field(max_length=40)]
Word = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9._:+-]+$")]
NodeHash = Annotated[str, Field(min_length=8, max_length=128, pattern=r"^[A-Za-z0-9._:-]+$")]
Tier = Literal["A", "B", "C"]
TaskShape = Literal["prefill", "decode", "mixed"]
