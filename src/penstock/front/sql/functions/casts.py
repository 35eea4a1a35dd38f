"""Which types CAST can turn into which."""

from __future__ import annotations

from penstock.errors import SqlError
from penstock.front.sql.functions.typed import Typed, as_type
from penstock.front.sql.types import type_text
from penstock.schema.types import STRING, Kind, Type

_NUMBERS = (Kind.INT32, Kind.INT64, Kind.FLOAT64, Kind.DECIMAL)
_CASTS: frozenset[tuple[Kind, Kind]] = frozenset(
    {
        *((one, other) for one in _NUMBERS for other in _NUMBERS),
        *((kind, Kind.STRING) for kind in Kind),
        *((Kind.STRING, kind) for kind in (*_NUMBERS, Kind.BOOLEAN)),
        *((Kind.STRING, kind) for kind in (Kind.DATE, Kind.TIME, Kind.TIMESTAMP)),
        (Kind.TIMESTAMP, Kind.DATE),
        (Kind.TIMESTAMP, Kind.TIME),
        (Kind.DATE, Kind.TIMESTAMP),
        *((kind, kind) for kind in Kind),
    }
)


def cast(value: Typed, type_: Type) -> Typed:
    """Turn a value into another type; a cast that has no meaning is refused."""
    if value.type is not None and not castable(value.type, type_):
        raise SqlError(
            "SQL_CAST",
            f"a cast of {type_text(value.type)} to {type_text(type_)} is not supported",
            hint="Cast to a type that such a value can have, or to STRING.",
        )
    return Typed(as_type(value, type_), type_)


def castable(source: Type, target: Type) -> bool:
    """Whether there is a cast, of all parts too."""
    if source == target:
        return True
    if (source.kind, target.kind) not in _CASTS:
        return False
    if target.kind is Kind.STRING:
        return True
    if target.kind is Kind.STRUCT:
        known = dict(source.fields)
        return all(castable(known[name], part) for name, part in target.fields if name in known)
    keys = castable(source.key or STRING, target.key or STRING)
    return keys and castable(source.item or STRING, target.item or STRING)
