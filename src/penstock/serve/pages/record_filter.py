"""Which records of a topic somebody wants to see."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from penstock.errors import UsageError
from penstock.serve.record_rows import Row


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """A part of the key, a part of anything, and columns with their values; empty takes all."""

    key: str = ""
    text: str = ""
    columns: tuple[tuple[str, str], ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it takes all."""
        return not (self.key or self.text or self.columns)

    def takes(self, row: Row) -> bool:
        """Say whether a record is wanted."""
        if self.key and self.key.lower() not in cell_text(row["key"]).lower():
            return False
        if self.text and self.text.lower() not in _all_text(row).lower():
            return False
        return all(_equals(row["value"], name, wanted) for name, wanted in self.columns)


def parse_columns(text: str) -> tuple[tuple[str, str], ...]:
    """Read `page = /home, user.id = 7`: columns, of columns with dots, and their values."""
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            raise UsageError(
                "FILTER_FORMAT",
                f'"{part}" is not of the form column = value',
                hint="Write it as page = /home, with a comma before the next one.",
            )
        found.append((name.strip(), value.strip().strip("\"'")))
    return tuple(found)


def cell_text(value: Any) -> str:  # noqa: ANN401  # a value of any type
    """Write a value on one line: text as it is, the rest as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _all_text(row: Row) -> str:
    return f"{cell_text(row['key'])}\n{cell_text(row['value'])}\n{cell_text(row['headers'])}"


def _equals(value: Any, name: str, wanted: str) -> bool:  # noqa: ANN401
    found = value
    for part in [name] if isinstance(value, dict) and name in value else name.split("."):
        if not isinstance(found, dict) or part not in found:
            return False
        found = found[part]
    return wanted in {cell_text(found), "null" if found is None else cell_text(found)}
