"""The schema languages by name; each is loaded when it is first needed."""

from __future__ import annotations

from typing import get_args

from penstock.schema.codec.schemas import SchemaType
from penstock.schema.language import Language
from penstock.schema.registry.refusals import no_schema_text

SCHEMA_TYPES: tuple[SchemaType, ...] = get_args(SchemaType)


def language_named(name: str) -> Language:
    """Give a language."""
    # Not at the top: who reads Avro needs neither JSON Schema nor Protobuf.
    match name:
        case "AVRO":
            from penstock.schema.registry.avro_language import AVRO  # noqa: PLC0415

            return AVRO
        case "JSON":
            from penstock.schema.json_schema.language import JSON_SCHEMA  # noqa: PLC0415

            return JSON_SCHEMA
        case "PROTOBUF":
            from penstock.schema.protobuf.language import PROTOBUF  # noqa: PLC0415

            return PROTOBUF
        case _:
            pass
    raise no_schema_text(f'schema type "{name}" is none of {", ".join(SCHEMA_TYPES)}')
