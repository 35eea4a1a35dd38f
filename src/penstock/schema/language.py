"""What the registry asks of a schema language: Avro, JSON Schema and Protobuf answer alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from penstock.schema.codec.schemas import SchemaType


@dataclass(frozen=True, slots=True)
class SchemaSource:
    """The text of a schema, and the texts of what it refers to.

    `references` are (name, text), each once and after those it needs itself. It is a plain value
    with a hash, so a language may keep what it has parsed.
    """

    text: str
    references: tuple[tuple[str, str], ...] = ()


class Language(Protocol):
    """The rules of one schema language; no method remembers or writes anything.

    A text that is not a schema of the language (or names something that is neither in it nor in
    its references) raises `SchemaError("SCHEMA_TEXT")` from every method, with the place.
    """

    @property
    def type(self) -> SchemaType:
        """The name of the language in the registry."""
        ...

    def canonical(self, source: SchemaSource) -> str:
        """Give the text a registry keeps: schemas that differ in white space only are one."""
        ...

    def normalized(self, source: SchemaSource) -> str:
        """Give the text of the schema in one agreed order, for who asks to `normalize`."""
        ...

    def formatted(self, source: SchemaSource, form: str) -> str:
        """Give the text as a reader asks for it.

        Forms: Avro `resolved` (references in line); Protobuf `serialized` (base64 of the file
        descriptor) and `ignore_extensions`. Any other form, and "", is the canonical text.
        """
        ...

    def incompatibilities(self, reader: SchemaSource, writer: SchemaSource) -> tuple[str, ...]:
        """Say in words why data of a writer cannot be read with a reader's schema; () if it can.

        Levels are the registry's business: BACKWARD asks with the new schema as the reader,
        FORWARD with the new one as the writer, FULL both.
        """
        ...
