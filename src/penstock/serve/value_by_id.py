"""Values that begin with the id of a schema, each read with that schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from typing_extensions import override

from penstock.errors import PenstockError, RegistryError
from penstock.log.rows import binary_array
from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.port import Codec
from penstock.schema.codec.schemas import Schemas, SchemaText, Version
from penstock.schema.schema_id import HEADER

_MAGIC = 0
_FORMATS = {"AVRO": "avro", "JSON": "json_schema", "PROTOBUF": "protobuf"}
_GONE = ("SCHEMA_MISSING", "SUBJECT_MISSING", "VERSION_MISSING")


@dataclass(frozen=True, slots=True)
class ValuesById:
    """Reads what begins with an id that the registry knows; the rest is left to others."""

    registry: Schemas
    known: dict[int, Codec] = field(default_factory=dict)

    def read(self, contents: Sequence[bytes | None], problems: dict[int, str]) -> dict[int, Any]:
        """Give values by place, and tell why one of a known schema cannot be read."""
        places: dict[int, list[int]] = {}
        for place, content in enumerate(contents):
            if content is not None and len(content) >= HEADER and content[0] == _MAGIC:
                places.setdefault(int.from_bytes(content[1:HEADER], "big"), []).append(place)
        values: dict[int, Any] = {}
        for schema_id, found in places.items():
            codec = self._codec(schema_id, found, problems)
            if codec is not None:
                array = binary_array([contents[place] for place in found])
                values.update(_decoded(codec, array, found, problems))
        return values

    def _codec(
        self, schema_id: int, places: Sequence[int], problems: dict[int, str]
    ) -> Codec | None:
        if schema_id in self.known:
            return self.known[schema_id]
        try:
            found = self.registry.by_id(schema_id)
            told = Format(_FORMATS[found.type], subject="by id")
            codec = codec_of(told, None, _OneSchema(self.registry, schema_id, found))
        except RegistryError as error:
            if error.code not in _GONE:
                raise
            # A zero byte may be the first of anything: no schema, no problem.
            return None
        except PenstockError as error:
            problems.update(dict.fromkeys(places, error.fact))
            return None
        self.known[schema_id] = codec
        return codec


def _decoded(
    codec: Codec, array: pa.Array, places: Sequence[int], problems: dict[int, str]
) -> dict[int, Any]:
    read = codec.decode(array)
    problems.update({places[at]: reason for at, reason in read.failures.items()})
    rows = read.rows.to_pylist()
    return {place: rows[at] for at, place in enumerate(places) if at not in read.failures}


@dataclass(frozen=True, slots=True)
class _OneSchema(Schemas):
    """A registry whose last version is always one schema, so that its columns are the codec's."""

    registry: Schemas
    schema_id: int
    schema: SchemaText

    @override
    def by_id(self, id: int) -> SchemaText:
        return self.registry.by_id(id)

    @override
    def version(self, subject: str, version: int | None = None) -> Version:
        if version is None:
            return Version(subject, 1, self.schema_id, self.schema)
        return self.registry.version(subject, version)

    @override
    def register(self, subject: str, schema: SchemaText, *, normalize: bool = False) -> Version:
        return self.registry.register(subject, schema, normalize=normalize)

    @override
    def lookup(self, subject: str, schema: SchemaText, *, normalize: bool = False) -> Version:
        return self.registry.lookup(subject, schema, normalize=normalize)
