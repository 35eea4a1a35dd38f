"""A single value as Kafka's own serializers write it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

from penstock.schema.types import Kind, Type

_LAYOUTS: Mapping[Kind, str] = {Kind.INT32: ">i", Kind.INT64: ">q", Kind.FLOAT64: ">d"}
KAFKA_KINDS = (*_LAYOUTS, Kind.STRING, Kind.BYTES)
"""The types that the format has."""


def read_kafka(content: bytes, type_: Type) -> Any:  # noqa: ANN401
    """Give the value of bytes; those of another length are refused."""
    layout = _LAYOUTS.get(type_.kind)
    if layout is None:
        return content.decode() if type_.kind is Kind.STRING else content
    if len(content) != struct.calcsize(layout):
        raise ValueError(f"{len(content)} bytes, where {struct.calcsize(layout)} are expected")
    return struct.unpack(layout, content)[0]


def write_kafka(value: Any, type_: Type) -> bytes | None:  # noqa: ANN401
    """Give the bytes of a value; null has none."""
    if value is None:
        return None
    layout = _LAYOUTS.get(type_.kind)
    if layout is not None:
        return struct.pack(layout, value)
    write: Callable[[Any], bytes] = str.encode if type_.kind is Kind.STRING else bytes
    return write(value)
