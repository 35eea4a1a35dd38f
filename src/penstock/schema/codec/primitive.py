"""Numbers and booleans as Kafka's own serializers write them: big-endian, of a fixed length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.schema.arrow import arrow_type, to_arrow
from penstock.schema.codec.binary import (
    binary_of,
    one_array,
    run_of,
    spread_rows,
    valid_rows,
    whole_column,
)
from penstock.schema.codec.format import Format
from penstock.schema.codec.options import check_options, single_column
from penstock.schema.codec.port import Codec, Decoded
from penstock.schema.codec.schemas import Schemas
from penstock.schema.schema import Schema
from penstock.schema.types import BOOLEAN, FLOAT64, INT32, INT64, Kind

_TYPES = {"int": INT32, "long": INT64, "double": FLOAT64, "boolean": BOOLEAN}
_LAYOUTS = {Kind.INT32: ">i4", Kind.INT64: ">i8", Kind.FLOAT64: ">f8", Kind.BOOLEAN: "u1"}


def primitive_codec(format: Format, schema: Schema | None, _: Schemas | None) -> Codec:  # noqa: A002
    """Give the codec of `int`, `long`, `double` or `boolean`."""
    check_options(format, ())
    return PrimitiveCodec(single_column(format, schema, _TYPES[format.name]))


@dataclass(frozen=True, slots=True)
class PrimitiveCodec:
    """Reads values of one length; any other length is a failure, as Kafka's clients have it."""

    schema: Schema

    def decode(self, values: pa.Array) -> Decoded:
        """Read values."""
        values = one_array(values)
        layout = self._layout
        valid = valid_rows(values)
        run = run_of(values)
        fits = valid & (run.lengths == layout.itemsize)
        good = np.flatnonzero(fits)
        kept = values if len(good) == len(values) else values.take(pa.array(good))
        numbers = np.frombuffer(run_of(kept).data.tobytes(), layout)
        failures = {
            int(row): f"{run.lengths[row]} bytes, where {layout.itemsize} are expected"
            for row in np.flatnonzero(valid & ~fits)
        }
        if self._kind is Kind.BOOLEAN:
            strange = numbers > 1
            failures |= {
                int(row): f"byte {number}, where 0 or 1 is expected"
                for row, number in zip(good[strange], numbers[strange], strict=True)
            }
            good, numbers = good[~strange], numbers[~strange].astype(np.bool_)
        found = pa.array(numbers.astype(numbers.dtype.newbyteorder("=")))
        column = spread_rows(found, good, len(values)).cast(arrow_type(self.schema.fields[0].type))
        return Decoded(pa.table([column], schema=to_arrow(self.schema)), failures)

    def encode(self, rows: pa.Table) -> pa.Array:
        """Write rows."""
        column = whole_column(rows.column(self.schema.names[0]))
        good = np.flatnonzero(valid_rows(column))
        kept = column.drop_null().to_numpy(zero_copy_only=False).astype(self._layout)
        lengths = np.full(len(kept), self._layout.itemsize, np.int64)
        return spread_rows(binary_of(kept.tobytes(), lengths), good, len(column))

    @property
    def _kind(self) -> Kind:
        return self.schema.fields[0].type.kind

    @property
    def _layout(self) -> np.dtype[np.generic]:
        return np.dtype(_LAYOUTS[self._kind])
