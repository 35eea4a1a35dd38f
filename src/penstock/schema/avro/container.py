"""Object container files: a schema, and blocks of values of it."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any, BinaryIO

from penstock.errors import SchemaError
from penstock.schema.avro.binary import ByteReader, long_bytes
from penstock.schema.avro.compression import (
    MOST_BLOCK,
    Compression,
    compression,
    container_refused,
    expanded,
)
from penstock.schema.avro.datum_read import DatumReader
from penstock.schema.avro.datum_write import DatumWriter
from penstock.schema.avro.nodes import AvroSchema
from penstock.schema.avro.parse import parse_avro
from penstock.schema.avro.text import schema_text

MAGIC = b"Obj\x01"
SYNC_SIZE = 16
BLOCK_SIZE = 64_000

_META = parse_avro({"type": "map", "values": "bytes"})
_LONGEST_NUMBER = 10
_MORE = 0x80


class ContainerWriter:
    """Writes values of one schema into a file, a block at a time; close it to have the last."""

    def __init__(
        self,
        out: BinaryIO,
        schema: AvroSchema,
        *,
        codec: str = "null",
        sync: bytes | None = None,
        metadata: Mapping[str, bytes] | None = None,
    ) -> None:
        self._out = out
        self._writer = DatumWriter(schema)
        self._compression = compression(codec)
        self._sync = secrets.token_bytes(SYNC_SIZE) if sync is None else sync
        self._block = bytearray()
        self._count = 0
        meta = {"avro.schema": schema_text(schema).encode(), "avro.codec": codec.encode()}
        self._out.write(MAGIC)
        self._out.write(DatumWriter(_META).encode({**(metadata or {}), **meta}))
        self._out.write(self._sync)

    def append(self, value: object) -> None:
        """Add a value; one that does not fit raises `VALUE_ENCODE` and leaves the file as it is."""
        self._block += self._writer.encode(value)
        self._count += 1
        if len(self._block) >= BLOCK_SIZE:
            self.flush()

    def flush(self) -> None:
        """Write the values so far as a block."""
        if self._count:
            data = self._compression.compress(bytes(self._block))
            self._out.write(long_bytes(self._count) + long_bytes(len(data)) + data + self._sync)
        self._block.clear()
        self._count = 0


def container_bytes(
    schema: AvroSchema, values: Iterable[object], *, codec: str = "null", sync: bytes | None = None
) -> bytes:
    """Give values as the bytes of a container file."""
    out = BytesIO()
    writer = ContainerWriter(out, schema, codec=codec, sync=sync)
    for value in values:
        writer.append(value)
    writer.flush()
    return out.getvalue()


def steady_sync(schema: AvroSchema) -> bytes:
    """Give a marker that a schema always has, so that equal values are equal bytes."""
    return hashlib.md5(schema_text(schema).encode(), usedforsecurity=False).digest()


@dataclass(frozen=True, slots=True)
class Header:
    """The beginning of a container file: the text of its schema, and what else it says."""

    text: str
    codec: str
    sync: bytes
    metadata: Mapping[str, bytes]


class ContainerReader:
    """Reads a container file; `schema` is the writer's."""

    def __init__(self, source: BinaryIO | bytes, reader: AvroSchema | None = None) -> None:
        self._source = BytesIO(source) if isinstance(source, bytes) else source
        self.header = _read_header(self._source)
        self.schema = parse_avro(self.header.text)
        self._compression: Compression = compression(self.header.codec)
        self._reader = DatumReader.of(self.schema, reader)

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """Give each block: how many values, and their bytes."""
        while (count := _read_number(self._source)) is not None:
            size = _read_number(self._source)
            if size is None or not 0 <= size <= MOST_BLOCK or count < 0:
                raise container_refused(f"a block says to have {count} values in {size} bytes")
            data = _read_exactly(self._source, size)
            if _read_exactly(self._source, SYNC_SIZE) != self.header.sync:
                raise container_refused("a block does not end with the file's marker")
            yield count, expanded(data, self._compression)

    def __iter__(self) -> Iterator[Any]:
        """Give the values in order."""
        for count, data in self.blocks():
            source = ByteReader(data)
            source.charge(count)
            for _ in range(count):
                yield self._reader.read(source)
            source.end()


def _read_header(source: BinaryIO) -> Header:
    if source.read(len(MAGIC)) != MAGIC:
        raise container_refused(
            "it does not begin as one", "Give a file that an Avro writer made, with its schema."
        )
    metadata = _read_metadata(source)
    if "avro.schema" not in metadata:
        raise container_refused("it does not say its schema")
    try:
        text = metadata["avro.schema"].decode()
        codec = metadata.get("avro.codec", b"null").decode()
    except UnicodeDecodeError:
        raise container_refused("its schema is no text") from None
    return Header(text, codec, _read_exactly(source, SYNC_SIZE), metadata)


def _read_metadata(source: BinaryIO) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    while count := _read_number(source):
        if count < 0:
            count = -count
            _read_number(source)
        for _ in range(count):
            key = _read_sized(source)
            found[key.decode(errors="replace")] = _read_sized(source)
    return found


def _read_sized(source: BinaryIO) -> bytes:
    size = _read_number(source)
    if size is None or not 0 <= size <= MOST_BLOCK:
        raise container_refused(f"a part of its beginning says to have {size} bytes")
    return _read_exactly(source, size)


def _read_exactly(source: BinaryIO, size: int) -> bytes:
    data = source.read(size)
    if len(data) != size:
        raise container_refused("it ends too early")
    return data


def _read_number(source: BinaryIO) -> int | None:
    """Read a whole number; none where the file ends before it."""
    data = source.read(1)
    if not data:
        return None
    while data[-1] >= _MORE and len(data) < _LONGEST_NUMBER:
        data += _read_exactly(source, 1)
    try:
        return ByteReader(data).read_long()
    except SchemaError as error:
        raise container_refused(error.fact) from None
