"""What left rows were answered with, so that each can be taken back exactly as it was given."""

from __future__ import annotations

import polars as pl

from penstock.kernel.answer import Answers
from penstock.kernel.columns import frame_schema
from penstock.kernel.multiset import ORDER, difference, numbered
from penstock.kernel.port import CONTROL, TIME, WEIGHT, Frame
from penstock.kernel.taken_back import taken_back
from penstock.model.join import Join

_MET = "_met"
_FOUND = "_found"


class Given:
    """The left rows that are there, each beside the row of the table that it met."""

    def __init__(self, relation: Join, answers: Answers) -> None:
        left, right = relation.left.schema, relation.right.schema
        self._answers = answers
        self._keys = relation.left_keys
        self._columns = left.names
        self._met = {name: f"{_MET}_{number}" for number, name in enumerate(right.names)}
        met = {self._met[name]: kind for name, kind in frame_schema(right).items()}
        self.empty = pl.DataFrame(
            schema={
                ORDER: pl.Int64(),
                **frame_schema(left),
                **CONTROL,
                **met,
                _FOUND: pl.Boolean(),
            }
        )

    def beside(self, left: Frame, table: Frame, places: pl.Series) -> Frame:
        """Put beside each left row the row of the table that it met."""
        names = self._met.items()
        met = table.select(pl.col(name).gather(places).alias(own) for name, own in names)
        found = places.is_not_null().alias(_FOUND)
        rows = left.select(*self._columns, *CONTROL)
        return pl.concat([rows, met], how="horizontal").with_columns(found)

    def taken(self, held: Frame, answered: Frame) -> tuple[Frame, Frame]:
        """Add answered rows, of which one of weight -1 takes back its latest copy; give changes."""
        if answered.is_empty():
            return held, self._answers.none
        turn = taken_back(held, answered, self._keys, self._columns)
        changes = [difference(_there(turn.before), _there(turn.after)), turn.added]
        results = [self._results(part) for part in changes if part.height]
        output = pl.concat(results) if results else self._answers.none
        return turn.whole, output

    def added(self, held: Frame, answered: Frame) -> Frame:
        """Add rows whose results were given before."""
        return pl.concat([held, numbered(answered, held).select(held.columns)])

    def without_owed(self, held: Frame, limit: int) -> Frame:
        """Forget rows that were taken back and never came, once they are older than a time."""
        owed = held.select((pl.col(WEIGHT) < 0) & (pl.col(TIME) < limit)).to_series()
        return held.filter(~owed) if owed.any() else held

    def _results(self, rows: Frame) -> Frame:
        table = rows.select(pl.col(own).alias(name) for name, own in self._met.items())
        places = pl.int_range(rows.height, dtype=pl.UInt32, eager=True)
        found = pl.select(pl.when(rows[_FOUND]).then(places)).to_series()
        return self._answers.rows(rows, table, found)


def _there(rows: Frame) -> Frame:
    return rows.filter(pl.col(WEIGHT) > 0)
