"""Tables of states as they were stored, made into what the program declares now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from penstock.errors import StateError
from penstock.kernel.columns import dtype_of
from penstock.kernel.port import Frame
from penstock.kernel.process_column import WRITTEN, state_dtype, table_schema, value_name
from penstock.kernel.process_timers import TIMERS
from penstock.model.process import StateField
from penstock.schema.types import Kind, Type


def current_tables(
    tables: Mapping[str, Frame],
    fields: Sequence[StateField],
    keys: Mapping[str, pl.DataType],
    *,
    written: int,
) -> dict[str, Frame]:
    """Give the tables in the form declared now; one that has it is handed on as it is.

    A state that is to be forgotten after a time from now on counts as `written` at this time.
    """
    found = {TIMERS: tables[TIMERS]} if TIMERS in tables else {}
    for field in fields:
        table = tables.get(field.name)
        if table is None and field.was is not None:
            table = tables.get(field.was)
        if table is not None:
            found[field.name] = _current(table, field, keys, written)
    return found


def _current(
    table: Frame, field: StateField, keys: Mapping[str, pl.DataType], written: int
) -> Frame:
    wanted = pl.Schema(table_schema(field, keys))
    if table.schema == wanted:
        return table
    name = value_name(keys)
    if name not in table.columns:
        raise _strange(field, f"a table with the columns {', '.join(table.columns)}")
    changed = table.with_columns(_converted(table[name], field).alias(name))
    if field.ttl is not None and WRITTEN not in table.columns:
        changed = changed.with_columns(pl.lit(written, pl.Int64).alias(WRITTEN))
    return changed.select(wanted.names()).cast(wanted)


def _converted(values: pl.Series, field: StateField) -> pl.Series:
    wanted = state_dtype(field)
    if values.dtype == wanted:
        return values
    if not values.dtype.is_nested() and not wanted.is_nested():
        _require_wider(values.dtype, wanted, field)
        return values.cast(wanted)
    try:
        made = [None if value is None else _held(value, field) for value in values.to_list()]
        return pl.Series(values.name, made, dtype=wanted, strict=True)
    except (TypeError, AttributeError, ValueError, pl.exceptions.PolarsError):
        raise _strange(field, f"values of type {values.dtype}") from None


def _require_wider(before: pl.DataType, after: pl.DataType, field: StateField) -> None:
    number = before.is_integer() and after.is_numeric()
    if not number and not (before.is_decimal() and after.is_decimal()):
        raise _strange(field, f"values of type {before}")


def _held(value: Any, field: StateField) -> Any:  # noqa: ANN401
    if field.holds == "value":
        return _value(value, field.type)
    if field.holds == "list":
        return [_value(item, field.type) for item in value]
    return {name: _value(item, field.type) for name, item in value.items()}


def _value(value: Any, type_: Type) -> Any:  # noqa: ANN401
    """Bring a value into the form of a type: a struct gets the fields that are declared."""
    if value is None:
        return None
    if type_.kind is Kind.STRUCT:
        return {name: _value(value.get(name), part) for name, part in type_.fields}
    if type_.kind is Kind.ARRAY and type_.item is not None:
        return [_value(item, type_.item) for item in value]
    if type_.kind is Kind.MAP and type_.item is not None:
        return {name: _value(item, type_.item) for name, item in value.items()}
    if dtype_of(type_).is_float():
        return float(value)
    return value


def _strange(field: StateField, found: str) -> StateError:
    return StateError(
        "STATE_CHANGE",
        f'stored state "{field.name}" has {found}, and {field} is declared now',
        hint="Declare what it held or something wider, or give the new one another name.",
    )
