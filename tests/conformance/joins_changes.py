"""Our changelogs read as Kafka's records, and both reduced to what they change.

A table of ours changes by rows taken back and given; Kafka writes one record a change: the new
row, or a tombstone where none is left. Three things differ, and only these are evened out:

* Kafka also writes records that change nothing: a tombstone for a key that has no row, a row
  equal to the one there. Of what is expected those are left out (`changes_of`).
* A row that is taken back has the time it was given with, so that it leaves the windows it is
  in. A tombstone of ours so has no time of its own, and none is compared; that what is taken
  back is what was given before, its time included, is (`Table.take`).
* Kafka's joins of streams cannot take back a row that came out alone. Ours do when a partner
  comes: `Given.take` leaves these out, and fails where anything else is taken back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.conformance.engine import Pane
from tests.conformance.joins_program import KEY, LEFT, RIGHT
from tests.conformance.runner import holds, same

Shape: TypeAlias = Callable[[Pane], Any]
"""Gives the value of a result as a fact spells it."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a result: no value deletes the key."""

    key: Any
    value: Any
    time: int | None = None


def text_with(mark: str) -> Shape:
    """Give values as text: left, mark, right; the text null stands for a missing side."""

    def text(pane: Pane) -> str:
        sides = [pane.row[side] for side in (LEFT, RIGHT)]
        return mark.join("null" if side is None else side for side in sides)

    return text


def pair(pane: Pane) -> tuple[Any, ...]:
    """Give a value as its two sides."""
    return pane.row[LEFT], pane.row[RIGHT]


class Table:
    """What the changes of a result amount to so far, by key."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self.rows: dict[Any, Record] = {}

    def take(self, panes: Iterable[Pane]) -> list[Record]:
        """Take changes, and give them as records: one of each key that has changed."""
        net: dict[Any, Counter[Record]] = {}
        for pane in panes:
            found = Record(pane.row[KEY], self._shape(pane), pane.time)
            net.setdefault(found.key, Counter())[found] += pane.weight
        records = []
        for key, changes in net.items():
            gone = [row for row, weight in changes.items() for _ in range(-weight)]
            come = [row for row, weight in changes.items() for _ in range(weight)]
            if gone or come:
                before = [self.rows[key]] if key in self.rows else []
                same(gone, before, f"what is taken back of {key}")
                holds(len(come) <= 1, f"{key} has one row, not {come}")
                records.append(self._put(key, come))
        return records

    def _put(self, key: Any, come: Sequence[Record]) -> Record:  # noqa: ANN401
        self.rows.pop(key, None)
        if not come:
            return Record(key, None)
        self.rows[key] = come[0]
        return come[0]


def changes_of(records: Iterable[Record], table: dict[Any, Any]) -> list[Record]:
    """Give the records that change a table of values, which takes them; a tombstone's time goes."""
    changes = []
    for record in records:
        if record.value == table.get(record.key):
            continue
        if record.value is None:
            del table[record.key]
            changes.append(Record(record.key, None))
        else:
            table[record.key] = record.value
            changes.append(record)
    return changes


class Given:
    """The rows of a join of streams: those that came out alone may be taken back."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._alone: Counter[tuple[Any, ...]] = Counter()

    def take(self, panes: Iterable[Pane]) -> list[Record]:
        """Take rows, and give those that are added."""
        records = []
        for pane in panes:
            sides = pair(pane)
            row = (pane.row[KEY], *sides, pane.time)
            if None in sides:
                self._alone[row] += pane.weight
            if pane.weight > 0:
                records.append(Record(pane.row[KEY], self._shape(pane), pane.time))
            else:
                holds(self._alone[row] >= 0 and None in sides, f"{row} came out alone before")
        return records


def expected_record(item: Mapping[str, Any]) -> Record:
    """Read an expected record."""
    return Record(key_text(item["key"]), item["value"], item.get("ts"))


def key_text(key: object) -> str | None:
    """Give a key as our programs hold it."""
    return None if key is None else str(key)


def in_order(records: Iterable[Record]) -> list[Record]:
    """Bring records into one order: keys are apart in their buckets, and so in no order."""
    return sorted(records, key=repr)
