"""Small documents that know when they were damaged: a checksum on the first line, then JSON."""

from __future__ import annotations

import json
from typing import Any

from crc32c import crc32c


def seal(document: object) -> bytes:
    """Give the bytes of a document, checksum included."""
    body = json.dumps(document, separators=(",", ":")).encode()
    return f"{crc32c(body):08x}\n".encode() + body


def unseal(data: bytes) -> Any | None:  # noqa: ANN401 - JSON is whatever was sealed
    """Read a document back; None where it is torn or a bit of it flipped."""
    checksum, _, body = data.partition(b"\n")
    if checksum != f"{crc32c(body):08x}".encode():
        return None
    return json.loads(body)
