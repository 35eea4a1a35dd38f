"""What statements know: streams, tables, types and settings, by their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.functions.user_functions import UserFunction
from penstock.front.sql.source import SqlSource
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Name
from penstock.front.sql.tree_query import FileSource
from penstock.schema.codec.schemas import Schemas
from penstock.schema.schema import Schema
from penstock.schema.types import Type


class Files(Protocol):
    """Tells what files there are, for statements that name them."""

    def columns(self, file: FileSource, text: SourceText) -> Schema:
        """Give the columns of a file."""

    def path(self, file: FileSource) -> str:
        """Give the path of a file that is the same from everywhere."""


class Topics(Protocol):
    """Tells what columns topics have, for sources over them."""

    def columns(self, topic: str) -> Schema | None:
        """Give the columns of a topic; none where it has none, or is not there."""


@dataclass(slots=True)
class Catalog:
    """The names of one session or server; statements add to it, and take from it."""

    settings: dict[str, str] = field(default_factory=dict)
    files: Files | None = None
    schemas: Schemas | None = None
    """The registry, where there is one."""
    topics: Topics | None = None
    """The log, where there is one."""
    _sources: dict[str, SqlSource] = field(default_factory=dict)
    _types: dict[str, Type] = field(default_factory=dict)
    _reads: dict[str, set[str]] = field(default_factory=dict)
    _functions: dict[str, UserFunction] = field(default_factory=dict)

    def __iter__(self) -> Iterator[SqlSource]:
        return iter(self._sources.values())

    def get(self, name: str) -> SqlSource | None:
        """Give a source, or none."""
        return self._sources.get(name)

    def source(self, name: Name, text: SourceText) -> SqlSource:
        """Give a source; one that does not exist is named with a suggestion."""
        found = self._sources.get(name.text)
        if found is not None:
            return found
        known = list(self._sources)
        shown = ", ".join(known) or "none yet"
        raise SqlError(
            "SQL_SOURCE_MISSING",
            text.shown(f'stream or table "{name.text}" does not exist', name.span),
            hint=did_you_mean(name.text, known) or f"There are: {shown}.",
        )

    def put(self, source: SqlSource) -> None:
        """Add a source, or put it in the place of the one of its name."""
        self._sources[source.name] = source

    def drop(self, name: str) -> None:
        """Take a source away."""
        del self._sources[name]

    @property
    def types(self) -> Mapping[str, Type]:
        """The user's own types."""
        return MappingProxyType(self._types)

    def put_type(self, name: str, type_: Type) -> None:
        """Add a type."""
        self._types[name] = type_

    def drop_type(self, name: str) -> None:
        """Take a type away."""
        del self._types[name]

    @property
    def functions(self) -> Mapping[str, UserFunction]:
        """The user's own functions."""
        return MappingProxyType(self._functions)

    def put_function(self, function: UserFunction) -> None:
        """Add a function, or put it in the place of the one of its name."""
        self._functions[function.name] = function

    def drop_function(self, name: str) -> None:
        """Take a function away."""
        del self._functions[name]

    def note_reader(self, source: str, reader: str) -> None:
        """Remember that a query which writes to `reader` reads a source."""
        self._reads.setdefault(source, set()).add(reader)

    def is_written(self, source: str) -> bool:
        """Whether a query writes to a source."""
        return any(source in written for written in self._reads.values())

    def readers(self, source: str) -> frozenset[str]:
        """Give what is written by queries that read a source."""
        return frozenset(self._reads.get(source, ()))

    def file_columns(self, file: FileSource, text: SourceText) -> Schema:
        """Give the columns of a file, where files can be read here."""
        if self.files is None:
            raise SqlError(
                "SQL_UNSUPPORTED",
                text.shown(f"file '{file.path}' cannot be read here", file.span),
                hint="Read it in `penstock sql`.",
            )
        return self.files.columns(file, text)

    def file_path(self, file: FileSource) -> str:
        """Give the path of a file that is the same from everywhere."""
        return file.path if self.files is None else self.files.path(file)

    def setting(self, name: str, default: str = "") -> str:
        """Give a setting as it was set."""
        return self.settings.get(name, default)
