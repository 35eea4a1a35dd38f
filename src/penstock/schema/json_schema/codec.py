"""Values in JSON, each with the id of its JSON Schema before it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from typing_extensions import override

from penstock.errors import SchemaError, did_you_mean
from penstock.schema.codec.binary import Ints, one_array, valid_rows, without_rows
from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.options import check_options, flag
from penstock.schema.codec.port import Codec, Decoded
from penstock.schema.codec.schemas import Schemas
from penstock.schema.json_schema.columns import columns_of
from penstock.schema.json_schema.document import JsonSchemaDocument, json_schema_document
from penstock.schema.json_schema.nodes import Node, node_of
from penstock.schema.json_schema.omit import Omission, objects_of, omission_of
from penstock.schema.json_schema.place import Place
from penstock.schema.json_schema.validity import Validity
from penstock.schema.language import SchemaSource
from penstock.schema.schema import Schema
from penstock.schema.schema_id import (
    SchemasById,
    header_of,
    source_of,
    with_header,
    without_header,
)

_OPTIONS = ("timestamp", "validate")


def json_schema_codec(format: Format, schema: Schema | None, schemas: Schemas | None) -> Codec:  # noqa: A002
    """Give the codec of a subject, or of a schema that is written down (`written`).

    Without a subject the id before a value may be missing, and none is written. Values are
    checked against their schema only with `validate=true`, one by one.
    """
    check_options(format, _OPTIONS)
    validate = flag(format, "validate")
    if format.subject is not None and schemas is not None:
        last = schemas.version(format.subject)
        source = source_of(schemas, last.schema)
        header: bytes | None = header_of(last.id)
    elif format.written is not None:
        source, header = SchemaSource(format.written), None
    else:
        raise SchemaError(
            "FORMAT_SCHEMA",
            'format "json_schema" has neither a subject nor a schema',
            hint="Name the subject: json_schema(subject=orders-value).",
        )
    document = json_schema_document(source)
    columns = columns_of(document) if schema is None else schema
    wrapped = not _holds_objects(document.place)
    _refuse_unknown(document, columns)
    told = {name: value for name, value in format.options if name != "validate"}
    written_as = Format("json").with_options(**told)
    return JsonSchemaCodec(
        schema=columns,
        inner=codec_of(written_as, columns),
        source=source,
        header=header,
        by_id=None if schemas is None else SchemasById(schemas),
        validity=Validity() if validate else None,
        omission=None if wrapped else omission_of(document, columns, written_as),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonSchemaCodec(Codec):
    """Reads and writes JSON through its own codec; a root that is no object is one column."""

    schema: Schema
    inner: Codec
    source: SchemaSource
    header: bytes | None
    by_id: SchemasById | None
    validity: Validity | None
    omission: Omission | None

    @override
    def decode(self, values: pa.Array) -> Decoded:
        ids, bodies = without_header(one_array(values))
        failures = self._known(ids, bodies)
        if self.validity is not None:
            self._validated(ids, bodies, failures)
        if self.omission is None:
            bodies = _wrapped(bodies, failures)
        found = self.inner.decode(without_rows(bodies, failures))
        return Decoded(found.rows, {**found.failures, **failures})

    @override
    def encode(self, rows: pa.Table) -> pa.Array:
        rows = rows.select(self.schema.names)
        if self.omission is None:
            bodies = _unwrapped(self.inner.encode(rows))
        else:
            bodies = self.omission.encode(rows)
        if self.validity is not None:
            _refuse_invalid(self.validity, self.source, bodies)
        return bodies if self.header is None else with_header(self.header, bodies)

    def _known(self, ids: Ints, bodies: pa.Array) -> dict[int, str]:
        """Find values whose schema is not to be had, by place."""
        there = valid_rows(bodies)
        failures: dict[int, str] = {}
        if self.header is not None:
            bare = np.flatnonzero(there & (ids < 0))
            failures.update(dict.fromkeys(bare.tolist(), "it does not begin with a schema's id"))
        if self.by_id is not None:
            for schema_id in np.unique(ids[ids >= 0]).tolist():
                source = self.by_id.source(schema_id, "JSON")
                if isinstance(source, str):
                    places = np.flatnonzero(ids == schema_id).tolist()
                    failures.update(dict.fromkeys(places, source))
        return failures

    def _validated(self, ids: Ints, bodies: pa.Array, failures: dict[int, str]) -> None:
        assert self.validity is not None
        for place, (schema_id, body) in enumerate(
            zip(ids.tolist(), bodies.to_pylist(), strict=True)
        ):
            if body is None or place in failures:
                continue
            why = self.validity.objection(self._source(schema_id), body)
            if why:
                failures[place] = f"not valid at {why}"

    def _source(self, schema_id: int) -> SchemaSource:
        if schema_id < 0 or self.by_id is None:
            return self.source
        found = self.by_id.source(schema_id, "JSON")
        return self.source if isinstance(found, str) else found


def _holds_objects(part: Place | Node) -> bool:
    node = node_of(part)
    if node.kind in ("any", "one"):
        others = [one for one in node.parts if node_of(one).kind != "null"]
        return bool(others) and all(map(_holds_objects, others))
    return bool(objects_of(node))


def _refuse_unknown(document: JsonSchemaDocument, columns: Schema) -> None:
    root = node_of(document.place)
    if root.kind != "object" or root.said.get("additionalProperties") is not False:
        return
    known = root.place.each("properties")
    for name in columns.names:
        if name not in known and not root.place.each("patternProperties"):
            raise SchemaError(
                "FORMAT_SCHEMA",
                f'column "{name}" is no property of the JSON Schema, which allows no others',
                hint=did_you_mean(name, known) or f"Its properties: {', '.join(known)}.",
            )


def _wrapped(bodies: pa.Array, failures: dict[int, str]) -> pa.Array:
    """Make each value the one property of an object; it must be whole JSON to be one."""
    for place, body in enumerate(bodies.to_pylist()):
        if body is not None and place not in failures:
            try:
                orjson.loads(body)
            except ValueError as error:
                failures[place] = f"not JSON: {error}"
    start, end = (pa.scalar(text, pa.binary()) for text in (b'{"value":', b"}"))
    return pc.binary_join_element_wise(start, bodies, end, pa.scalar(b"", pa.binary()))


def _unwrapped(bodies: pa.Array) -> pa.Array:
    return pa.array([body[len(b'{"value":') : -1] for body in _values(bodies)], pa.binary())


def _values(bodies: pa.Array) -> Iterable[bytes]:
    found: list[bytes] = bodies.to_pylist()
    return found


def _refuse_invalid(validity: Validity, source: SchemaSource, bodies: pa.Array) -> None:
    for row, body in enumerate(_values(bodies)):
        why = validity.objection(source, body)
        if why:
            raise SchemaError(
                "VALUE_ENCODE",
                f"row {row} is not valid under its JSON Schema at {why}",
                hint="Correct the row before it is written, or the schema.",
            )
