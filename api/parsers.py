"""Reads JSON bodies with the same strictness as the controller writes them."""

from collections.abc import Mapping
from typing import IO, Any

from asyncenergy_controller.wire import WireError, check_json_bytes
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser


class StrictJSONParser(BaseParser):
    """Refuses NaN, Infinity, 1e999, NUL, repeated keys and nesting over 12 levels with a sentence each."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        try:
            return check_json_bytes(stream.read())
        except WireError as error:
            raise ParseError(error.detail, error.code) from error
