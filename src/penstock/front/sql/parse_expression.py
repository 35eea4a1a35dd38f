"""From what the grammar gave to expressions and types."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from penstock.errors import SqlError
from penstock.front.sql.parse_branch import (
    branch_at,
    branches,
    duration_in,
    has,
    inners,
    integer_in,
    maybe_at,
    name_in,
    span_of,
    text_in,
    token_at,
    word_of,
)
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import (
    ArrayType,
    Duration,
    MapType,
    NamedType,
    SqlType,
    StructField,
    StructType,
)
from penstock.front.sql.tree_expression import (
    Arithmetic,
    ArithmeticOperator,
    ArrayValue,
    AtTimeZone,
    Between,
    BooleanLiteral,
    Call,
    Case,
    Cast,
    Column,
    Comparison,
    ComparisonOperator,
    DecimalLiteral,
    DoubleLiteral,
    Expression,
    FieldAccess,
    Frame,
    FrameBound,
    InList,
    IntegerLiteral,
    IsDistinct,
    IsNull,
    Lambda,
    Like,
    Literals,
    Logical,
    MapEntry,
    MapValue,
    Negative,
    Not,
    NullLiteral,
    Over,
    SortItem,
    StringLiteral,
    StructEntry,
    StructValue,
    Subscript,
    TypedLiteral,
    When,
)

if TYPE_CHECKING:
    from lark import Token

    from penstock.front.sql.parse_grammar import Branch

_ARITHMETIC: dict[str, ArithmeticOperator] = {
    "concatenation": "||",
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "remainder": "%",
}
_COMPARED: dict[str, ComparisonOperator] = {
    "=": "=",
    "<>": "<>",
    "!=": "<>",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
}
_LITERALS = frozenset({"null", "true", "false", "text", "integer", "decimal", "double"})


class ExpressionBuilder:
    """Makes expressions; a method has the name of the rule that it is for."""

    def __init__(self, source: SourceText) -> None:
        self.source = source

    def expression(self, branch: Branch) -> Expression:
        """Make an expression of whatever rule of expressions."""
        if branch.data in _LITERALS:
            return self.literal(branch)
        if branch.data in _ARITHMETIC:
            return self._arithmetic(branch)
        made: Expression = getattr(self, f"_{branch.data}")(branch)
        return made

    def expressions(self, parts: list[Branch]) -> tuple[Expression, ...]:
        """Make an expression of each."""
        return tuple(map(self.expression, parts))

    def literal(self, branch: Branch, *, negative: bool = False) -> Literals:
        """Make a constant; a sign before it may be part of it."""
        place = span_of(branch)
        match branch.data:
            case "null":
                return NullLiteral(span=place)
            case "true" | "false":
                return BooleanLiteral(branch.data == "true", span=place)
            case "text":
                return StringLiteral(text_in(token_at(branch)), span=place)
            case "integer":
                value = integer_in(self.source, token_at(branch), negative=negative)
                return IntegerLiteral(value, span=place)
            case "decimal":
                digits = str(token_at(branch))
                return DecimalLiteral(f"-{digits}" if negative else digits, span=place)
            case _:
                return DoubleLiteral(self._double(token_at(branch), negative=negative), span=place)

    def _double(self, token: Token, *, negative: bool) -> float:
        value = float(token)
        if math.isinf(value):
            raise SqlError(
                "SQL_NUMBER",
                self.source.shown(f"the number {token} is beyond a DOUBLE", span_of(token)),
                hint="The greatest is about 1.8E308.",
            )
        return -value if negative else value

    # --- conditions

    def _any(self, branch: Branch) -> Logical:
        return self._logical("OR", branch)

    def _all(self, branch: Branch) -> Logical:
        return self._logical("AND", branch)

    def _logical(self, operator: Literal["AND", "OR"], branch: Branch) -> Logical:
        operands: list[Branch] = []
        left = branch
        while left.data == branch.data:
            operands.append(branch_at(left, 1))
            left = branch_at(left, 0)
        parts = self.expressions([left, *reversed(operands)])
        return Logical(operator, parts, span=span_of(branch))

    def _negation(self, branch: Branch) -> Not:
        return Not(self.expression(branch_at(branch, 0)), span=span_of(branch))

    def _comparison(self, branch: Branch) -> Comparison:
        left, operator, right = branches(branch)
        return Comparison(
            _COMPARED[token_at(operator)],
            self.expression(left),
            self.expression(right),
            span=span_of(branch),
        )

    def _between(self, branch: Branch) -> Between:
        parts = [part for part in branches(branch) if part.data != "negated"]
        operand, low, high = self.expressions(parts)
        return Between(operand, low, high, has(branch, "negated"), span=span_of(branch))

    def _in_list(self, branch: Branch) -> InList:
        parts = [part for part in branches(branch) if part.data != "negated"]
        operand, *items = self.expressions(parts)
        return InList(operand, tuple(items), has(branch, "negated"), span=span_of(branch))

    def _like(self, branch: Branch) -> Like:
        operand, negated, pattern, escape = branch.children
        assert not isinstance(operand, str)
        assert not isinstance(pattern, str)
        return Like(
            self.expression(operand),
            self.expression(pattern),
            text_in(escape) if isinstance(escape, str) else None,
            negated is not None,
            span=span_of(branch),
        )

    def _is_null(self, branch: Branch) -> IsNull:
        operand = self.expression(branch_at(branch, 0))
        return IsNull(operand, has(branch, "negated"), span=span_of(branch))

    def _is_distinct(self, branch: Branch) -> IsDistinct:
        left, right = branch_at(branch, 0), branch_at(branch, 2)
        return IsDistinct(
            self.expression(left),
            self.expression(right),
            has(branch, "negated"),
            span=span_of(branch),
        )

    # --- calculations

    def _arithmetic(self, branch: Branch) -> Arithmetic:
        left, right = self.expressions(branches(branch))
        return Arithmetic(_ARITHMETIC[branch.data], left, right, span=span_of(branch))

    def _negative(self, branch: Branch) -> Expression:
        operand = branch_at(branch, 0)
        if operand.data in ("integer", "decimal", "double"):
            return self.literal(operand, negative=True)
        return Negative(self.expression(operand), span=span_of(branch))

    def _positive(self, branch: Branch) -> Expression:
        return self.expression(branch_at(branch, 0))

    def _at_time_zone(self, branch: Branch) -> AtTimeZone:
        operand = self.expression(branch_at(branch, 0))
        return AtTimeZone(operand, text_in(token_at(branch, 1)), span=span_of(branch))

    # --- values

    def _typed_literal(self, branch: Branch) -> TypedLiteral:
        name = name_in(branch_at(branch, 0))
        return TypedLiteral(name, text_in(token_at(branch, 1)), span=span_of(branch))

    def _column(self, branch: Branch) -> Column:
        return Column(name_in(branch_at(branch, 0)), span=span_of(branch))

    def _dotted(self, branch: Branch) -> Expression:
        first, name = branches(branch)
        last = name_in(name)
        if first.data == "name":
            return Column(last, name_in(first), span=span_of(branch))
        return FieldAccess(self._dotted(first), last, span=span_of(branch))

    def _field_access(self, branch: Branch) -> FieldAccess:
        base, name = branches(branch)
        return FieldAccess(self.expression(base), name_in(name), span=span_of(branch))

    def _subscript(self, branch: Branch) -> Subscript:
        base, index = self.expressions(branches(branch))
        return Subscript(base, index, span=span_of(branch))

    def _call(self, branch: Branch) -> Call:
        name, *parts = branches(branch)
        arguments = tuple(self._argument(part) for part in parts if part.data != "distinct")
        distinct = has(branch, "distinct")
        return Call(name_in(name), arguments, distinct=distinct, span=span_of(branch))

    def _call_star(self, branch: Branch) -> Call:
        return Call(name_in(branch_at(branch, 0)), star=True, span=span_of(branch))

    def _filtered_call(self, branch: Branch) -> Call:
        call, where = branches(branch)
        made = self._call_star(call) if call.data == "call_star" else self._call(call)
        return replace(made, where=self.expression(where), span=span_of(branch))

    def _argument(self, branch: Branch) -> Expression | Lambda:
        if branch.data != "lambda":
            return self.expression(branch)
        *names, body = branches(branch)
        parameters = tuple(map(name_in, names))
        return Lambda(parameters, self.expression(body), span=span_of(branch))

    def _over(self, branch: Branch) -> Over:
        call, partition, order, frame = (maybe_at(branch, number) for number in range(4))
        assert call is not None
        return Over(
            self._call_star(call) if call.data == "call_star" else self._call(call),
            () if partition is None else self.expressions(branches(partition)),
            () if order is None else self.sort_items(order),
            None if frame is None else self._frame(frame),
            span=span_of(branch),
        )

    def sort_items(self, branch: Branch) -> tuple[SortItem, ...]:
        """Make what ORDER BY names."""
        return tuple(map(self._sort_item, branches(branch)))

    def _sort_item(self, branch: Branch) -> SortItem:
        expression, direction, nulls = (maybe_at(branch, number) for number in range(3))
        assert expression is not None
        descending = direction is not None and word_of(direction) == "desc"
        side: Literal["first", "last"] | None = None
        if nulls is not None:
            side = "first" if word_of(nulls) == "first" else "last"
        return SortItem(self.expression(expression), descending, side, span=span_of(branch))

    def _frame(self, branch: Branch) -> Frame:
        by, start, *end = branches(branch)
        until = self._frame_bound(end[0]) if end else FrameBound("current row")
        rows: Literal["rows", "range"] = "rows" if word_of(by) == "rows" else "range"
        return Frame(rows, self._frame_bound(start), until, span=span_of(branch))

    def _frame_bound(self, branch: Branch) -> FrameBound:
        place = span_of(branch)
        match branch.data:
            case "current_row":
                return FrameBound("current row", span=place)
            case "unbounded_preceding":
                return FrameBound("preceding", span=place)
            case "unbounded_following":
                return FrameBound("following", span=place)
            case "preceding":
                return FrameBound("preceding", self._amount(branch), span=place)
            case _:
                return FrameBound("following", self._amount(branch), span=place)

    def _amount(self, branch: Branch) -> int | Duration:
        part = branch.children[0]
        if isinstance(part, str):
            return integer_in(self.source, part)
        return duration_in(self.source, part)

    def _simple_case(self, branch: Branch) -> Case:
        operand, *_ = branches(branch)
        return self._case(branch, self.expression(operand))

    def _searched_case(self, branch: Branch) -> Case:
        return self._case(branch, None)

    def _case(self, branch: Branch, operand: Expression | None) -> Case:
        last = maybe_at(branch, -1)
        otherwise = None if last is None else self.expression(last)
        whens = tuple(map(self._when, inners(branch, "when")))
        return Case(whens, operand, otherwise, span=span_of(branch))

    def _when(self, branch: Branch) -> When:
        condition, result = self.expressions(branches(branch))
        return When(condition, result, span=span_of(branch))

    def _cast(self, branch: Branch) -> Cast:
        operand, kind = branches(branch)
        return Cast(self.expression(operand), self.type(kind), span=span_of(branch))

    def _array_value(self, branch: Branch) -> ArrayValue:
        return ArrayValue(self.expressions(branches(branch)), span=span_of(branch))

    def _map_value(self, branch: Branch) -> MapValue:
        return MapValue(tuple(map(self._map_entry, branches(branch))), span=span_of(branch))

    def _map_entry(self, branch: Branch) -> MapEntry:
        key, value = self.expressions(branches(branch))
        return MapEntry(key, value, span=span_of(branch))

    def _struct_value(self, branch: Branch) -> StructValue:
        entries = tuple(map(self._struct_entry, branches(branch)))
        return StructValue(entries, span=span_of(branch))

    def _struct_entry(self, branch: Branch) -> StructEntry:
        name, value = branches(branch)
        return StructEntry(name_in(name), self.expression(value), span=span_of(branch))

    # --- types

    def type(self, branch: Branch) -> SqlType:
        """Make a type."""
        place = span_of(branch)
        match branch.data:
            case "array_type":
                return ArrayType(self.type(branch_at(branch, 0)), span=place)
            case "map_type":
                key, item = map(self.type, branches(branch))
                return MapType(key, item, span=place)
            case "struct_type":
                return StructType(tuple(map(self._struct_field, branches(branch))), span=place)
            case _:
                name = name_in(branch_at(branch, 0))
                parameters = tuple(map(self._parameter, inners(branch, "type_parameter")))
                return NamedType(name, parameters, span=place)

    def _struct_field(self, branch: Branch) -> StructField:
        name, kind = branches(branch)
        return StructField(name_in(name), self.type(kind), span=span_of(branch))

    def _parameter(self, branch: Branch) -> int | str:
        token = token_at(branch)
        return integer_in(self.source, token) if token.type == "INTEGER" else token.upper()
