"""Columns as Protobuf messages of a schema that is known, without an id before them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from penstock.schema.arrow import to_arrow
from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.port import Codec, Decoded
from penstock.schema.ksql.fitting import fitted, matched
from penstock.schema.schema import Schema


@dataclass(frozen=True, slots=True)
class Messages:
    """Reads and writes messages, whose fields are columns by name, in whatever case."""

    schema: Schema
    text: str

    def decode(self, values: pa.Array) -> Decoded:
        """Read values."""
        return fitted(self._inner.decode(values), self.schema, wrapped=True)

    def encode(self, rows: pa.Table) -> pa.Array:
        """Write rows."""
        inner = self._inner
        own = {name: matched(name, self.schema.names) for name in inner.schema.names}
        columns = [
            pa.nulls(rows.num_rows, field.type)
            if (name := own[field.name]) is None
            else rows.column(name).cast(field.type)
            for field in to_arrow(inner.schema)
        ]
        return inner.encode(pa.table(columns, names=list(inner.schema.names)))

    @property
    def indexes(self) -> bytes:
        """Which message of its file it is, as it stands behind the id of a schema."""
        from penstock.schema.protobuf.codec import ProtobufCodec  # noqa: PLC0415  # large library
        from penstock.schema.protobuf.wire import indexes_of, write_indexes  # noqa: PLC0415

        inner = self._inner
        assert isinstance(inner, ProtobufCodec)
        return write_indexes(indexes_of(inner.message))

    @property
    def _inner(self) -> Codec:
        return _own(self.text)


@lru_cache(maxsize=256)
def _own(text: str) -> Codec:
    return codec_of(Format("protobuf", written=text), None)
