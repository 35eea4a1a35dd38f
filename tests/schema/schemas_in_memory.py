"""What codecs ask of a registry, answered from a dictionary."""

from __future__ import annotations

from penstock.errors import RegistryError
from penstock.schema.codec.schemas import Reference, SchemaText, SchemaType, Version


class SchemasInMemory:
    """Holds schemas in order of their ids, without any rule about them."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self._versions: dict[str, list[Version]] = {}
        self._by_id: dict[int, SchemaText] = {}

    def add(
        self,
        subject: str,
        text: str,
        type_: SchemaType = "AVRO",
        references: tuple[Reference, ...] = (),
    ) -> Version:
        schema = SchemaText(text, type_, references)
        held = self._versions.setdefault(subject, [])
        held.append(Version(subject, len(held) + 1, len(self._by_id) + 1, schema))
        self._by_id[held[-1].id] = schema
        return held[-1]

    def by_id(self, id: int) -> SchemaText:  # noqa: A002
        self.asked.append(id)
        if id not in self._by_id:
            raise RegistryError("SCHEMA_MISSING", f"schema {id} is not registered")
        return self._by_id[id]

    def version(self, subject: str, version: int | None = None) -> Version:
        if subject not in self._versions:
            raise RegistryError("SUBJECT_MISSING", f'subject "{subject}" does not exist')
        held = self._versions[subject]
        return held[-1 if version is None else version - 1]

    def register(self, subject: str, schema: SchemaText, *, normalize: bool = False) -> Version:  # noqa: ARG002
        return self.add(subject, schema.text, schema.type, schema.references)

    def lookup(self, subject: str, schema: SchemaText, *, normalize: bool = False) -> Version:  # noqa: ARG002
        return next(one for one in self._versions[subject] if one.schema == schema)
