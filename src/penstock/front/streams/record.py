"""What flows: a key and a value; after a windowed aggregate the key knows its window."""

from __future__ import annotations

from typing import Any, NamedTuple


class KeyValue(NamedTuple):
    """A record as functions give it; a tuple of two says the same."""

    key: Any
    value: Any


class Windowed(NamedTuple):
    """A key in a window [start, end), in milliseconds since 1970."""

    key: Any
    start: int
    end: int
