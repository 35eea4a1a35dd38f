"""Codecs for a process that works on many pieces: each is made once."""

from __future__ import annotations

from collections.abc import Callable

from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.port import Codec
from penstock.schema.codec.schemas import Schemas
from penstock.schema.schema import Schema


class CodecCache:
    """Makes codecs; a registry is opened with the first format that has a subject."""

    def __init__(self, open_schemas: Callable[[], Schemas | None] = lambda: None) -> None:
        self._open = open_schemas
        self._schemas: Schemas | None = None
        self._made: dict[tuple[Format, Schema | None], Codec] = {}

    @property
    def schemas(self) -> Schemas | None:
        """Give the registry; none where there is none."""
        if self._schemas is None:
            self._schemas = self._open()
        return self._schemas

    def of(self, format: Format, schema: Schema | None) -> Codec:  # noqa: A002  # our word for it
        """Give the codec of a format for columns."""
        found = self._made.get((format, schema))
        if found is None:
            schemas = None if format.subject is None else self.schemas
            found = self._made[format, schema] = codec_of(format, schema, schemas)
        return found
