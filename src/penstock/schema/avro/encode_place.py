"""Which rows and which column are being written, for the error that names them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from penstock.errors import SchemaError
from penstock.schema.avro.decode_cursor import Ints, Mask


@dataclass(frozen=True, slots=True)
class Place:
    """The row of each value, and the way to them from the outside in."""

    rows: Ints
    path: tuple[str, ...] = ()

    def inside(self, name: str) -> Place:
        """Go to a part of each value."""
        return replace(self, path=(*self.path, name))

    def items(self, counts: Ints) -> Place:
        """Go to the items of each value, so many."""
        return replace(self, rows=np.repeat(self.rows, counts))

    def refuse(self, wrong: Mask, why: str) -> None:
        """Raise the error of the first value that is wrong, if one is."""
        if not wrong.any():
            return
        row = int(self.rows[int(np.argmax(wrong))])
        raise SchemaError(
            "VALUE_ENCODE",
            f'row {row} of column "{".".join(self.path)}" {why}',
            hint="Change the value, or write with a schema that can hold it.",
        )


def valid_of(array: pa.Array) -> Mask:
    """Say which values are not null."""
    found: Mask = array.is_valid().to_numpy(zero_copy_only=False)
    return found


def require(array: pa.Array, live: Mask | None, place: Place) -> None:
    """Refuse a null where one is to be written."""
    if array.null_count:
        lacking = ~valid_of(array)
        place.refuse(
            lacking if live is None else lacking & live, "is null, and its type has no null"
        )
