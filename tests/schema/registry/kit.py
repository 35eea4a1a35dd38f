"""Registries in memory, and small schemas for them."""

from __future__ import annotations

import json
from typing import Any

from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.schema.codec.schemas import Reference, SchemaText
from penstock.schema.registry.registry import Registry


def a_registry(log: EmbeddedLog | None = None) -> Registry:
    return Registry(log or EmbeddedLog(MemoryStorage()))


def record(*fields: str, name: str = "Order", **defaults: object) -> SchemaText:
    """A record of strings, and of fields with defaults."""
    typed: list[dict[str, Any]] = [{"name": field, "type": "string"} for field in fields]
    typed += [
        {"name": field, "type": "string", "default": value} for field, value in defaults.items()
    ]
    return SchemaText(json.dumps({"type": "record", "name": name, "fields": typed}))


def naming(schema: object, *references: tuple[str, str, int]) -> SchemaText:
    """A schema that names types of other subjects."""
    return SchemaText(json.dumps(schema), "AVRO", tuple(Reference(*one) for one in references))
