"""Which records a subscriber wants, and which of their columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from penstock.errors import RequestError

_BETWEEN = "="


@dataclass(frozen=True, slots=True)
class Selection:
    """Keys of which one must be, values that all columns named must have, columns to show."""

    keys: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] = ()

    def of(self, data: bytes, key: Any) -> bytes | None:  # noqa: ANN401  # of any type
        """Give a record as it is wanted, or nothing."""
        if self.keys and _text(key) not in self.keys:
            return None
        if not self.where and not self.columns:
            return data
        row = orjson.loads(data)
        value = row.get("value")
        cells = value if isinstance(value, dict) else {"value": value}
        if any(name not in cells or _text(cells[name]) != said for name, said in self.where):
            return None
        if self.columns and value is not None:
            row["value"] = {name: cells[name] for name in self.columns if name in cells}
        return orjson.dumps(row)


EVERYTHING = Selection()


def read_selection(keys: list[str], where: list[str], columns: str) -> Selection:
    """Read what a request says: `key=K`, `where=COLUMN=VALUE`, `columns=A,B`."""
    pairs = []
    for said in where:
        name, between, value = said.partition(_BETWEEN)
        if not between or not name:
            raise RequestError(
                "LIVE_WHERE",
                f'"{said[:60]}" is no condition',
                hint="Write a column and its value, such as where=page=home.",
            )
        pairs.append((name.strip(), value.strip()))
    names = tuple(name for part in columns.split(",") if (name := part.strip()))
    found = Selection(tuple(keys), tuple(pairs), names)
    return EVERYTHING if found == EVERYTHING else found


def _text(cell: Any) -> str:  # noqa: ANN401  # of any type
    return cell if isinstance(cell, str) else orjson.dumps(cell).decode()
