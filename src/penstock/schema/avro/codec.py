"""The codec of Avro: plain values, or each with its schema's id, fingerprint, or whole text."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from typing_extensions import override

from penstock.errors import SchemaError
from penstock.schema.avro.codec_registry import registry_codec
from penstock.schema.avro.codec_rows import Target, read_shares, target_of, values_of
from penstock.schema.avro.columns import avro_of
from penstock.schema.avro.container import steady_sync
from penstock.schema.avro.decode import Decoder
from penstock.schema.avro.decode_embedded import Bodies, split_messages
from penstock.schema.avro.embedded import embed
from penstock.schema.avro.encode import Encoder
from penstock.schema.avro.encode_segments import Long, constant, joined, number
from penstock.schema.avro.nodes import AvroSchema
from penstock.schema.avro.parse import parse_avro
from penstock.schema.avro.single_object import HEAD_SIZE, MARKER
from penstock.schema.avro.text import fingerprint
from penstock.schema.codec.format import Format
from penstock.schema.codec.options import check_options, choice
from penstock.schema.codec.port import Codec, Decoded
from penstock.schema.codec.schemas import Schemas
from penstock.schema.schema import Schema

_OPTIONS = ("encoding", "normalize", "register")
_ENCODINGS = ("datum", "single_object", "embedded")
_ROW = "Row"


def avro_codec(format: Format, schema: Schema | None, schemas: Schemas | None) -> Codec:  # noqa: A002
    """Give the codec of Avro values.

    With a subject each value has the id of its schema before it. Else they are written with the
    schema `written`: plain values, or as `encoding` says with its fingerprint before each
    (`single_object`) or as a small container file each (`embedded`). The columns are those asked
    for, or those of the schema.
    """
    check_options(format, _OPTIONS)
    encoding = choice(format, "encoding", _ENCODINGS)
    if format.subject is not None and encoding == "datum":
        return registry_codec(format, schema, schemas)
    if encoding == "embedded" and format.written is None and schema is not None:
        own = parse_avro(avro_of(schema, _ROW))
        return EmbeddedCodec(schema=schema, target=target_of(schema, own), writer=own)
    if format.written is None:
        raise SchemaError(
            "FORMAT_SCHEMA",
            'format "avro" has neither a subject nor a schema',
            hint="Name the subject, avro(subject=orders-value), or give the schema of the values.",
        )
    writer = parse_avro(format.written)
    target = target_of(schema, writer)
    if encoding == "embedded":
        return EmbeddedCodec(schema=target.schema, target=target, writer=writer)
    head = MARKER + fingerprint(writer) if encoding == "single_object" else b""
    return PlainCodec(
        schema=target.schema, decoder=_decoder(target, writer), writer=writer, head=head
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainCodec(Codec):
    """Values of one schema, after the same few bytes each."""

    schema: Schema
    decoder: Decoder
    writer: AvroSchema
    head: bytes

    @override
    def decode(self, values: pa.Array) -> Decoded:
        found = values_of(values)
        chosen, failures = np.arange(len(found.rows)), dict[int, str]()
        if self.head:
            there = found.end - found.at >= HEAD_SIZE
            for place, byte in enumerate(self.head):
                there[there] = found.data[found.at[there] + place] == byte
            reason = f"it does not begin with {self.head.hex(' ')}, its schema's fingerprint"
            failures = dict.fromkeys(found.rows[~there].tolist(), reason)
            chosen = np.flatnonzero(there)
        share = found.share(self.decoder, chosen, len(self.head))
        return read_shares([share], self.schema, len(found.array), failures)

    @override
    def encode(self, rows: pa.Table) -> pa.Array:
        # Made here, since a schema may be read in part that cannot be written.
        return Encoder(self.writer).encode(rows.select(self.schema.names), self.head)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedCodec(Codec):
    """Values that carry their schema; they are read by it, and written with ours."""

    schema: Schema
    target: Target
    writer: AvroSchema
    known: dict[str, Decoder | str] = field(default_factory=dict)

    @override
    def decode(self, values: pa.Array) -> Decoded:
        found = values_of(values)
        bodies, failures = split_messages(found.array, found.rows)
        shares = [body.share(self._decoder(body)) for body in bodies]
        return read_shares(shares, self.schema, len(found.array), failures)

    @override
    def encode(self, rows: pa.Table) -> pa.Array:
        bodies = Encoder(self.writer).encode(rows.select(self.schema.names))
        count = len(bodies)
        lengths = np.diff(values_of(bodies).end, prepend=0)
        begin = constant(embed(self.writer) + b"\x02", count)
        end = constant(steady_sync(self.writer), count)
        return joined([*begin, *number(lengths), Long(bodies), *end], count)

    def _decoder(self, body: Bodies) -> Decoder | str:
        if body.text not in self.known:
            self.known[body.text] = self.target.decoder(parse_avro(body.text))
        return self.known[body.text]


def _decoder(target: Target, writer: AvroSchema) -> Decoder:
    """Give what reads a writer's values; that there is none is told at once."""
    found = target.decoder(writer)
    if isinstance(found, str):
        raise SchemaError(
            "FORMAT_SCHEMA",
            f'format "avro" cannot give its columns: {found}',
            hint="Declare the columns to read, or give a schema that has columns.",
        )
    return found
