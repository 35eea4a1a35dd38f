"""A schema under a subject with all that a registry keeps about it."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from penstock.schema.codec.schemas import Reference, SchemaText, SchemaType, Version

Document: TypeAlias = Mapping[str, Any]
"""Something JSON says, kept as it came: metadata, or a set of rules."""


@dataclass(frozen=True, slots=True)
class Registered(Version):
    """A version with its metadata and rules; `guid` is the same for the same content."""

    guid: str = ""
    metadata: Document | None = None
    rules: Document | None = None
    deleted: bool = False
    registered_at: int = 0


@dataclass(frozen=True, slots=True)
class Registration:
    """What somebody wants to register; without `id` and `version` the registry gives them."""

    text: str
    type: SchemaType = "AVRO"
    references: tuple[Reference, ...] = ()
    metadata: Document | None = None
    rules: Document | None = None
    id: int | None = None
    version: int | None = None

    @property
    def schema(self) -> SchemaText:
        """The schema alone."""
        return SchemaText(self.text, self.type, self.references)

    @property
    def exact(self) -> bool:
        """Whether it is to be one version and no other."""
        return self.version is not None and self.version > 0


def said(document: Document | None) -> Document | None:
    """Leave out of a document what it says nothing about; None where nothing is left."""
    if document is None:
        return None
    kept = {name: value for name, value in document.items() if value not in (None, {}, [])}
    return kept or None


def guid_of(schema: SchemaText, metadata: Document | None, rules: Document | None) -> str:
    """Give the name of a content: the same text, references, metadata and rules, the same guid."""
    content = [
        schema.type,
        schema.text,
        [[one.name, one.subject, one.version] for one in schema.references],
        said(metadata),
        said(rules),
    ]
    written = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(written.encode()).digest()
    return str(uuid.UUID(bytes=digest[:16]))
