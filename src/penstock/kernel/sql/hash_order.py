"""The order of the entries of a hash table in Java, in which ksqlDB goes over a map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LEAST = 1
_FULL = 0.75
_MASK = 0xFFFFFFFF


def hash_ordered(entries: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """Give the entries by the place of their key in the table."""
    size = _LEAST
    while len(entries) > size * _FULL:
        size *= 2
    places = {key: _spread(_hash(key)) & (size - 1) for key in entries}
    return [{"key": key, "value": entries[key]} for key in sorted(entries, key=places.__getitem__)]


def _hash(key: object) -> int:
    if not isinstance(key, str):
        return hash(key) & _MASK
    found = 0
    for unit in memoryview(key.encode("utf-16-le")).cast("H"):
        found = (31 * found + unit) & _MASK
    return found


def _spread(code: int) -> int:
    return code ^ (code >> 16)
