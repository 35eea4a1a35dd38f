"""Rows joined with a table that does not change, where they are: nothing is exchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from penstock.kernel.columns import control_columns, dtype_of, frame_schema
from penstock.kernel.port import Frame
from penstock.kernel.static_rows import static_rows
from penstock.model.enrich import Enrich, enriched_schema
from penstock.schema.schema import Schema

_SAME = "_same"
_PLACE = "_place"
_ROW = "_row"


@dataclass(frozen=True, slots=True)
class Enriched:
    """The rows of the result, and how many of the input have none there."""

    frame: Frame
    filtered: int


class Enricher:
    """Holds the table by its key, read when the first rows come."""

    def __init__(self, step: Enrich, schema: Schema) -> None:
        self._step = step
        self._types = frame_schema(enriched_schema(step, schema))
        self._names = [f"_key_{number}" for number in range(len(step.on))]
        kinds = [
            (schema.field(mine).type, step.table.columns.field(other).type)
            for mine, other in step.on
        ]
        self._wide = [dtype_of(max(pair, key=lambda kind: kind.kind == "int64")) for pair in kinds]
        self._floats = any(kind.is_float() for kind in self._wide)
        self._table: Frame | None = None

    def run(self, frame: Frame) -> Enriched:
        """Join the rows of a frame; they stay in their order, and so do the partners of each."""
        places = self._met(frame)
        kept = places[_ROW].n_unique() if self._step.how == "inner" else places.height
        if self._step.how == "left":
            kept = frame.height
        rows = frame if self._in_place(places, frame) else frame[places[_ROW]]
        return Enriched(self._picked(rows, places), frame.height - kept)

    def _met(self, frame: Frame) -> Frame:
        """Give the places of rows, and of their partners where there are any, side by side."""
        asked = self._keyed(frame, tuple(mine for mine, _ in self._step.on)).with_row_index(_ROW)
        known = self._keyed(self._rows(), tuple(other for _, other in self._step.on))
        known = known.with_row_index(_PLACE)
        how: Literal["inner", "left", "semi", "anti"] = self._step.how
        order: Literal["left", "left_right"] = "left" if how in ("semi", "anti") else "left_right"
        on = [*self._names, *([_SAME] if self._floats else [])]
        return asked.join(known, on=on, how=how, maintain_order=order)

    def _keyed(self, frame: Frame, keys: tuple[str, ...]) -> Frame:
        # polars merges two sorted columns of floats, and then finds no NaN (2.1): not if it
        # joins by two columns.
        columns = zip(keys, self._wide, self._names, strict=True)
        same = [pl.lit(0, pl.Int8).alias(_SAME)] if self._floats else []
        return frame.select(
            *(pl.col(key).cast(kind).alias(name) for key, kind, name in columns), *same
        )

    def _in_place(self, places: Frame, frame: Frame) -> bool:
        """Whether each row stands where it stood: one partner at most, none left out."""
        if places.height != frame.height:
            return False
        return self._step.how == "left" or places[_ROW].n_unique() == frame.height

    def _picked(self, rows: Frame, places: Frame) -> Frame:
        picks = self._step.columns
        wanted = sorted({pick.right for pick in picks if pick.left is None and pick.right})
        met = self._rows().select(pl.col(wanted).gather(places[_PLACE])) if wanted else rows
        columns = [
            (rows[pick.left] if pick.left is not None else met[pick.right or ""])
            .cast(self._types[pick.name])
            .alias(pick.name)
            for pick in picks
        ]
        return pl.DataFrame([*columns, *(rows[name] for name in control_columns(rows))])

    def _rows(self) -> Frame:
        if self._table is None:
            self._table = static_rows(self._step.table)
        return self._table
