"""What codecs ask of a registry, said by what every registry can do."""

from __future__ import annotations

from abc import ABC, abstractmethod

from penstock.schema.codec.schemas import SchemaText
from penstock.schema.registry.registered import Registered, Registration


class CodecQuestions(ABC):
    """The questions of codecs: schemas by subject, without metadata, rules and deletions."""

    def version(self, subject: str, version: int | None = None) -> Registered:
        """Give a version of a subject, the last one by default."""
        return self.version_of(subject, version)

    def register(self, subject: str, schema: SchemaText, *, normalize: bool = False) -> Registered:
        """Give the version of a schema, registering it where it is new and compatible."""
        wanted = Registration(schema.text, schema.type, schema.references)
        return self.register_as(subject, wanted, normalize=normalize)

    def lookup(self, subject: str, schema: SchemaText, *, normalize: bool = False) -> Registered:
        """Give the version a schema is registered as under a subject."""
        wanted = Registration(schema.text, schema.type, schema.references)
        return self.find(subject, wanted, normalize=normalize)

    @abstractmethod
    def version_of(
        self, subject: str, version: int | None = None, *, deleted: bool = False
    ) -> Registered:
        """Give a version of a subject; a deleted one only if asked for."""

    @abstractmethod
    def register_as(
        self, subject: str, wanted: Registration, *, normalize: bool = False
    ) -> Registered:
        """Register a schema with its metadata, rules, and in mode IMPORT its own id."""

    @abstractmethod
    def find(
        self, subject: str, wanted: Registration, *, normalize: bool = False, deleted: bool = False
    ) -> Registered:
        """Give the version of a subject that has a content."""
