"""How a JSON Schema that cannot be used is refused."""

from __future__ import annotations

from penstock.errors import SchemaError


def refused(why: str, hint: str = "") -> SchemaError:
    """Make the error of a text that is no JSON Schema."""
    return SchemaError(
        "SCHEMA_TEXT",
        f"the text is no JSON Schema: {why}",
        hint=hint or 'Write it as: {"type": "object", "properties": {"name": {"type": "string"}}}',
    )
