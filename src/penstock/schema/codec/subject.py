"""Which subject a topic's schemas are found under where nobody named one."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from penstock.schema.codec.format import Format

Part: TypeAlias = Literal["key", "value"]

_REGISTERED = ("avro", "json_schema", "protobuf")
"""Formats whose values are written with a schema, found by its id."""
_BY_ID = "datum"


def with_subject(format: Format, topic: str, part: Part = "value") -> Format:  # noqa: A002  # our word for it
    """Give a format the subject of its topic, if it asks for one and none is named."""
    alone = format.subject is None and format.written is None
    # Values that carry their schema, or its fingerprint, do without a registry.
    asks = format.name in _REGISTERED and format.option("encoding", _BY_ID) == _BY_ID
    if not alone or not asks:
        return format
    return replace(format, subject=f"{topic}-{part}")
