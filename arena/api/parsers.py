"""The parser of JSON bodies, which must be small objects."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from arena.errors import TooLarge

MAX_BYTES = 64 * 1024


class SmallJSONParser(JSONParser):
    """Refuses a body of more than MAX_BYTES before it is parsed, and JSON that is not an object."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        raw = stream.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise TooLarge(f"A body may have at most {MAX_BYTES} bytes.")
        try:
            data = super().parse(BytesIO(raw), media_type, parser_context)
        except RecursionError:
            raise ParseError("The body is nested too deeply.") from None
        if not isinstance(data, dict):
            raise ParseError("The body must be a JSON object.")
        return data
