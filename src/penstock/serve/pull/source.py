"""What FROM can name: a stream, a table or a topic, and how its rows are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import pyarrow as pa

from penstock.front.sql.rows import GONE
from penstock.log.record import KEY_COLUMN
from penstock.serve.pull.row_reader import RowReader

Kind: TypeAlias = Literal["stream", "table", "topic"]
ROW_GONE = "ROWGONE"
HIDDEN = (KEY_COLUMN, GONE)


@dataclass(frozen=True, slots=True)
class Source:
    """A relation by its name; a table has `keys`, columns that tell its rows apart.

    With `history` a table is all of its records, and `ROWGONE` says which of them deleted a row.
    """

    name: str
    kind: Kind
    topic: str
    reader: RowReader
    keys: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    """The columns of the window that a key lies in."""
    history: bool = False

    @property
    def is_table(self) -> bool:
        """Whether only the last row of each key counts."""
        return self.kind == "table" and not self.history

    @property
    def columns(self) -> pa.Schema:
        """The columns that a SELECT sees."""
        shown = [item for item in self.reader.schema if item.name not in HIDDEN]
        return pa.schema([*shown, (ROW_GONE, pa.bool_())] if self.history else shown)

    def seen(self, rows: pa.Table) -> pa.Table:
        """Give rows with the columns that a SELECT sees."""
        shown = self.columns.names
        if self.history:
            rows = rows.append_column(ROW_GONE, rows.column(GONE))
        return rows.select(shown)
