"""What a stream's rows become once it is known which row of the table each meets."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from penstock.kernel.columns import frame_schema
from penstock.kernel.expression import lower
from penstock.kernel.port import CONTROL, Frame
from penstock.model.join import How, Join, Pick

_CHOSEN: Mapping[How, Callable[[pl.Series], pl.Series]] = {
    "inner": pl.Series.is_not_null,
    "right": pl.Series.is_not_null,
    "semi": pl.Series.is_not_null,
    "anti": pl.Series.is_null,
}
_HOLDS = "_holds"


class Answers:
    """Makes the rows of the result of a join in which a left row meets one right row at most."""

    def __init__(self, relation: Join) -> None:
        self._picks = relation.columns
        self._types = frame_schema(relation.schema)
        self._chosen = _CHOSEN.get(relation.how)
        self._condition = (
            None if relation.condition is None else lower(relation.condition, relation.schema)
        )
        self.none = pl.DataFrame(schema={**self._types, **CONTROL})

    def fulfilling(self, left: Frame, right: Frame, places: pl.Series) -> pl.Series:
        """Give the places of the rows met, null where the two do not fulfil the condition."""
        if self._condition is None or places.null_count() == places.len():
            return places
        pairs = self._picked(left, right, places)
        holds = pairs.select(self._condition.fill_null(value=False).alias(_HOLDS)).to_series()
        return pl.select(pl.when(holds).then(places)).to_series()

    def rows(self, left: Frame, right: Frame, places: pl.Series) -> Frame:
        """Give the result, row by row in the order of the left ones that are in it."""
        if self._chosen is not None:
            chosen = self._chosen(places)
            if not chosen.all():
                left, places = left.filter(chosen), places.filter(chosen)
        if left.is_empty():
            return self.none
        return self._picked(left, right, places).with_columns(left[name] for name in CONTROL)

    def alone(self, right: Frame) -> Frame:
        """Give rows of the table that no left row has met."""
        columns = [
            pl.lit(None).cast(self._types[pick.name]).alias(pick.name)
            if pick.right is None
            else pl.col(pick.right).cast(self._types[pick.name]).alias(pick.name)
            for pick in self._picks
        ]
        return right.select(*columns, *CONTROL)

    def _picked(self, left: Frame, right: Frame, places: pl.Series) -> Frame:
        names = {pick.right for pick in self._picks if pick.left is None and pick.right is not None}
        met = right.select(pl.col(sorted(names)).gather(places)) if names else right.clear()
        return pl.DataFrame([self._column(left, met, pick) for pick in self._picks])

    def _column(self, left: Frame, met: Frame, pick: Pick) -> pl.Series:
        # A left row is always there, so that a key named alike on both sides is its own.
        found = met[pick.right or ""] if pick.left is None else left[pick.left]
        return found.cast(self._types[pick.name]).alias(pick.name)
