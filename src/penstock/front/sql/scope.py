"""The columns that the expressions of a query can name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.source import WINDOW_END, WINDOW_START
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Name
from penstock.front.sql.tree_expression import Column
from penstock.schema.types import Type

_WINDOW = (WINDOW_START, WINDOW_END)


@dataclass(frozen=True, slots=True)
class ScopeColumn:
    """A column of a source under the name `source`; rows hold it as `held`."""

    source: str
    name: str
    held: str
    type: Type
    system: bool = False
    key: bool = False
    """Whether it is a part of the key of its source."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Columns in order; those of the system are found by name, and are no part of `*`."""

    columns: tuple[ScopeColumn, ...]
    text: SourceText

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the sources, each once."""
        return tuple(dict.fromkeys(column.source for column in self.columns))

    def shown(self, source: Name | None = None) -> tuple[ScopeColumn, ...]:
        """Give the columns of `*`, or of `source.*`."""
        if source is not None and source.text not in self.sources:
            raise SqlError(
                "SQL_SOURCE_MISSING",
                self.text.shown(f'"{source.text}" is none of the sources here', source.span),
                hint=did_you_mean(source.text, self.sources)
                or f"There are: {', '.join(self.sources)}.",
            )
        wanted = self.sources if source is None else (source.text,)
        return tuple(c for c in self.columns if not c.system and c.source in wanted)

    def find(self, column: Column) -> ScopeColumn | None:
        """Give what a name stands for; none where nothing has it, and a name of two is refused."""
        found = [
            known
            for known in self.columns
            if known.name == column.name.text
            and (column.source is None or known.source == column.source.text)
        ]
        if len(found) > 1:
            raise SqlError(
                "SQL_COLUMN_AMBIGUOUS",
                self.text.shown(
                    f'column "{column.name.text}" is in {_and(known.source for known in found)}',
                    column.span,
                ),
                hint=f"Say which: {found[0].source}.{column.name.text}.",
            )
        return found[0] if found else None

    def missing(self, column: Column) -> SqlError:
        """Give the error of a name that nothing has."""
        names = sorted({known.name for known in self.columns if not known.system})
        whole = column.name.text if column.source is None else _dotted(column)
        return SqlError(
            "SQL_COLUMN_MISSING",
            self.text.shown(f'column "{whole}" does not exist', column.span),
            hint=did_you_mean(column.name.text, names) or f"The columns: {', '.join(names)}.",
        )


def with_bounds(scope: Scope) -> Scope:
    """Let the bounds of windows be columns of `*`, after the key."""
    bounds = [replace(item, system=False) for item in scope.columns if item.name in _WINDOW]
    others = [item for item in scope.columns if item.name not in _WINDOW]
    keys = [item for item in others if item.key]
    rest = [item for item in others if not item.key]
    return Scope((*keys, *bounds, *rest), scope.text)


def _dotted(column: Column) -> str:
    assert column.source is not None
    return f"{column.source.text}.{column.name.text}"


def _and(names: Iterable[str]) -> str:
    return " and ".join(names)
