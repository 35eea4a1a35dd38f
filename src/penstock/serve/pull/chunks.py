"""Rows in the order in which they came, in few pieces though they came in many."""

from __future__ import annotations

from bisect import bisect_right

import pyarrow as pa


class Chunks:
    """Columns that only grow; a small piece is joined to the next, so that there are few."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self._pieces: list[pa.Table] = []
        self._starts: list[int] = []
        self.height = 0
        self.nbytes = 0

    def append(self, rows: pa.Table) -> None:
        """Add rows at the end."""
        if not rows.num_rows:
            return
        self._push(rows.combine_chunks())
        # Each piece is more than twice as long as the one after it, as in a log-structured tree.
        while len(self._pieces) > 1 and self._pieces[-2].num_rows < 2 * self._pieces[-1].num_rows:
            last, before = self._pop(), self._pop()
            self._push(pa.concat_tables([before, last]).combine_chunks())

    def row(self, place: int) -> pa.Table:
        """Give one row."""
        piece = bisect_right(self._starts, place) - 1
        return self._pieces[piece].slice(place - self._starts[piece], 1)

    def whole(self) -> pa.Table:
        """Give all rows, without copying any."""
        return pa.concat_tables([self.schema.empty_table(), *self._pieces])

    def _push(self, piece: pa.Table) -> None:
        self._starts.append(self.height)
        self._pieces.append(piece)
        self.height += piece.num_rows
        self.nbytes += piece.nbytes

    def _pop(self) -> pa.Table:
        self._starts.pop()
        piece = self._pieces.pop()
        self.height -= piece.num_rows
        self.nbytes -= piece.nbytes
        return piece
