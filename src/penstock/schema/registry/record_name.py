"""The names of the records a schema describes, by which naming strategies call their subjects."""

from __future__ import annotations

import json
import re

from penstock.schema.codec.schemas import SchemaText
from penstock.schema.registry.avro_text import full_name

_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
_MESSAGE = re.compile(r"^message\s+(\w+)", re.MULTILINE)


def record_names(schema: SchemaText) -> frozenset[str]:
    """Give the names of a schema as it was registered: Protobuf has one for each outer message."""
    match schema.type:
        case "AVRO":
            found = json.loads(schema.text)
            return frozenset({full_name(found, "")} if _is_named(found) else ())
        case "JSON":
            title = json.loads(schema.text)
            title = title.get("title") if isinstance(title, dict) else None
            return frozenset({title} if isinstance(title, str) else ())
        case "PROTOBUF":
            package = _PACKAGE.search(schema.text)
            prefix = "" if package is None else f"{package[1]}."
            return frozenset(f"{prefix}{name}" for name in _MESSAGE.findall(schema.text))


def _is_named(found: object) -> bool:
    return isinstance(found, dict) and isinstance(found.get("name"), str)
