"""Logical types: which of them suit a type, as the specification says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeGuard

from penstock.schema.avro.nodes import Logical

_OF_PRIMITIVE: Mapping[str, str] = {
    "date": "int",
    "time-millis": "int",
    "time-micros": "long",
    "timestamp-millis": "long",
    "timestamp-micros": "long",
    "timestamp-nanos": "long",
    "local-timestamp-millis": "long",
    "local-timestamp-micros": "long",
    "local-timestamp-nanos": "long",
    "uuid": "string",
}
_OF_FIXED: Mapping[str, int] = {"duration": 12, "uuid": 16}


def logical_of_primitive(name: str, properties: Mapping[str, Any]) -> Logical | None:
    """Give the logical type of a primitive one; none where it does not suit."""
    said = properties.get("logicalType")
    if said == "decimal" and name == "bytes":
        return _decimal(properties, math.inf)
    return Logical(str(said)) if _OF_PRIMITIVE.get(str(said)) == name else None


def logical_of_fixed(size: int, properties: Mapping[str, Any]) -> Logical | None:
    """Give the logical type of so many bytes; none where it does not suit."""
    said = properties.get("logicalType")
    if said == "decimal":
        return _decimal(properties, digits_of(size))
    return Logical(str(said)) if _OF_FIXED.get(str(said)) == size else None


def digits_of(size: int) -> int:
    """Give how many decimal digits always fit into so many bytes."""
    return math.floor(math.log10(2) * (8 * size - 1)) if size > 0 else 0


def whole(value: object) -> TypeGuard[int]:
    """Whether JSON says a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def _decimal(properties: Mapping[str, Any], digits: float) -> Logical | None:
    precision, scale = properties.get("precision"), properties.get("scale", 0)
    if not whole(precision) or not whole(scale):
        return None
    if not 0 < precision <= digits or not 0 <= scale <= precision:
        return None
    return Logical("decimal", precision, scale)
