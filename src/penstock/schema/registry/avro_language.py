"""Avro as a language of the registry."""

from __future__ import annotations

import json
from functools import lru_cache

from penstock.schema.avro.compatibility import incompatibilities
from penstock.schema.avro.nodes import AvroSchema, Enum, Fixed, Record
from penstock.schema.avro.parse import parse_avro
from penstock.schema.codec.schemas import SchemaType
from penstock.schema.language import SchemaSource
from penstock.schema.registry.avro_text import AvroWriter, definitions


class AvroLanguage:
    """What the registry asks, answered by the rules of Avro."""

    @property
    def type(self) -> SchemaType:
        """The name of the language in the registry."""
        return "AVRO"

    def canonical(self, source: SchemaSource) -> str:
        """Give the text a registry keeps: schemas that differ in white space only are one."""
        parsed(source)
        return AvroWriter().text(json.loads(source.text))

    def normalized(self, source: SchemaSource) -> str:
        """Give the text with what was added in the order of its names."""
        parsed(source)
        return AvroWriter(sort=True).text(json.loads(source.text))

    def formatted(self, source: SchemaSource, form: str) -> str:
        """Give the text as a reader asks for it; `resolved` has its references in line."""
        parsed(source)
        if form != "resolved":
            return self.canonical(source)
        known: dict[str, object] = {}
        for _, text in source.references:
            known |= definitions(json.loads(text))
        return AvroWriter(known).text(json.loads(source.text))

    def incompatibilities(self, reader: SchemaSource, writer: SchemaSource) -> tuple[str, ...]:
        """Say why data of a writer cannot be read with a reader's schema; () if it can."""
        return tuple(
            f"{{errorType: '{one.reason.upper()}', description: '{one.sentence}', "
            f"location: '{one.location}', additionalInfo: '{one.detail}'}}"
            for one in incompatibilities(parsed(reader), parsed(writer))
        )


@lru_cache(maxsize=1024)
def parsed(source: SchemaSource) -> AvroSchema:
    """Read a schema with the types of its references."""
    known: dict[str, Record | Enum | Fixed] = {}
    for _, text in source.references:
        known |= parse_avro(text, known).types
    return parse_avro(source.text, known)


AVRO = AvroLanguage()
