"""Keys and values as a stream or table of SQL declares them, for topics that say nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import orjson

from penstock.errors import PenstockError
from penstock.front.sql.record import Part
from penstock.front.sql.source import SqlSource
from penstock.log.rows import binary_array

_JSON = "JSON"
_TEXT = frozenset({"NONE", "JSON_SR"})
"""Formats whose bytes tell all there is to tell: none, and those with the id of a schema."""


@dataclass(frozen=True, slots=True)
class DeclaredPart:
    """The key or the value of records, by its format and columns."""

    part: Part

    @classmethod
    def of_key(cls, source: SqlSource) -> Self | None:
        """Give how keys are read; those of windows have more than their columns say."""
        if source.window is not None or not source.keys or source.key_format.name in _TEXT:
            return None
        return cls(Part(source.key_format, source.keys))

    @classmethod
    def of_value(cls, source: SqlSource) -> Self | None:
        """Give how values are read."""
        if not source.stored or source.value_format.name in _TEXT:
            return None
        return cls(Part(source.value_format, source.stored))

    def read(
        self, contents: Sequence[bytes | None], places: Sequence[int], problems: dict[int, str]
    ) -> dict[int, Any]:
        """Give the values of some places, and tell why one cannot be read."""
        there = [(place, content) for place in places if (content := contents[place]) is not None]
        if self.part.format.name == _JSON:
            return dict(_documents(there))
        try:
            found = self.part.decode(binary_array([content for _, content in there]))
        except PenstockError:
            # Its schema is not there, or not yet: shown as it is.
            return {}
        alone = len(self.part.columns) == 1 and not self.part.format.wrapped
        values: dict[int, Any] = {}
        for at, row in enumerate(found.rows.to_pylist(maps_as_pydicts="strict")):
            place = there[at][0]
            if at in found.failures:
                problems[place] = found.failures[at]
            else:
                values[place] = next(iter(row.values())) if alone else row
        return values


def _documents(there: Sequence[tuple[int, bytes]]) -> list[tuple[int, Any]]:
    """Give whole JSON: it may have more than is declared, in its own letters."""
    found = []
    for place, content in there:
        try:
            found.append((place, orjson.loads(content)))
        except orjson.JSONDecodeError:
            continue
    return found
