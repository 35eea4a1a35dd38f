"""Operators of expressions: the types they take and give, as in ksqlDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.functions.casts import cast
from penstock.front.sql.functions.joint_type import (
    MOST_DIGITS,
    as_decimal,
    together,
    unified,
    wider,
)
from penstock.front.sql.functions.moment_text import read_moment
from penstock.front.sql.functions.typed import Typed, as_type, typed_call
from penstock.front.sql.types import type_text
from penstock.model.expr import Cast, Literal
from penstock.schema.types import (
    BOOLEAN,
    BYTES,
    INT64,
    STRING,
    TIMESTAMP,
    Kind,
    Type,
    array_of,
    decimal_of,
    map_of,
)

__all__ = [
    "arithmetic",
    "array",
    "as_boolean",
    "at_time_zone",
    "between",
    "case",
    "cast",
    "compare",
    "field",
    "in_list",
    "is_distinct",
    "is_null",
    "like",
    "logical",
    "map_",
    "negated",
    "negative",
    "struct",
    "subscript",
    "text_as_millis",
]

_ARITHMETIC: Mapping[str, str] = {
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "divide",
    "%": "modulo",
}
_COMPARISONS: Mapping[str, str] = {
    "=": "eq",
    "<>": "ne",
    "!=": "ne",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
}
_UNORDERED = (Kind.ARRAY, Kind.MAP, Kind.STRUCT, Kind.BOOLEAN)
_TIMES = (Kind.DATE, Kind.TIME, Kind.TIMESTAMP)


def arithmetic(operator: str, left: Typed, right: Typed) -> Typed:
    """Calculate with two numbers, or put two texts together by + or ||."""
    one, other = left.type, right.type
    if operator == "||" or (operator == "+" and STRING in (one, other)):
        return _joined(operator, left, right)
    if one is None or other is None or not (one.numeric and other.numeric):
        raise _refused(operator, left, right, "Use numbers, or cast what is none.")
    name = _ARITHMETIC[operator]
    gives = wider(one, other)
    if gives.kind is Kind.DECIMAL:
        one, other = as_decimal(one), as_decimal(other)
        return typed_call(
            name, (as_type(left, one), as_type(right, other)), _decimal(operator, one, other)
        )
    return typed_call(name, (as_type(left, gives), as_type(right, gives)), gives)


def _joined(operator: str, left: Typed, right: Typed) -> Typed:
    for gives, name in ((STRING, "join_texts"), (BYTES, "join_bytes")):
        if all(item.type in (gives, None) for item in (left, right)) and operator == "||":
            return typed_call(name, (as_type(left, gives), as_type(right, gives)), gives)
    if left.type == right.type == STRING:
        return typed_call("join_texts", (left.expr, right.expr), STRING)
    raise _refused(operator, left, right, "Cast what is no STRING.")


def _refused(operator: str, left: Typed, right: Typed, hint: str) -> SqlError:
    types = f"{type_text(left.type)} and {type_text(right.type)}"
    return SqlError(
        "SQL_OPERATOR", f"operator {operator} of types {types} does not exist", hint=hint
    )


def _decimal(operator: str, one: Type, other: Type) -> Type:
    """Give the digits of a result: ksqlDB's rules, with 38 at most."""
    scale = max(one.scale, other.scale)
    whole = max(one.precision - one.scale, other.precision - other.scale)
    match operator:
        case "+" | "-":
            precision = whole + scale + 1
        case "*":
            scale = one.scale + other.scale
            precision = one.precision + other.precision + 1
        case "/":
            scale = max(6, one.scale + other.precision + 1)
            precision = one.precision - one.scale + other.scale + scale
        case _:
            precision = min(one.precision - one.scale, other.precision - other.scale) + scale
    return decimal_of(min(precision, MOST_DIGITS), min(scale, MOST_DIGITS))


def negative(value: Typed) -> Typed:
    """Turn the sign of a number round."""
    if value.type is None or not value.type.numeric:
        raise SqlError("SQL_OPERATOR", f"operator - of type {type_text(value.type)} does not exist")
    return typed_call("negate", (value.expr,), value.type)


def compare(operator: str, left: Typed, right: Typed) -> Typed:
    """Compare two values; a text stands for a date or time beside one."""
    shared = _compared(operator, left, right)
    given = (as_type(left, shared), as_type(right, shared))
    return typed_call(_COMPARISONS[operator], given, BOOLEAN)


