"""Many JSON values in one go, by way of Python's objects: for types that Arrow's reader has not."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from penstock.schema.arrow import arrow_type
from penstock.schema.codec.json_row import parse_strict
from penstock.schema.codec.json_wire import Wire, converted
from penstock.schema.codec.times import Times
from penstock.schema.types import Kind

_TREES = 512
# Told one of these types, Arrow takes nothing else for it; it cuts numbers to what it is told.
_EXACT = (Kind.STRING, Kind.BOOLEAN)


def by_trees(texts: pa.Array, wire: Wire, times: Times) -> list[pa.Array]:
    """Read the columns of objects; raises `ValueError` where one of them does not fit."""
    exact = wire.type.holds(Kind.DECIMAL)
    load = parse_strict if exact else orjson.loads
    # Few trees at a time: Python looks through all that are alive, again and again.
    chunks = [
        _columns([load(text) for text in texts.slice(at, _TREES).to_pylist()], wire, times)
        for at in range(0, len(texts), _TREES)
    ]
    return [pa.concat_arrays(column) for column in zip(*chunks, strict=True)]


def _columns(trees: list[Any], wire: Wire, times: Times) -> list[pa.Array]:
    _all_of(trees, dict)
    there = [{} if tree is None else tree for tree in trees]
    return [
        _column([tree.get(part.written_as) for tree in there], part, times) for part in wire.parts
    ]


def _column(values: list[Any], wire: Wire, times: Times) -> pa.Array:
    match wire.type.kind:
        case Kind.STRUCT:
            parts = _columns(values, wire, times)
            names = [part.name for part in wire.parts]
            return pa.StructArray.from_arrays(parts, names, mask=_nulls(values))
        case Kind.ARRAY:
            _all_of(values, list)
            if wire.parts[0].type.kind in _EXACT:
                return pa.array(values, arrow_type(wire.type))
            flat = list(chain.from_iterable(value for value in values if value is not None))
            return pa.ListArray.from_arrays(_offsets(values), _column(flat, wire.parts[0], times))
        case Kind.MAP:
            _all_of(values, dict)
            if wire.parts[0].type.kind in _EXACT:
                return pa.array(values, arrow_type(wire.type))
            there = [value for value in values if value is not None]
            names = pa.array(list(chain.from_iterable(there)), pa.string())
            flat = list(chain.from_iterable(map(dict.values, there)))
            items = _column(flat, wire.parts[0], times)
            return pa.MapArray.from_arrays(_offsets(values), names, items)
        case _:
            return converted(_scalars(values, wire), wire, times)


def _scalars(values: list[Any], wire: Wire) -> pa.Array:
    # Left to find the type, Arrow finds what is there.
    found = pa.array(values)
    wanted = wire.arrow
    if wire.type.kind is Kind.DECIMAL and pa.types.is_decimal(found.type):
        return found.cast(wanted)
    wider = {pa.int64(): (pa.int32(), pa.float64())}
    if found.type not in (wanted, pa.null()) and wanted not in wider.get(found.type, ()):
        raise ValueError(f"values of type {found.type}")
    return found.cast(wanted)


def _offsets(values: list[Any]) -> pa.Array:
    """Give where each list begins among all items; a null where there is none, as Arrow has it."""
    lengths = np.fromiter((0 if value is None else len(value) for value in values), np.int32)
    starts = np.concatenate([np.zeros(1, np.int32), np.cumsum(lengths, dtype=np.int32)])
    mask = np.append(np.fromiter((value is None for value in values), np.bool_), False)
    return pa.array(starts, pa.int32(), mask=mask)


def _nulls(values: list[Any]) -> pa.Array:
    return pa.array([value is None for value in values], pa.bool_())


def _all_of(values: list[Any], kind: type) -> None:
    if not set(map(type, values)) <= {kind, type(None)}:
        raise ValueError(f"a value that is no {kind.__name__}")
