"""From the rows of a relation to records, through the user's steps, and to rows again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, TypeAlias

from penstock.front.streams.node import Codec, Joiner
from penstock.front.streams.record import Windowed
from penstock.front.streams.serde import Serde
from penstock.front.streams.step import Pair, Step, through_steps
from penstock.model.aggregate import WINDOW_END, WINDOW_START
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BYTES

KEY = "_key"
VALUE = "value"
OTHER = "other"
RECORDS = Schema((Field(KEY, BYTES), Field(VALUE, BYTES)))
"""Records as rows: what topics of bytes hold."""

Row: TypeAlias = Mapping[str, Any]
Reader: TypeAlias = Callable[[Row], Pair]
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)  # noqa: UP017  # datetime.UTC is new in 3.11
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Record:
    """Reads a key and a value; a value without a serde is what it is."""

    keys: Serde
    values: Serde | None

    def __call__(self, row: Row) -> Pair:
        """Give the record of a row."""
        return self.keys.deserialize(row[KEY]), self.value(row[VALUE])

    def value(self, content: Any) -> Any:  # noqa: ANN401
        """Give the value of a column."""
        return content if self.values is None else self.values.deserialize(content)


@dataclass(frozen=True)
class InWindow:
    """Reads a key in its window, and a value."""

    record: Record

    def __call__(self, row: Row) -> Pair:
        """Give the record of a row."""
        key, value = self.record(row)
        return Windowed(key, _millis(row[WINDOW_START]), _millis(row[WINDOW_END])), value


@dataclass(frozen=True)
class OfBoth:
    """Reads a key, and the values of both sides of a join as the joiner puts them together."""

    left: Record
    right: Record
    joiner: Joiner

    def __call__(self, row: Row) -> Pair:
        """Give the record of a row."""
        one, other = self.left.value(row[VALUE]), self.right.value(row[OTHER])
        return self.left.keys.deserialize(row[KEY]), self.joiner(one, other)


@dataclass(frozen=True)
class Rewrite:
    """A row becomes records, which go through steps and are rows of bytes again.

    Records without a key are left out where `keyed`, those without a value where `valued`.
    """

    read: Reader
    steps: Sequence[Step]
    codec: Codec
    keyed: bool = False
    valued: bool = False

    def __call__(self, row: Row) -> Iterator[dict[str, bytes | None]]:
        """Give the rows that are made of a row."""
        for key, value in through_steps(self.steps, self.read(row)):
            if (self.keyed and key is None) or (self.valued and value is None):
                continue
            yield {
                KEY: self.codec.keys.serialize(key),
                VALUE: self.codec.values.serialize(value),
            }


def _millis(moment: datetime) -> int:
    return (moment - _EPOCH) // _MILLISECOND