def _compared(operator: str, left: Typed, right: Typed) -> Type:
    if left.type is None or right.type is None:
        raise SqlError(
            "SQL_COMPARE", "a value is compared with NULL", hint="Use IS NULL or IS NOT NULL."
        )
    shared = _comparable(left.type, right.type)
    unordered = left.type.kind in _UNORDERED and operator not in ("=", "<>", "!=", "IS DISTINCT")
    if shared is None or unordered:
        types = f"{type_text(left.type)} and {type_text(right.type)}"
        raise SqlError(
            "SQL_COMPARE",
            f"values of types {types} cannot be compared by {operator}",
            hint="Cast one of them to the type of the other.",
        )
    return shared


def _comparable(one: Type, other: Type) -> Type | None:
    if one == other:
        return one
    if one.numeric and other.numeric:
        return wider(one, other)
    kinds = {one.kind, other.kind}
    if kinds == {Kind.DATE, Kind.TIMESTAMP}:
        return TIMESTAMP
    for text, time in ((one, other), (other, one)):
        if text.kind is Kind.STRING and time.kind in _TIMES:
            return time
    return one if one.kind is other.kind and one.kind is not Kind.DECIMAL else None


def logical(operator: str, operands: Sequence[Typed]) -> Typed:
    """Join conditions by AND or OR."""
    given = tuple(as_boolean(item).expr for item in operands)
    return typed_call(operator.lower(), given, BOOLEAN)


def as_boolean(value: Typed) -> Typed:
    """Give a condition; what is neither true nor false is refused."""
    if value.type is None:
        return Typed(Cast(Literal(None), BOOLEAN), BOOLEAN)
    if value.type != BOOLEAN:
        raise SqlError(
            "SQL_CONDITION",
            f"a condition is of type {type_text(value.type)}",
            hint="Compare it with something: a condition is true or false.",
        )
    return value


def negated(value: Typed) -> Typed:
    """Turn a condition round."""
    return typed_call("not", (as_boolean(value).expr,), BOOLEAN)


def between(value: Typed, low: Typed, high: Typed) -> Typed:
    """Whether a value lies between two others, both included."""
    return logical("AND", [compare(">=", value, low), compare("<=", value, high)])


def in_list(value: Typed, items: Sequence[Typed]) -> Typed:
    """Whether a value is one of several; a text in quotes takes the type of the others."""
    shared = together([value, *items])
    if value.type is None or shared is None:
        raise SqlError("SQL_COMPARE", "NULL is looked for in a list", hint="Use IS NULL.")
    known = unified([item for item in items if item.type is not None], shared)
    left = Typed(as_type(value, shared), shared)
    found = [compare("=", left, item) for item in known]
    if not found:
        return Typed(Literal(value=False), BOOLEAN)
    return found[0] if len(found) == 1 else logical("OR", found)


def like(value: Typed, pattern: Typed, escape: str | None = None) -> Typed:
    """Whether a text has a form; % stands for any part, _ for any character."""
    if value.type not in (STRING, None) or pattern.type not in (STRING, None):
        raise _refused("LIKE", value, pattern, "LIKE takes texts.")
    given = (as_type(value, STRING), as_type(pattern, STRING))
    return typed_call("like", (*given, Literal(escape)) if escape else given, BOOLEAN)


def is_null(value: Typed, *, negated: bool = False) -> Typed:
    """Whether a value is null, or is not."""
    operand = as_type(value, STRING) if value.type is None else value.expr
    found = typed_call("is_null", (operand,), BOOLEAN)
    return typed_call("not", (found.expr,), BOOLEAN) if negated else found


def is_distinct(left: Typed, right: Typed) -> Typed:
    """Whether two values differ, null being a value like others."""
    if left.type is None or right.type is None:
        return is_null(right if left.type is None else left, negated=True)
    shared = _compared("IS DISTINCT", left, right)
    return typed_call("is_distinct", (as_type(left, shared), as_type(right, shared)), BOOLEAN)


def case(pairs: Sequence[tuple[Typed, Typed]], otherwise: Typed | None = None) -> Typed:
    """Give the value of the first condition that holds, or the other one."""
    last = otherwise or Typed(Literal(None), None)
    values = [*(value for _, value in pairs), last]
    gives = together(values, texts=False)
    if gives is None:
        raise SqlError(
            "SQL_TYPES_MIXED",
            "all branches of a CASE are NULL",
            hint="Cast one of them to the type that is meant.",
        )
    arguments = []
    for condition, value in pairs:
        arguments += [as_boolean(condition).expr, as_type(value, gives)]
    return typed_call("case", (*arguments, as_type(last, gives)), gives)


