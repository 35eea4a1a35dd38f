"""Types by their names in SQL, as DESCRIBE shows them."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.schema.types import Kind, Type, quoted_name

_PLAIN: Mapping[Kind, str] = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.INT32: "INT",
    Kind.INT64: "BIGINT",
    Kind.FLOAT64: "DOUBLE",
    Kind.STRING: "VARCHAR",
    Kind.BYTES: "BYTES",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.DATE: "DATE",
    Kind.TIME: "TIME",
}


def sql_name(type_: Type) -> str:
    """Give a type as ksqlDB prints it, such as `MAP<VARCHAR, BIGINT>`; `parse_type` reads it."""
    if type_.kind is Kind.DECIMAL:
        return f"DECIMAL({type_.precision}, {type_.scale})"
    if type_.kind is Kind.ARRAY and type_.item is not None:
        return f"ARRAY<{sql_name(type_.item)}>"
    if type_.kind is Kind.MAP and type_.item is not None:
        return f"MAP<VARCHAR, {sql_name(type_.item)}>"
    if type_.kind is Kind.STRUCT:
        parts = (f"{quoted_name(name)} {sql_name(part)}" for name, part in type_.fields)
        return f"STRUCT<{', '.join(parts)}>"
    return _PLAIN[type_.kind]
