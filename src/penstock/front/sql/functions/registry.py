"""All functions of SQL by name: what they take and give, and what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.functions.aggregate_entries import AGGREGATES, SAMPLE, SAMPLE_COLUMNS
from penstock.front.sql.functions.collection_entries import (
    ARRAYS,
    CONDITIONAL,
    JSONS,
    LAMBDAS,
    MAPS,
)
from penstock.front.sql.functions.entry import Described, Entry
from penstock.front.sql.functions.joint_type import wider
from penstock.front.sql.functions.moment_entries import MOMENTS
from penstock.front.sql.functions.number_entries import CONVERSIONS, MATHEMATICAL
from penstock.front.sql.functions.overload import Rule, choose, resolved
from penstock.front.sql.functions.table_entries import TABLES
from penstock.front.sql.functions.text_entries import REGULAR_EXPRESSIONS, STRINGS, URLS
from penstock.front.sql.functions.typed import Argument, Typed
from penstock.front.sql.functions.user_functions import user_function, user_function_names
from penstock.schema.types import STRING, Kind, Type, array_of, decimal_of

CATEGORIES: Mapping[str, Mapping[str, Entry]] = {
    "ARRAY": ARRAYS,
    "CONDITIONAL": CONDITIONAL,
    "CONVERSIONS": CONVERSIONS,
    "DATE / TIME": MOMENTS,
    "JSON": JSONS,
    "LAMBDA": LAMBDAS,
    "MAP": MAPS,
    "MATHEMATICAL": MATHEMATICAL,
    "REGULAR EXPRESSION": REGULAR_EXPRESSIONS,
    "STRING": STRINGS,
    "URL": URLS,
}
SCALARS: Mapping[str, Entry] = {
    name: entry for entries in CATEGORIES.values() for name, entry in entries.items()
}
_OVER_TABLES = frozenset(
    {
        *("ATTR", "AVG", "COLLECT_LIST", "CORRELATION", "COUNT", "HISTOGRAM"),
        *("STDDEV_SAMP", "STDDEV_SAMPLE", "SUM", "SUM_LIST"),
    }
)
_UNITS = frozenset(
    name
    for name, entry in SCALARS.items()
    if any(shape.word == "UNIT" for overload in entry.overloads for shape in overload.parameters)
)


def resolve_call(name: str, arguments: Sequence[Argument]) -> Typed:
    """Give the expression of a scalar function of these arguments, and its type."""
    upper = name.upper()
    user = user_function(upper, "scalar")
    if user is not None:
        return user.called(arguments)
    entry = SCALARS.get(upper)
    if entry is None:
        raise SqlError(
            "SQL_FUNCTION_MISSING",
            f"function {upper} does not exist",
            hint=did_you_mean(upper, function_names()) or "SHOW FUNCTIONS lists those there are.",
        )
    call = choose(upper, entry.overloads, arguments)
    return resolved(entry.function or upper.lower(), call, RULES)


def is_scalar(name: str) -> bool:
    """Whether there is such a function of single rows."""
    return name.upper() in SCALARS or user_function(name, "scalar") is not None


def is_aggregate(name: str) -> bool:
    """Whether there is such a function of groups of rows."""
    return name.upper() in AGGREGATES or user_function(name, "aggregate") is not None


def is_table_function(name: str) -> bool:
    """Whether there is such a function that gives rows."""
    return name.upper() in TABLES or user_function(name, "table") is not None


def takes_unit(name: str) -> bool:
    """Whether an argument of a function is a unit of time, as in DATEADD(DAYS, 1, day)."""
    return name.upper() in _UNITS


def takes_rows_back(name: str) -> bool:
    """Whether ksqlDB has this aggregate over a table, whose rows change."""
    return name.upper() in _OVER_TABLES


def function_names() -> tuple[str, ...]:
    """Give the names of all functions in order."""
    return tuple(sorted({*built_in_names(), *user_function_names()}))


def built_in_names() -> tuple[str, ...]:
    """Give the names of the functions that are always there."""
    return tuple(sorted({*SCALARS, *AGGREGATES, *TABLES}))


def describe(name: str) -> Described:
    """Give what DESCRIBE FUNCTION shows."""
    upper = name.upper()
    user = user_function(upper)
    if user is not None:
        return user.described()
    if upper in AGGREGATES:
        return _described(upper, "aggregate", "AGGREGATE", AGGREGATES[upper])
    if upper in TABLES:
        return _described(upper, "table", "TABLE", TABLES[upper])
    for category, entries in CATEGORIES.items():
        if upper in entries:
            return _described(upper, "scalar", category, entries[upper])
    raise SqlError(
        "SQL_FUNCTION_MISSING",
        f"function {upper} does not exist",
        hint=did_you_mean(upper, function_names()) or "SHOW FUNCTIONS lists those there are.",
    )


def _described(name: str, kind: str, category: str, entry: Entry) -> Described:
    texts = tuple(f"{name}{overload}" for overload in entry.overloads)
    return Described(
        name,
        kind,  # type: ignore[arg-type]
        category,
        entry.description,
        texts,
        entry.example,
        entry.result,
        sample_text() if kind == "aggregate" else "",
        tuple(_BY_RULE.get(overload.gives, overload.gives) for overload in entry.overloads),
    )


_BY_RULE: Mapping[str, str] = {
    "INT": "INTEGER",
    "=first": "the type of the first argument",
    "=widest": "the widest type of the arguments",
    "=whole": "DECIMAL without places",
    "=entries": "ARRAY<STRUCT<K STRING, V T>>",
    "=item": "the type of the items",
}


def sample_text() -> str:
    """Give the rows that examples of aggregates are of."""
    rows = ", ".join(f"({', '.join(map(_cell, row))})" for row in SAMPLE)
    return f"({SAMPLE_COLUMNS}): {rows}"


def _cell(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return "null" if value is None else str(value)


def _first(types: Sequence[Type | None]) -> Type:
    return types[0] or STRING


def _widest(types: Sequence[Type | None]) -> Type:
    known = [type_ for type_ in types if type_ is not None]
    found = known[0]
    for type_ in known[1:]:
        found = wider(found, type_)
    return found


def _whole(types: Sequence[Type | None]) -> Type:
    found = _first(types)
    return decimal_of(max(found.precision - found.scale, 1), 0)


def _entries(types: Sequence[Type | None]) -> Type:
    item = _first(types).item or STRING
    return array_of(Type(Kind.STRUCT, fields=(("K", STRING), ("V", item))))


RULES: Mapping[str, Rule] = {
    "first": _first,
    "widest": _widest,
    "whole": _whole,
    "entries": _entries,
}
"""How the type of a result comes of those of the arguments, where no declaration can say it."""
