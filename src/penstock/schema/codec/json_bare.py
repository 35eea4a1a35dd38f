"""JSON values that are no objects: the one column of a row, written bare."""

from __future__ import annotations

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from penstock.schema.codec.binary import one_array, run_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.options import choice
from penstock.schema.schema import Schema
from penstock.schema.types import Kind

_OPEN = ord("{")
_SPACE = b" \t\r\n"
_HOLDS_OBJECTS = (Kind.STRUCT, Kind.MAP)


def wrapping(format: Format) -> str:  # noqa: A002  # our word for it
    """Give whether values are objects: `true`, `false`, or `auto`, as each begins."""
    return choice(format, "wrapped", ("auto", "true", "false"))


def may_be_bare(wrapped: str, schema: Schema) -> bool:
    """Whether values may be the one column of a schema without an object around.

    By themselves they are where that column holds no objects, which would look like one.
    """
    if len(schema.fields) != 1 or wrapped == "true":
        return False
    return wrapped == "false" or schema.fields[0].type.kind not in _HOLDS_OBJECTS


def with_objects(values: pa.Array, name: str, *, every: bool) -> pa.Array:
    """Put an object around each value that is bare; with `every` around all.

    What is no JSON by itself stays as it is: inside of an object it might become some.
    """
    values = one_array(values)
    places = np.arange(len(values)) if every else _not_opened(values)
    bare = np.zeros(len(values), np.bool_)
    for place in places.tolist():
        bare[place] = _is_bare(values[place].as_py(), every=every)
    if not bare.any():
        return values
    opening = pa.scalar(b"{" + orjson.dumps(name) + b":", pa.binary())
    closing, nothing = pa.scalar(b"}", pa.binary()), pa.scalar(b"", pa.binary())
    around = pc.binary_join_element_wise(opening, values, closing, nothing)
    return pc.if_else(pa.array(bare), around, values)


def without_objects(values: pa.Array, name: str) -> pa.Array:
    """Give the one field of each object by itself."""
    opening = len(b"{" + orjson.dumps(name) + b":")
    return pc.binary_slice(values, opening, -1)


def _not_opened(values: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    run = run_of(values)
    found = run.lengths > 0
    found[found] = run.data[run.starts[:-1][found]] != _OPEN
    return np.flatnonzero(found)


def _is_bare(value: bytes | None, *, every: bool) -> bool:
    if value is None or (not every and value.lstrip(_SPACE)[:1] == b"{"):
        return False
    try:
        orjson.loads(value)
    except orjson.JSONDecodeError:
        return False
    return True
