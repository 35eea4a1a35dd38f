"""The registry of a home for those who ask seldom: the log is open only while it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from typing_extensions import override

from penstock.schema.codec.schemas import Schemas, SchemaText, Version


class HomeSchemas:
    """Answers as the registry of a home does, or the one at an address."""

    def __init__(self, home: str | Path, url: str = "") -> None:
        self._home = Path(home)
        self._url = url

    @override
    def __eq__(self, other: object) -> bool:
        """Two of one place answer alike."""
        return isinstance(other, HomeSchemas) and self._place == other._place

    @override
    def __hash__(self) -> int:
        return hash(self._place)

    @property
    def _place(self) -> tuple[Path, str]:
        return self._home, self._url

    def by_id(self, id: int) -> SchemaText:  # noqa: A002  # the word of every registry
        """Give a schema."""
        with self._opened() as schemas:
            return schemas.by_id(id)

    def version(self, subject: str, version: int | None = None) -> Version:
        """Give a version of a subject, the last one by default."""
        with self._opened() as schemas:
            return schemas.version(subject, version)

    def register(self, subject: str, schema: SchemaText, *, normalize: bool = False) -> Version:
        """Give the version of a schema, registering it where it is new and compatible."""
        with self._opened() as schemas:
            return schemas.register(subject, schema, normalize=normalize)

    def lookup(self, subject: str, schema: SchemaText, *, normalize: bool = False) -> Version:
        """Give the version a schema is registered as under a subject."""
        with self._opened() as schemas:
            return schemas.lookup(subject, schema, normalize=normalize)

    @contextmanager
    def _opened(self) -> Iterator[Schemas]:
        from penstock.log.open import open_log  # noqa: PLC0415  # numpy and Arrow: 0.1 s
        from penstock.schema.registry.open import open_schemas  # noqa: PLC0415

        with open_log(self._home) as log:
            registry = open_schemas(log, self._url)
            try:
                yield registry
            finally:
                registry.close()
