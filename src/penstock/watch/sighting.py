"""What was seen of a key: whether its rule holds, whether it is over, and its row."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import polars as pl

from penstock.kernel.port import Frame
from penstock.log.port import Transaction

KEY = "_alert_key"
HOLDS = "_alert_holds"
CLEARS = "_alert_clears"
NO_KEY = "{}"


@dataclass(frozen=True, slots=True)
class Sighting:
    """A key as JSON, whether the rule holds for it and whether it is over, and its row."""

    key: str
    holds: bool
    clears: bool
    row: Mapping[str, Any] = field(default_factory=dict)


class Observer(Protocol):
    """Looks at what one rule is on."""

    def look(self, now: int, active: Collection[str]) -> list[Sighting]:
        """Give the keys for which it holds, and what is seen of those that are active."""
        ...

    def commit(self, transaction: Transaction | None) -> None:
        """Let what was looked at be looked at no more, together with what was written of it."""
        ...


def sightings(rows: Frame) -> Iterator[Sighting]:
    """Give the rows of a frame that has the three columns of above."""
    own = [name for name in rows.columns if name not in (KEY, HOLDS, CLEARS)]
    for row in rows.iter_rows(named=True):
        values = {name: row[name] for name in own}
        yield Sighting(row[KEY], bool(row[HOLDS]), bool(row[CLEARS]), values)


def key_text(columns: Sequence[str]) -> pl.Expr:
    """Give the key of rows as JSON."""
    if not columns:
        return pl.lit(NO_KEY).alias(KEY)
    return pl.struct(columns).struct.json_encode().alias(KEY)


def json_text(values: Mapping[str, Any]) -> str:
    """Give values as JSON, whatever they are."""
    finite = {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in values.items()
    }
    return json.dumps(finite, ensure_ascii=False, default=_plain)


def _plain(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
