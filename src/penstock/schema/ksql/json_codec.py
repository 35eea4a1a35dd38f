"""Columns as the JSON of ksqlDB: all texts at once, and one by one those that are unusual.

Numbers may be texts and texts anything, names are found in whatever case; times are numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import SchemaError
from penstock.schema.arrow import to_arrow
from penstock.schema.codec.binary import Mask, one_array
from penstock.schema.codec.json_bare import with_objects, without_objects
from penstock.schema.codec.json_bulk import enclosed, read_bulk
from penstock.schema.codec.json_row import UnfitError
from penstock.schema.codec.json_write import write_json as write_bulk
from penstock.schema.codec.port import Decoded
from penstock.schema.codec.reading import Reading
from penstock.schema.codec.times import Times
from penstock.schema.ksql.counted import counted_rows, counted_schema, timed_rows
from penstock.schema.ksql.json_bare import can_be_bare, read_bare
from penstock.schema.ksql.json_value import Named, read_json, write_json
from penstock.schema.schema import Schema

_NUMBERS = Times("number")
_FEW = 32
_UNWRITABLE = "VALUE_ENCODE"


@dataclass(frozen=True, slots=True)
class KsqlJson:
    """Reads and writes objects; a single column stands alone where it is not `wrapped`."""

    schema: Schema
    wrapped: bool = True

    def decode(self, values: pa.Array) -> Decoded:
        """Read values."""
        values = one_array(values)
        if self.wrapped:
            return self._reading(self._bulk, enclosed, wrapped=True).decode(values)
        (field,) = self.schema.fields
        if can_be_bare(field.type):
            bulk = partial(read_bare, field=field)
            return self._reading(bulk, _filled, wrapped=False).decode(values)
        # Lists and objects go into an object first, since that is what can be read in bulk.
        return KsqlJson(self.schema).decode(with_objects(values, field.name, every=True))

    def encode(self, rows: pa.Table) -> pa.Array:
        """Write rows; a lone column that is null has no text."""
        written = self._written(rows.select(self.schema.names))
        if self.wrapped:
            return written
        (field,) = self.schema.fields
        there = rows.column(field.name).combine_chunks().is_valid()
        bare = without_objects(written, field.name)
        return pc.if_else(there, bare, pa.scalar(None, bare.type))

    def _reading(
        self,
        bulk: Callable[[pa.Array], tuple[pa.Table, Mask]],
        fit: Callable[[pa.Array], Mask],
        *,
        wrapped: bool,
    ) -> Reading:
        def single(text: str) -> dict[str, Any]:
            return unfit_if_wrong(partial(read_json, named=self._named, wrapped=wrapped), text)

        return Reading(self.schema, bulk, fit, single)

    def _bulk(self, texts: pa.Array) -> tuple[pa.Table, Mask]:
        found, doubts = read_bulk(texts, counted_schema(self.schema), _NUMBERS)
        rows, strange = timed_rows(found, self.schema)
        return rows, doubts | strange

    def _written(self, rows: pa.Table) -> pa.Array:
        try:
            counted = counted_rows(rows, self.schema)
            return write_bulk(counted, counted_schema(self.schema), _NUMBERS)
        except SchemaError as error:
            if error.code != _UNWRITABLE:
                raise
        # Numbers that JSON does not have are words; few rows hold one.
        if rows.num_rows > _FEW:
            half = rows.num_rows // 2
            parts = [self._written(rows.slice(0, half)), self._written(rows.slice(half))]
            return pa.concat_arrays(parts)
        plain = rows.cast(to_arrow(self.schema)).to_pylist(maps_as_pydicts="strict")
        texts = [write_json(row, self._named, wrapped=True) for row in plain]
        return pa.array(texts, pa.binary())

    @property
    def _named(self) -> Named:
        return tuple((field.name, field.type) for field in self.schema.fields)


def unfit_if_wrong(read: Callable[[str], dict[str, Any]], text: str) -> dict[str, Any]:
    """Read a text; whatever is wrong with it is said as `Reading` asks."""
    try:
        return read(text)
    except RecursionError:
        raise UnfitError("nested too deeply") from None
    except (ValueError, ArithmeticError) as error:
        raise UnfitError(str(error)) from error


def _filled(texts: pa.Array) -> Mask:
    found: Mask = pc.greater(pc.binary_length(texts), 0).to_numpy(zero_copy_only=False)
    return found
