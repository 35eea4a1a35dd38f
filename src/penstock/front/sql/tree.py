"""What a SQL text says, as a tree of frozen values: the parts that all trees share.

    tree.py             Span, Node, Name, Duration, types
    tree_expression.py  Expression: literals, columns, calls, operators
    tree_window.py      WINDOW and its sizes
    tree_emit.py        EMIT: triggers and refinements
    tree_pattern.py     MATCH_RECOGNIZE
    tree_query.py       Query: SELECT, joins, UNION, ORDER BY
    tree_statement.py   Statement: everything that ends with a semicolon

The tree says what was written and decides nothing: no name is looked up, no type is known, no
rule of the language is checked that the grammar does not hold. Equality ignores where things
stand, so `parse_statement(format_statement(it)) == it`. Every node has its `span` in the text
of its statement; `statement.source` underlines it:

    SELECT id, total + 1 AS more FROM orders WHERE id = 'a' EMIT CHANGES;

    QueryStatement(Query(Select(
        items=(SelectItem(Column(Name("ID"))),
               SelectItem(Arithmetic("+", Column(Name("TOTAL")), IntegerLiteral(1)), Name("MORE"))),
        relation=Source(Name("ORDERS")),
        where=Comparison("=", Column(Name("ID")), StringLiteral("a"))),
        emit=Emit("changes")))

Take it apart with `match`, as in `case Comparison(operator, left, right)`; the unions
(`Expression`, `Relation`, `Statement` and others) are closed, so mypy finds what was forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Span:
    """[start, end) in characters of the text of a statement."""

    start: int
    end: int


NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Something that stands somewhere in a text; where it stands makes no difference."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A name as it is meant: in capitals, unless it was quoted."""

    text: str
    quoted: bool = field(default=False, compare=False)


Unit: TypeAlias = Literal["day", "hour", "minute", "second", "millisecond"]
UNITS: dict[Unit, timedelta] = {
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
    "millisecond": timedelta(milliseconds=1),
}


@dataclass(frozen=True, slots=True)
class Duration(Node):
    """So many of a unit, such as `10 SECONDS`; it may be negative."""

    amount: int
    unit: Unit

    @property
    def delta(self) -> timedelta:
        """How long that is."""
        return self.amount * UNITS[self.unit]


@dataclass(frozen=True, slots=True)
class NamedType(Node):
    """A type by its name, built in or of the user's own, with parameters: DECIMAL(4, 2)."""

    name: Name
    parameters: tuple[int | str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArrayType(Node):
    """ARRAY<item>."""

    item: SqlType


@dataclass(frozen=True, slots=True)
class MapType(Node):
    """MAP<key, item>."""

    key: SqlType
    item: SqlType


@dataclass(frozen=True, slots=True)
class StructField(Node):
    """One named part of a STRUCT type."""

    name: Name
    type: SqlType


@dataclass(frozen=True, slots=True)
class StructType(Node):
    """STRUCT<name type, ...>, possibly without any part."""

    fields: tuple[StructField, ...]


SqlType: TypeAlias = NamedType | ArrayType | MapType | StructType
