"""A stream or a table that statements know by its name."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, TypeAlias

from penstock.front.sql.tree_statement import SourceKind
from penstock.schema.ksql.subject import Subject
from penstock.schema.types import Type

Role: TypeAlias = Literal["key", "value", "headers", "header"]
WindowKind: TypeAlias = Literal["tumbling", "hopping", "session"]


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """A column: of the record's key, of its value, or of its headers (`header` names one).

    A column of the key may be `in_value` as well, as it was in statements that name it by KEY.
    """

    name: str
    type: Type
    role: Role = "value"
    header: str | None = None
    in_value: bool = False
    held: str = ""
    """What a typed topic calls it, where that is known."""


@dataclass(frozen=True, slots=True)
class RecordFormat:
    """How the key or the value of a record is written.

    A single column stands alone where it is not `wrapped`. With a `subject` its bytes begin with
    the id of a schema that is registered there. `nulls` says how Protobuf shows nulls: as
    `OPTIONAL` fields, by `WRAPPER` messages, or not at all.
    """

    name: str
    wrapped: bool = True
    delimiter: str = ","
    subject: Subject | None = None
    nulls: str = ""


@dataclass(frozen=True, slots=True)
class KeyWindow:
    """What windows the keys of a source lie in."""

    kind: WindowKind
    size: timedelta | None = None


@dataclass(frozen=True, slots=True)
class EventTime:
    """The column that tells when a row happened, and how its text is to be read."""

    column: str
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class SqlSource:
    """Everything that a statement needs to know to read it or write to it."""

    name: str
    kind: SourceKind
    columns: tuple[SourceColumn, ...]
    topic: str
    key_format: RecordFormat
    value_format: RecordFormat
    window: KeyWindow | None = None
    event_time: EventTime | None = None
    partitions: int | None = None
    read_only: bool = False
    made_by_query: bool = False
    side: Literal["", "late", "dead"] = ""
    """What it holds where it lies beside the results of a query: its topic has columns."""
    part_of: str = ""
    """The source beside which it lies."""
    retention: timedelta | None = None
    """How long its records are kept, where that was said."""
    lateness: timedelta | None = None
    """How far a row may lie behind the latest one of its partition before it is late."""
    idle: timedelta | None = None
    """How long a partition may bring nothing before the others no longer wait for it."""
    file: str = ""
    """The files that it is, where it is no topic."""

    def of_role(self, *roles: Role) -> tuple[SourceColumn, ...]:
        """Give the columns of these roles in order."""
        return tuple(column for column in self.columns if column.role in roles)

    @property
    def keys(self) -> tuple[SourceColumn, ...]:
        """The columns of the key."""
        return self.of_role("key")

    @property
    def values(self) -> tuple[SourceColumn, ...]:
        """The columns of the value."""
        return self.of_role("value")

    @property
    def stored(self) -> tuple[SourceColumn, ...]:
        """The columns that are in a record's value: its own, and those of the key that are, too."""
        return tuple(column for column in self.columns if column.role == "value" or column.in_value)

    @property
    def is_table(self) -> bool:
        """Whether a newer record of a key takes the place of the older one."""
        return self.kind == "table"


WINDOW_START = "WINDOWSTART"
WINDOW_END = "WINDOWEND"
ROW_TIME = "ROWTIME"
ROW_PARTITION = "ROWPARTITION"
ROW_OFFSET = "ROWOFFSET"
SYSTEM_COLUMNS = (ROW_TIME, ROW_PARTITION, ROW_OFFSET, WINDOW_START, WINDOW_END)
"""Columns that every row has without being declared; the window's only where keys have one."""
