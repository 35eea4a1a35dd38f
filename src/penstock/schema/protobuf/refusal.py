"""How a Protobuf schema that cannot be used is refused."""

from __future__ import annotations

from penstock.errors import SchemaError


def refused(why: str, hint: str = "") -> SchemaError:
    """Make the error of a text that is no Protobuf schema."""
    return SchemaError(
        "SCHEMA_TEXT",
        f"the text is no Protobuf schema: {why}",
        hint=hint or 'Write it as: syntax = "proto3"; message User { string name = 1; }',
    )
