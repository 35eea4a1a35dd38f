"""The headers of records as columns: all of them, or the last of a name."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_ALL = pa.list_(pa.struct([("KEY", pa.string()), ("VALUE", pa.binary())]))


def all_headers(headers: pa.Array) -> pa.Array:
    """Give the headers of each record, none where there are none.

    `headers` are lists of structs of a key and a value.
    """
    keys, values = headers.values.flatten()
    offsets = headers.offsets
    if headers.null_count:
        lengths = pc.list_value_length(headers).fill_null(0).to_numpy()
        offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
        keys, values = headers.flatten().flatten()
    items = pa.StructArray.from_arrays([keys, values], ["KEY", "VALUE"])
    return pa.ListArray.from_arrays(offsets, items).cast(_ALL)


def header(headers: pa.Array, name: str) -> pa.Array:
    """Give the last header of a name of each record; null where there is none."""
    keys, values = headers.flatten().flatten()
    owners = pc.list_parent_indices(headers).to_numpy()
    same = pc.equal(keys, name).fill_null(pa.scalar(value=False))
    named = np.flatnonzero(same.to_numpy(zero_copy_only=False))
    places = np.full(len(headers), -1, np.int64)
    # Of several the last is written last.
    places[owners[named]] = named
    return values.take(pa.array(places, mask=places < 0))
