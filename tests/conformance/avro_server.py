"""A registry served over HTTP for the facts about its REST API, and how they are put to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import httpx

from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.schema.registry.level import level_named
from penstock.schema.registry.port import SchemaRegistry
from penstock.schema.registry.registry import Registry
from penstock.serve.registry.api import registry_app
from penstock.serve.server import HttpServer

CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"


@contextmanager
def served(level: str = "BACKWARD") -> Iterator[httpx.Client]:
    """Give a client of a new and empty registry."""
    with EmbeddedLog(MemoryStorage()) as log:
        registry = Registry(log, default_level=level_named(level))
        with serving(registry) as client:
            yield client
        registry.close()


@contextmanager
def serving(registry: SchemaRegistry) -> Iterator[httpx.Client]:
    """Give a client of a registry."""
    headers = {"Content-Type": CONTENT_TYPE}
    with (
        HttpServer(registry_app(registry)) as server,
        httpx.Client(base_url=server.url, headers=headers) as client,
    ):
        yield client


def word(text: object) -> str:
    """Write a part of a path."""
    return quote(str(text), safe="")


def record(*fields: str, **defaults: object) -> dict[str, Any]:
    """An Avro record of strings, and of fields with defaults."""
    typed: list[dict[str, Any]] = [{"name": name, "type": "string"} for name in fields]
    typed += [
        {"name": name, "type": "string", "default": value} for name, value in defaults.items()
    ]
    return {"type": "record", "name": "myrecord", "fields": typed}


def body(schema: object, **more: object) -> dict[str, Any]:
    """Write the body that registers a schema."""
    return {"schema": schema if isinstance(schema, str) else json.dumps(schema), **more}
