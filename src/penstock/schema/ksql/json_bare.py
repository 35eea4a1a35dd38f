"""JSON texts that are one plain value: most of them are told by their form."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.schema.codec.binary import Mask
from penstock.schema.ksql.counted import counted_type, timed_rows
from penstock.schema.schema import Field, Schema
from penstock.schema.types import Kind, Type

# As these forms are, Arrow reads what JSON means; all others are left to a reader of JSON.
_WHOLE = r"^-?(0|[1-9][0-9]{0,17})$"
_FORMS = {
    Kind.INT32: r"^-?(0|[1-9][0-9]{0,8})$",
    Kind.INT64: _WHOLE,
    Kind.FLOAT64: r"^-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,30})?$",
    Kind.BOOLEAN: r"^(true|false)$",
    Kind.STRING: r'^"[^"\\\x00-\x1f]*"$',
}


def can_be_bare(type_: Type) -> bool:
    """Whether the texts of a type can be told by their form."""
    return counted_type(type_).kind in _FORMS


def read_bare(texts: pa.Array, field: Field) -> tuple[pa.Table, Mask]:
    """Read values, and say which ones are better read one by one."""
    plain = counted_type(field.type)
    fits = pc.match_substring_regex(texts, _FORMS[plain.kind])
    doubts = np.logical_not(fits.to_numpy(zero_copy_only=False))
    told = pc.if_else(fits, texts, pa.scalar(None, pa.string())) if doubts.any() else texts
    if plain.kind is Kind.STRING:
        found = pc.utf8_slice_codeunits(told, 1, -1)
    elif plain.kind is Kind.BOOLEAN:
        found = pc.equal(told, "true")
    else:
        kinds = {Kind.INT32: pa.int32(), Kind.INT64: pa.int64(), Kind.FLOAT64: pa.float64()}
        found = told.cast(kinds[plain.kind])
    rows, strange = timed_rows(pa.table([found], [field.name]), Schema((field,)))
    return rows, doubts | strange
