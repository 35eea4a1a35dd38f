"""Many JSON values in one go, by Arrow's own reader."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from penstock.schema.codec.binary import Mask, valid_rows, whole_column
from penstock.schema.codec.json_maps import can_split, split_maps
from penstock.schema.codec.json_wire import Wire, converted
from penstock.schema.codec.times import Times
from penstock.schema.types import STRING, Kind

# Arrow's reader takes this for a number, as it does NaN, which one can see in what it gives.
_INFINITE = b"Inf"
_NO_NUMBER = r"[:,\[]\s*-?Inf"


def can_read(wire: Wire) -> bool:
    """Whether the reader has all types and names.

    It has no maps, but for those of text that are columns, which are found otherwise; and it
    crashes where two fields have the same name, as they do that differ in case only.
    """
    maps = all(
        (part.type.item == STRING and can_split(part.written_as))
        if part.type.kind is Kind.MAP
        else not part.type.holds(Kind.MAP)
        for part in wire.parts
    )
    return maps and _names_differ(wire)


def _names_differ(wire: Wire) -> bool:
    names = {part.written_as for part in wire.parts}
    return len(names) == len(wire.parts) and all(map(_names_differ, wire.parts))


def by_arrow(texts: pa.Array, wire: Wire, times: Times) -> tuple[list[pa.Array], Mask]:
    """Read the columns of objects, and say which rows may have been misread.

    Raises `ValueError` where an object does not fit. All of them begin and end with brackets: no
    other text may be given, since this reader crashes on the word null.
    """
    # An object ends and another begins at each line's end, and that can be nowhere but between
    # two values: as many rows as values means that each value is one row.
    ends = pa.array([0, len(texts)], pa.int32())
    joined = pc.binary_join(pa.ListArray.from_arrays(ends, texts), "\n")[0].as_buffer()
    lines = joined.to_pybytes() + b"\n"
    if _INFINITE in lines and pc.any(pc.match_substring_regex(texts, _NO_NUMBER)).as_py():
        raise ValueError("a number that JSON does not have")
    found = pj.read_json(
        pa.BufferReader(lines),
        read_options=pj.ReadOptions(use_threads=False, block_size=len(lines) + 1),
        parse_options=pj.ParseOptions(
            explicit_schema=pa.schema(list(wire.arrow)), unexpected_field_behavior="ignore"
        ),
    )
    if found.num_rows != len(texts):
        raise ValueError("a value holds more than one object")
    columns, doubts = [], np.zeros(len(texts), np.bool_)
    for column, part in zip(found.columns, wire.parts, strict=True):
        read = whole_column(column)
        if part.type.kind is Kind.MAP:
            read, strange = split_maps(texts, lines, part.written_as, valid_rows(read))
            doubts |= strange
        elif not _finite(read, part):
            raise ValueError("a number that JSON does not have")
        if part.type.holds(Kind.DECIMAL):
            # The reader looks at the digits that are there, not at those a scale adds.
            read.validate(full=True)
        columns.append(converted(read, part, times))
    return columns, doubts


def _finite(column: pa.Array, wire: Wire) -> bool:
    if wire.type.kind is Kind.STRUCT:
        return all(map(_finite, column.flatten(), wire.parts))
    if wire.type.kind is Kind.ARRAY:
        return _finite(column.flatten(), wire.parts[0])
    if wire.type.kind is Kind.FLOAT64:
        return pc.all(pc.is_finite(column)).as_py() is not False
    return True
