"""Where the schemas of a key or a value are registered."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import RegistryError
from penstock.schema.codec.schemas import Schemas, SchemaText, Version

REGISTERED = ("AVRO", "JSON_SR", "PROTOBUF")
"""The formats whose values begin with the id of a schema."""
_MISSING = ("SUBJECT_MISSING", "VERSION_MISSING", "SCHEMA_MISSING")


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject of a registry.

    `schema_id` names the schema to write with, in place of one made of the columns; `full_name`
    is that of the record or message.
    """

    name: str
    schemas: Schemas
    schema_id: int | None = None
    full_name: str = ""

    def last(self) -> Version | None:
        """Give the last version; none where nothing is registered."""
        try:
            return self.schemas.version(self.name)
        except RegistryError as error:
            if error.code not in _MISSING:
                raise
            return None

    def told(self) -> SchemaText | None:
        """Give the schema that tells the columns: the one that is named, or the last."""
        if self.schema_id is not None:
            return self.schemas.by_id(self.schema_id)
        last = self.last()
        return None if last is None else last.schema

    def written_with(self, schema: SchemaText) -> int:
        """Give the id to write with; a schema that is new is registered, if it may be."""
        if self.schema_id is not None:
            return self.schema_id
        return self.schemas.register(self.name, schema).id
