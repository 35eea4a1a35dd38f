"""Where codecs find schemas by id and by subject: what a registry offers to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

SchemaType: TypeAlias = Literal["AVRO", "JSON", "PROTOBUF"]


@dataclass(frozen=True, slots=True)
class Reference:
    """A schema that another one names: by which name, and where it is registered."""

    name: str
    subject: str
    version: int


@dataclass(frozen=True, slots=True)
class SchemaText:
    """A schema as it was registered: its language, its text, and what it refers to."""

    text: str
    type: SchemaType = "AVRO"
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True)
class Version:
    """A schema under a subject."""

    subject: str
    version: int
    id: int
    schema: SchemaText


class Schemas(Protocol):
    """What codecs ask of a registry; the embedded one and one over HTTP answer alike."""

    def by_id(self, id: int) -> SchemaText:  # noqa: A002  # the word of every registry
        """Give a schema; `RegistryError("SCHEMA_MISSING")` where the id is unknown."""
        ...

    def version(self, subject: str, version: int | None = None) -> Version:
        """Give a version of a subject, the last one by default (`SUBJECT_MISSING`)."""
        ...

    def register(self, subject: str, schema: SchemaText, *, normalize: bool = False) -> Version:
        """Give the version of a schema, registering it where it is new and compatible."""
        ...

    def lookup(self, subject: str, schema: SchemaText, *, normalize: bool = False) -> Version:
        """Give the version a schema is registered as under a subject (`SCHEMA_MISSING`)."""
        ...
