"""Avro values with the id of their schema before each, as Confluent's clients write them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from typing_extensions import override

from penstock.errors import RegistryError, SchemaError
from penstock.schema.avro.codec_rows import Share, Target, Values, read_shares, target_of, values_of
from penstock.schema.avro.columns import avro_of, columns_of
from penstock.schema.avro.decode import Decoder
from penstock.schema.avro.decode_cursor import Ints
from penstock.schema.avro.encode import Encoder
from penstock.schema.avro.nodes import ABSENT, AvroSchema, Enum, Fixed, Record
from penstock.schema.avro.parse import parse_avro
from penstock.schema.codec.format import Format
from penstock.schema.codec.options import choice, flag
from penstock.schema.codec.port import Codec, Decoded
from penstock.schema.codec.schemas import Schemas, SchemaText, Version
from penstock.schema.schema import Schema
from penstock.schema.schema_id import HEADER, header_of, source_of

_NO_ID = "it does not begin with a schema's id"
_MISSING = ("SCHEMA_MISSING", "SUBJECT_MISSING", "VERSION_MISSING")


def registry_codec(format: Format, schema: Schema | None, schemas: Schemas | None) -> Codec:  # noqa: A002
    """Give the codec of a subject's values."""
    if schemas is None or format.subject is None:
        raise SchemaError(
            "FORMAT_SCHEMA",
            f'format "{format}" has a subject and no registry to find it in',
            hint="Give the registry, or the schema of the values instead of a subject.",
        )
    if schema is not None:
        target = Target(schema, None)
    elif format.written is not None:
        target = target_of(None, parse_avro(format.written))
    else:
        target = target_of(None, parsed_schema(schemas, schemas.version(format.subject).schema))
    return RegistryCodec(schema=target.schema, target=target, format=format, schemas=schemas)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryCodec(Codec):
    """Each schema is asked for once; an id that no schema has is a failure of its values."""

    schema: Schema
    target: Target
    format: Format
    schemas: Schemas
    known: dict[int, Decoder | str] = field(default_factory=dict)
    writing: list[tuple[bytes, Encoder]] = field(default_factory=list)

    @override
    def decode(self, values: pa.Array) -> Decoded:
        found = values_of(values)
        ids = _ids(found)
        shares: list[Share] = []
        failures = dict.fromkeys(found.rows[ids < 0].tolist(), _NO_ID)
        order = np.argsort(ids, kind="stable")
        known, begins = np.unique(ids[order], return_index=True)
        # Of no values at all numpy still gives one part, which is empty.
        parts = np.split(order, begins[1:]) if len(known) else []
        for schema_id, chosen in zip(known.tolist(), parts, strict=True):
            if schema_id >= 0:
                shares.append(found.share(self._decoder(schema_id), chosen, HEADER))
        return read_shares(shares, self.schema, len(found.array), failures)

    @override
    def encode(self, rows: pa.Table) -> pa.Array:
        if not self.writing:
            self.writing.append(self._write_with())
        head, encoder = self.writing[0]
        return encoder.encode(rows.select(self.schema.names), head)

    def _decoder(self, schema_id: int) -> Decoder | str:
        if schema_id in self.known:
            return self.known[schema_id]
        try:
            found = self.schemas.by_id(schema_id)
            if found.type != "AVRO":
                return f"schema {schema_id} is {found.type}, not AVRO"
            writer = parsed_schema(self.schemas, found)
        except RegistryError as error:
            # A registry that is out of reach is nothing that a value is to blame for.
            if error.code not in _MISSING:
                raise
            # It may be there the next time: what is missing is not remembered.
            return f"no schema has the id {schema_id}"
        except SchemaError as error:
            return f"schema {schema_id}: {error.fact}"
        self.known[schema_id] = self.target.decoder(writer)
        return self.known[schema_id]

    def _write_with(self) -> tuple[bytes, Encoder]:
        """Give the schema to write with: the named one, the last that fits, or the columns' own."""
        subject = self.format.subject
        assert subject is not None
        last = None if self.format.written is not None else self._last(subject)
        if last is not None:
            schema = parsed_schema(self.schemas, last.schema)
            if _fits(schema, self.schema):
                return header_of(last.id), Encoder(schema)
        text = self.format.written or avro_of(self.schema, self._name(subject, last))
        told = SchemaText(text)
        ask = self.schemas.register if self._registers else self.schemas.lookup
        version = ask(subject, told, normalize=flag(self.format, "normalize"))
        return header_of(version.id), Encoder(parsed_schema(self.schemas, told))

    @property
    def _registers(self) -> bool:
        return choice(self.format, "register", ("true", "false")) == "true"

    def _last(self, subject: str) -> Version | None:
        try:
            return self.schemas.version(subject)
        except RegistryError as error:
            if error.code not in _MISSING:
                raise
            return None

    def _name(self, subject: str, last: Version | None) -> str:
        """Give the name of the record: that of the last version, or of the subject's topic."""
        if last is not None:
            schema = parsed_schema(self.schemas, last.schema)
            root = schema.follow(schema.root)
            if isinstance(root, Record):
                return root.name
        plain = re.sub(r"\W+", "_", re.sub(r"-(key|value)$", "", subject), flags=re.ASCII).strip(
            "_"
        )
        return f"_{plain}" if not plain or plain[0].isdigit() else plain


def _ids(values: Values) -> Ints:
    """Read the id of each value; -1 where it has none."""
    there = values.end - values.at >= HEADER
    there[there] = values.data[values.at[there]] == 0
    places = values.at[there]
    found = np.zeros(len(places), np.int64)
    for byte in range(1, HEADER):
        found = (found << 8) | values.data[places + byte]
    ids = np.full(len(there), -1, np.int64)
    ids[there] = found
    return ids


def parsed_schema(schemas: Schemas, schema: SchemaText) -> AvroSchema:
    """Read a schema with the types of those it refers to."""
    source = source_of(schemas, schema)
    known: dict[str, Record | Enum | Fixed] = {}
    for _, text in source.references:
        known |= parse_avro(text, known).types
    return parse_avro(source.text, known)


def _fits(written: AvroSchema, columns: Schema) -> bool:
    """Whether columns can be written with a schema: each has its field, and no other is needed."""
    root = written.follow(written.root)
    kinds = {item.name: item for item in columns_of(written).fields}
    if any(item.name not in kinds or kinds[item.name].type != item.type for item in columns.fields):
        return False
    asked = {item.name for item in columns.fields}
    fields = root.fields if isinstance(root, Record) else ()
    return all(
        item.name in asked or item.default is not ABSENT or kinds[item.name].nullable
        for item in fields
    )
