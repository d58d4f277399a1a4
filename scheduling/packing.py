"""Long JSON values as they are kept in the database."""

import json
import zlib
from typing import Any


def packed(data: Any) -> bytes:
    return zlib.compress(json.dumps(data, separators=(",", ":")).encode())


def unpacked(data: bytes | memoryview) -> Any:
    return json.loads(zlib.decompress(data)) if data else {}
