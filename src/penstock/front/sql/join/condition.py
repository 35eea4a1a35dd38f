"""ON: what is compared of each side of a join."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.errors import SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.expression import Resolver
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.join.side import Side
from penstock.front.sql.reading import Rows
from penstock.front.sql.scope import Scope
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree_expression import Comparison, Expression, Logical
from penstock.front.sql.types import type_text
from penstock.model.expr import columns_of

_MISSING = ("SQL_COLUMN_MISSING", "SQL_SOURCE_MISSING")


@dataclass(frozen=True, slots=True)
class Compared:
    """Both sides with what ON compares, and what it asks of pairs beside that."""

    one: Side
    other: Side
    further: tuple[Expression, ...]
    resolver: Resolver
    """Resolves what names columns of both sides."""


def sides_of(
    on: Expression, left: Rows, right: Rows, catalog: Catalog, text: SourceText
) -> Compared:
    """Give both sides with what ON compares; two streams may be asked for more than equality."""
    condition = _Condition(left, right, catalog, text)
    items = list(_conditions(on))
    further = []
    if not left.table and not right.table:
        further = [item for item in items if not condition.is_pair(item)]
        if len(further) == len(items):
            further = []
    pairs = [condition.pair(item) for item in items if item not in further]
    one, other = (tuple(pair[place] for pair in pairs) for place in (0, 1))
    both = Resolver(condition.scope, catalog.types)
    return Compared(Side(left, one), Side(right, other), tuple(further), both)


def _conditions(on: Expression) -> Iterator[Expression]:
    if isinstance(on, Logical) and on.operator.upper() == "AND":
        for item in on.operands:
            yield from _conditions(item)
    else:
        yield on


@dataclass(frozen=True, slots=True)
class _Condition:
    left: Rows
    right: Rows
    catalog: Catalog
    text: SourceText

    @property
    def scope(self) -> Scope:
        """The columns of both sides."""
        return Scope((*self.left.scope.columns, *self.right.scope.columns), self.text)

    def is_pair(self, on: Expression) -> bool:
        """Whether a condition is an equality of both sides."""
        if not isinstance(on, Comparison) or on.operator != "=":
            return False
        for first, second in ((on.left, on.right), (on.right, on.left)):
            if self._value(self.left, first) and self._value(self.right, second):
                return True
        return False

    def pair(self, on: Expression) -> tuple[Typed, Typed]:
        """Give what one equality compares, of the left side and of the right one."""
        if not isinstance(on, Comparison) or on.operator != "=":
            raise SqlError(
                "SQL_JOIN",
                self.text.shown("ON is not an equality", on.span),
                hint="Write ON a.x = b.y, and further conditions in WHERE.",
            )
        for first, second in ((on.left, on.right), (on.right, on.left)):
            one, other = self._value(self.left, first), self._value(self.right, second)
            if one is not None and other is not None:
                self._require_same_type(one, other, on)
                return one, other
        # What is wrong with one of them is shown by resolving both where all names are known.
        Resolver(self.scope, self.catalog.types).typed(on)
        raise SqlError(
            "SQL_JOIN",
            self.text.shown("ON does not compare one side with the other", on.span),
            hint="Let one operand name columns of the left source, the other of the right one.",
        )

    def _value(self, rows: Rows, said: Expression) -> Typed | None:
        """Give a value of one side; none where it is not one, or no column of it is named."""
        try:
            found = Resolver(rows.scope, self.catalog.types).typed(said)
        except SqlError as error:
            if error.code in _MISSING:
                return None
            raise
        return found if any(columns_of(found.expr)) else None

    def _require_same_type(self, one: Typed, other: Typed, on: Comparison) -> None:
        if one.type != other.type or one.type is None:
            left, right = type_text(one.type), type_text(other.type)
            raise SqlError(
                "SQL_JOIN",
                self.text.shown(f"ON compares {left} with {right}", on.span),
                hint="Cast one.",
            )
