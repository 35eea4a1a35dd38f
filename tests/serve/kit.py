"""A registry served over HTTP, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import httpx
from confluent_kafka.schema_registry import SchemaRegistryClient

from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.schema.registry.registry import Registry
from penstock.serve.registry.api import registry_app
from penstock.serve.server import HttpServer


class Served(NamedTuple):
    """A registry, and two who talk to it."""

    registry: Registry
    http: httpx.Client
    client: SchemaRegistryClient


@contextmanager
def served() -> Iterator[Served]:
    """Serve a new registry for the length of a with block."""
    with EmbeddedLog(MemoryStorage()) as log:
        registry = Registry(log)
        with (
            HttpServer(registry_app(registry)) as server,
            httpx.Client(base_url=server.url) as http,
            SchemaRegistryClient({"url": server.url}) as client,
        ):
            yield Served(registry, http, client)
        registry.close()
