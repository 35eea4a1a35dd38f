"""Messages that carry their schema, many at once: those that begin alike are read together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import SchemaError
from penstock.schema.avro.binary import long_bytes
from penstock.schema.avro.codec_rows import Share
from penstock.schema.avro.container import SYNC_SIZE
from penstock.schema.avro.decode import Decoder
from penstock.schema.avro.decode_cursor import Cursor, Ints, Mask, Octets, Source
from penstock.schema.avro.embedded import Embedded, split_embedded
from penstock.schema.codec.binary import Run, run_of

_BEGINNINGS = 8
"""So many kinds of beginnings are looked for; messages with others are read one by one."""


@dataclass(frozen=True, slots=True)
class Bodies:
    """Values of one schema: their rows, and where in the bytes they lie."""

    text: str
    rows: Ints
    data: Octets
    at: Ints
    end: Ints

    def share(self, decoder: Decoder | str) -> Share:
        """Give the values to their decoder."""
        return Share(decoder, self.rows, self.data, self.at, self.end)


def split_messages(values: pa.Array, rows: Ints) -> tuple[list[Bodies], dict[int, str]]:
    """Give the values of messages by their schemas, and why some messages have none."""
    work = _Splitting(values, run_of(values))
    for _ in range(_BEGINNINGS):
        if len(rows):
            rows = work.alike(rows)
    work.one_by_one(rows)
    return work.found, work.failures


class _Splitting:
    def __init__(self, values: pa.Array, run: Run) -> None:
        self._values = values
        self._run = run
        self.found: list[Bodies] = []
        self.failures: dict[int, str] = {}

    def alike(self, rows: Ints) -> Ints:
        """Read those that begin as the first of some rows does; give the others."""
        message = self._values[int(rows[0])].as_py()
        split = self._split(int(rows[0]), message)
        if split is None:
            return rows[1:]
        tail = long_bytes(1) + long_bytes(len(split.body)) + split.body + message[-SYNC_SIZE:]
        if not message.endswith(tail):
            # Compressed, or in several blocks.
            self.one_by_one(rows[:1])
            return rows[1:]
        head = message[: -len(tail)]
        some = self._values if len(rows) == len(self._values) else self._values.take(rows)
        begins = pc.starts_with(some, pattern=head).to_numpy(zero_copy_only=False)
        at, end, whole = self._bodies(rows[begins], head)
        found = rows[begins][whole]
        self.found.append(Bodies(split.text, found, self._run.data, at[whole], end[whole]))
        begins[np.flatnonzero(begins)[~whole]] = False
        rest: Ints = rows[~begins & (rows != rows[0])]
        return rest

    def one_by_one(self, rows: Ints) -> None:
        """Read messages each for itself, whatever way they are written."""
        by_text: dict[str, list[tuple[int, bytes]]] = {}
        for row in rows.tolist():
            split = self._split(row, self._values[row].as_py())
            if split is not None:
                by_text.setdefault(split.text, []).append((row, split.body))
        for text, bodies in by_text.items():
            ends = np.cumsum([len(body) for _, body in bodies])
            starts = np.concatenate([[0], ends[:-1]])
            data = np.frombuffer(b"".join(body for _, body in bodies), np.uint8)
            self.found.append(
                Bodies(text, np.array([row for row, _ in bodies]), data, starts, ends)
            )

    def _split(self, row: int, message: bytes) -> Embedded | None:
        try:
            split = split_embedded(message)
        except SchemaError as error:
            self.failures[row] = error.fact
            return None
        if split.count != 1:
            self.failures[row] = f"a message holds {split.count} values, not one"
            return None
        return split

    def _bodies(self, rows: Ints, head: bytes) -> tuple[Ints, Ints, Mask]:
        """Go over what stands before each value, and say which messages are whole."""
        starts = self._run.starts[rows]
        source = Source(self._run.data, starts)
        ends = self._run.starts[rows + 1]
        cursor = Cursor(source, starts + source.begin + len(head), ends + source.begin, rows)
        count, size = cursor.read_long(), cursor.read_long()
        at = cursor.at - source.begin
        sync = np.frombuffer(head[-SYNC_SIZE:], "<u8")
        markers = [source.words[ends + source.begin - back] for back in (SYNC_SIZE, SYNC_SIZE // 2)]
        whole = (count == 1) & (at + size + SYNC_SIZE == ends) & ~cursor.lost
        whole &= (markers[0] == sync[0]) & (markers[1] == sync[1])
        return at, ends - SYNC_SIZE, whole
