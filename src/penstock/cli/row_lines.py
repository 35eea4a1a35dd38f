"""Rows as lines of JSON, on their way to values of any format and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.cli.input_line import refuse_line

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from penstock.log.record import Record
    from penstock.schema.serde import Serde


class RowLines:
    """Turns lines, a JSON object of columns each, into values; many at a time."""

    def __init__(self, serde: Serde) -> None:
        from penstock.schema.codec.codecs import codec_of  # noqa: PLC0415  # needs Arrow
        from penstock.schema.codec.format import Format  # noqa: PLC0415

        self._serde = serde
        self._json = codec_of(Format("json"), serde.schema)

    def values(self, lines: Sequence[bytes | None], first: int) -> list[bytes | None]:
        """Give the values of lines, of which the first has a number; None is a tombstone."""
        import numpy as np  # noqa: PLC0415  # with Arrow

        from penstock.log.rows import binary_array, integer_array  # noqa: PLC0415

        read = self._json.decode(binary_array(lines))
        for place in sorted(read.failures):
            raise refuse_line(first + place, ValueError(f"is no row: {read.failures[place]}"))
        there = [place for place, line in enumerate(lines) if line is not None]
        rows = read.rows.take(integer_array(np.asarray(there, np.int64)))
        made: list[bytes | None] = [None] * len(lines)
        for place, value in zip(there, self._encoded(rows), strict=True):
            made[place] = value
        return made

    def _encoded(self, rows: pa.Table) -> list[bytes]:
        values: list[bytes] = self._serde.write(rows).column("value").to_pylist()
        return values


def read_rows(
    serde: Serde, records: Sequence[Record], refused: Callable[[Record, str], None]
) -> list[Record]:
    """Give records whose values are rows; who is `refused` is told of, and left out."""
    from penstock.log.rows import binary_array  # noqa: PLC0415  # needs Arrow

    if not records:
        return []
    values = [record.value for record in records]
    found = serde.values.decode(binary_array(values))  # type: ignore[arg-type]  # bytes
    rows = found.rows.to_pylist()
    made: list[Record] = []
    for place, record in enumerate(records):
        if place in found.failures:
            refused(record, found.failures[place])
        elif record.value is None:
            made.append(record)
        else:
            made.append(record._replace(value=rows[place]))
    return made