def array(items: Sequence[Typed]) -> Typed:
    """Give an array of values of one type."""
    type_ = _of_items(items, "an array")
    return typed_call("array", tuple(as_type(item, type_) for item in items), array_of(type_))


def _of_items(items: Sequence[Typed], what: str) -> Type:
    type_ = together(items)
    if type_ is None:
        fact = f"{what} is made of NULL only" if items else f"{what} is made of nothing"
        raise SqlError("SQL_EMPTY", fact, hint="Cast one NULL to the type that is meant.")
    return type_


def text_as_millis(value: Typed) -> Typed:
    """Give the milliseconds since 1970 that a text in quotes stands for beside ROWTIME.

    `2020`, `2020-06-01T10:15` and `2020-06-01T10:15:30.5+0200` are such texts.
    """
    text = value.expr.value if isinstance(value.expr, Literal) else None
    moment = read_moment(text) if isinstance(text, str) else None
    if moment is None:
        raise SqlError(
            "SQL_TEXT_VALUE",
            f"{text!r} is no TIMESTAMP",
            hint="Write a text such as '2020-06-01T10:15:30.000', or milliseconds.",
        )
    return Typed(Literal(moment), INT64)


def map_(entries: Sequence[tuple[Typed, Typed]]) -> Typed:
    """Give a map of keys of one type to values of one type."""
    keys, values = [key for key, _ in entries], [value for _, value in entries]
    key, item = _of_items(keys, "the keys of a map"), _of_items(values, "a map")
    given = [part for pair in entries for part in (as_type(pair[0], key), as_type(pair[1], item))]
    return typed_call("map", tuple(given), map_of(item, None if key == STRING else key))


def struct(fields: Sequence[tuple[str, Typed]]) -> Typed:
    """Give a value with named parts."""
    types = tuple((name, value.type or STRING) for name, value in fields)
    given = tuple(as_type(value, value.type or STRING) for _, value in fields)
    return typed_call("struct", given, Type(Kind.STRUCT, fields=types))


def field(base: Typed, name: str) -> Typed:
    """Give a part of a struct."""
    if base.type is None or base.type.kind is not Kind.STRUCT:
        raise SqlError(
            "SQL_FIELD",
            f"a field of a value of type {type_text(base.type)} is asked for",
            hint="Only a STRUCT has fields.",
        )
    known = dict(base.type.fields)
    if name not in known:
        raise SqlError(
            "SQL_FIELD",
            f'{type_text(base.type)} has no field "{name}"',
            hint=did_you_mean(name, known) or f"It has {', '.join(known)}.",
        )
    return typed_call("field", (base.expr, Literal(name)), known[name])


def subscript(base: Typed, index: Typed) -> Typed:
    """Give an item of an array by its place, or of a map by its key."""
    type_ = base.type
    if type_ is None or type_.item is None:
        raise SqlError(
            "SQL_SUBSCRIPT",
            f"an item of a value of type {type_text(type_)} is asked for",
            hint="Only an ARRAY or a MAP has items.",
        )
    wanted = type_.key or STRING
    fits = index.type == wanted
    if type_.kind is Kind.ARRAY:
        fits = index.type is not None and index.type.integral
        wanted = index.type or STRING
    if not fits:
        raise SqlError(
            "SQL_SUBSCRIPT",
            f"an item of {type_text(type_)} is asked for by a {type_text(index.type)}",
            hint="An array counts its items from 1; a map is asked by a key.",
        )
    return typed_call("item", (base.expr, as_type(index, wanted)), type_.item)


def at_time_zone(value: Typed, zone: str) -> Typed:
    """Give the moment whose clock in UTC reads what the clock of a zone reads at this one."""
    if value.type != TIMESTAMP:
        raise SqlError(
            "SQL_OPERATOR",
            f"AT TIME ZONE of type {type_text(value.type)} does not exist",
            hint="It takes a TIMESTAMP.",
        )
    return typed_call("convert_tz", (value.expr, Literal("UTC"), Literal(zone)), TIMESTAMP)
