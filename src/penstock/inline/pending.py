"""Rows for stores, kept with the snapshot they belong to until the stores have them.

A store gets the rows of a snapshot after the snapshot counts, under its number: what a crash
between the two leaves undone is done by the next run, and what was done is recognised.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import TypeAlias

import polars as pl
import pyarrow as pa

from penstock.connect.results import Writer, claim_tables, write_batch
from penstock.connect.table import StoredTable
from penstock.kernel.port import Frame

Pending: TypeAlias = Mapping[str, Frame]
"""Rows by target."""

_LENGTH = struct.Struct("<I")


def pending_bytes(pending: Pending) -> bytes:
    """Write rows down."""
    blobs = {target: _written(frame) for target, frame in pending.items()}
    index = json.dumps({target: len(blob) for target, blob in blobs.items()}).encode()
    return b"".join((_LENGTH.pack(len(index)), index, *blobs.values()))


def read_pending(data: bytes) -> Pending:
    """Read what `pending_bytes` wrote."""
    (length,) = _LENGTH.unpack_from(data)
    at = _LENGTH.size + length
    found: dict[str, Frame] = {}
    for target, size in json.loads(data[_LENGTH.size : at]).items():
        frame = pl.from_arrow(pa.ipc.open_stream(data[at : at + size]).read_all())
        assert isinstance(frame, pl.DataFrame)
        found[target] = frame
        at += size
    return found


class Deliveries:
    """Gathers rows for the tables of a program, and hands those of a snapshot to their stores."""

    def __init__(self, tables: Mapping[str, StoredTable], share: str = "") -> None:
        self._tables = tables
        self._share = share
        self._waiting: dict[str, list[Frame]] = {}

    def claim(self, owner: str) -> None:
        """Make the tables, and become the only one who writes them."""
        claim_tables(self._tables.values(), Writer(owner, self._share))

    def takes(self, target: str) -> bool:
        """Whether rows for a target go to a store."""
        return target in self._tables

    def add(self, target: str, rows: Frame) -> None:
        """Keep rows for the next snapshot."""
        chosen = rows.select(self._tables[target].needed())
        self._waiting.setdefault(target, []).append(chosen)

    def gathered(self) -> Pending:
        """Give the rows since the last snapshot."""
        found = {target: pl.concat(frames) for target, frames in self._waiting.items()}
        self._waiting = {}
        return found

    def deliver(self, pending: Pending, owner: str, number: int) -> None:
        """Write the rows of a snapshot that counts, unless they are there."""
        if pending:
            changes = [(self._tables[target], frame) for target, frame in pending.items()]
            write_batch(changes, Writer(owner, self._share), number)


def _written(frame: Frame) -> bytes:
    sink = pa.BufferOutputStream()
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())
