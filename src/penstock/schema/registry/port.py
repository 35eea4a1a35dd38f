"""What every registry of schemas can do, the one in the log and one over HTTP alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from penstock.schema.codec.schemas import SchemaText, Version
from penstock.schema.registry.association import Asking, Association, Wish
from penstock.schema.registry.registered import Registered, Registration

Which: TypeAlias = Literal["live", "all", "deleted"]
Mode: TypeAlias = Literal["READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD"]

LEVEL_SETTING = "compatibilityLevel"
EVERY_CONTEXT = ":*:"


class SchemaRegistry(Protocol):
    """Subjects, versions and ids. It offers all that `Schemas` promises to codecs.

    A subject of None stands for all subjects where settings and modes are meant; a version of
    None is the last one that is not deleted.
    """

    def by_id(self, id: int) -> SchemaText:  # noqa: A002  # the word of every registry
        """Give a schema; `RegistryError("SCHEMA_MISSING")` where the id is not known."""
        ...

    def version(self, subject: str, version: int | None = None) -> Registered:
        """Give a version of a subject (`SUBJECT_MISSING`, `VERSION_MISSING`)."""
        ...

    def register(self, subject: str, schema: SchemaText, *, normalize: bool = False) -> Registered:
        """Give the version of a schema, registering it where it is new and compatible."""
        ...

    def lookup(self, subject: str, schema: SchemaText, *, normalize: bool = False) -> Registered:
        """Give the version a schema is registered as under a subject (`SCHEMA_MISSING`)."""
        ...

    def register_as(
        self, subject: str, wanted: Registration, *, normalize: bool = False
    ) -> Registered:
        """Register a schema with its metadata, rules, and in mode IMPORT its own id."""
        ...

    def find(
        self, subject: str, wanted: Registration, *, normalize: bool = False, deleted: bool = False
    ) -> Registered:
        """Give the version of a subject that has a content."""
        ...

    def version_of(
        self, subject: str, version: int | None = None, *, deleted: bool = False
    ) -> Registered:
        """Give a version of a subject; a deleted one only if asked for."""
        ...

    def versions(self, subject: str, which: Which = "live") -> list[Registered]:
        """Give the versions of a subject, the oldest first."""
        ...

    def subjects(self, which: Which = "live", *, prefix: str = EVERY_CONTEXT) -> list[str]:
        """Give the names of subjects, sorted; one is deleted when all its versions are."""
        ...

    def schemas(
        self, which: Which = "live", *, prefix: str = EVERY_CONTEXT, latest_only: bool = False
    ) -> list[Registered]:
        """Give all versions of all subjects, or the last one of each."""
        ...

    def registered_with_id(self, schema_id: int, *, subject: str | None = None) -> Registered:
        """Give a version that has an id, if possible one of the subject."""
        ...

    def all_with_id(
        self, schema_id: int, *, subject: str | None = None, which: Which = "live"
    ) -> list[Registered]:
        """Give all versions that have an id; the subject tells only the context."""
        ...

    def all_with_guid(self, guid: str) -> list[Registered]:
        """Give all versions of a content."""
        ...

    def with_metadata(
        self, subject: str, properties: Mapping[str, str], *, deleted: bool = False
    ) -> Registered:
        """Give the last version whose metadata has these properties."""
        ...

    def referring(
        self, subject: str, version: int | None = None, *, deleted: bool = False
    ) -> list[int]:
        """Give the ids of the schemas that refer to a version."""
        ...

    def formatted(self, registered: Registered, form: str = "") -> str:
        """Give the text of a schema in a form its language knows."""
        ...

    def objections(
        self,
        subject: str,
        wanted: Registration,
        *,
        against: Sequence[Version] | None = None,
        normalize: bool = False,
    ) -> tuple[str, ...]:
        """Say what speaks against a schema: after all versions, or only those given."""
        ...

    def delete_version(
        self, subject: str, version: int | None = None, *, permanent: bool = False
    ) -> int:
        """Delete a version for now or (then) permanently; give its number."""
        ...

    def delete_subject(self, subject: str, *, permanent: bool = False) -> list[int]:
        """Delete all versions of a subject for now or (then) permanently; give their numbers."""
        ...

    def settings(self, subject: str | None = None, *, in_force: bool = False) -> Mapping[str, Any]:
        """Give what is set for a subject, or what is in force for it; always so for all."""
        ...

    def set_settings(self, subject: str | None, changes: Mapping[str, Any]) -> None:
        """Change settings; what is not mentioned stays, and null takes away."""
        ...

    def delete_settings(self, subject: str | None = None) -> Mapping[str, Any]:
        """Take away what is set; give what it was."""
        ...

    def set_level(self, subject: str | None, level: str) -> None:
        """Set the compatibility level."""
        ...

    def mode(self, subject: str | None = None, *, in_force: bool = False) -> Mode:
        """Give the mode set for a subject, or the one in force for it; always so for all."""
        ...

    def set_mode(self, subject: str | None, mode: str | None, *, force: bool = False) -> None:
        """Set the mode; None takes it away."""
        ...

    def delete_mode(self, subject: str | None = None) -> Mode:
        """Take the mode away; give what it was."""
        ...

    def associate(self, wishes: Sequence[Wish]) -> list[Association]:
        """Associate subjects with resources, registering what schemas come along."""
        ...

    def associations(self, asking: Asking) -> list[Association]:
        """Give the associations somebody asks for."""
        ...

    def dissociate(self, asking: Asking, *, with_subjects: bool = False) -> None:
        """End associations; the subjects of those that are STRONG go too, if asked for."""
        ...

    def contexts(self) -> list[str]:
        """Give the contexts, the default one (`.`) first."""
        ...

    def last_id(self, context: str) -> int:
        """Give the highest id that a context has given; 0 before the first."""
        ...

    def close(self) -> None:
        """Let go of what was opened for it; a log that was given stays open."""
        ...
