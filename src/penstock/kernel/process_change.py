"""Tables of states as they were stored, made into what the program declares now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pyarrow as pa

from penstock.errors import SchemaError, StateError
from penstock.kernel.columns import series_of
from penstock.kernel.port import Frame
from penstock.kernel.process_column import (
    WRITTEN,
    map_series,
    state_dtype,
    table_schema,
    value_name,
)
from penstock.kernel.process_timers import TIMERS
from penstock.kernel.reshape import reshaped, with_names
from penstock.model.migration import Migration, Renamed, renamed_type, renamed_value
from penstock.model.process import StateField
from penstock.model.process_change import stored_states
from penstock.schema.objects import defaults_of, plain
from penstock.schema.types import array_of


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
    names = {field.name for field in fields}
    for field in fields:
        table = tables.get(field.name)
        if table is None and field.was is not None and field.was not in names:
            table = tables.get(field.was)
        if table is not None:
            found[field.name] = _current(table, field, keys, written)
    return found


def migrated_tables(
    tables: Mapping[str, Frame],
    before: Sequence[StateField],
    fields: Sequence[StateField],
    keys: Mapping[str, pl.DataType],
) -> dict[str, Frame]:
    """Take stored tables through the migrations from their versions to those declared now.

    They have the names that are declared now; `current_tables` does the rest.
    """
    names = {field.name for field in before}
    found = {name: table for name, table in tables.items() if name not in names}
    for name, old in stored_states(before, fields).items():
        field = next(item for item in fields if item.name == name)
        if old.name in tables:
            steps = field.steps_from(old.version)
            found[name] = _stepped(tables[old.name], old, field, steps, value_name(keys))
    return found


def _stepped(
    table: Frame, old: StateField, field: StateField, steps: Sequence[Migration], name: str
) -> Frame:
    if not steps:
        return table
    names = [step for step in steps if isinstance(step, Renamed)]
    if len(names) == len(steps):
        type_ = old.type
        for step in names:
            type_ = renamed_type(type_, step)
        return table.with_columns(with_names(table[name], state_dtype(replace(old, type=type_))))
    made = _made(table[name], field, steps)
    return table.with_columns(made).filter(made.is_not_null())


def _made(values: pl.Series, field: StateField, steps: Sequence[Migration]) -> pl.Series:
    """Let functions of the user make values anew; those that are nothing now are null."""
    defaults = {path: value for path, value in defaults_of(field.python).items() if "." not in path}
    made = [_of_holder(value, field, steps, defaults) for value in values.to_list()]
    try:
        if field.holds == "map":
            return map_series(values.name, made, field)
        type_ = field.type if field.holds == "value" else array_of(field.type)
        return series_of(values.name, made, type_)
    except SchemaError as error:
        raise StateError(
            "STATE_MIGRATION",
            f'the migration of state "{field.name}" to version {field.version} gave values that are'
            f" not of {field}: {error.fact}",
            hint="Let its function give values of the declared type; what is stored is untouched.",
        ) from error


def _of_holder(
    value: Any,  # noqa: ANN401
    field: StateField,
    steps: Sequence[Migration],
    defaults: Mapping[str, Any],
) -> Any:  # noqa: ANN401
    def one(item: Any) -> Any:  # noqa: ANN401
        new = plain(_asked(item, field, steps))
        return {**defaults, **new} if isinstance(new, dict) else new

    if field.holds == "value":
        return one(value)
    if field.holds == "list":
        return [one(item) for item in value] or None
    return {name: one(item) for name, item in value.items()} or None


def _asked(value: Any, field: StateField, steps: Sequence[Migration]) -> Any:  # noqa: ANN401
    new = value
    for step in steps:
        if isinstance(step, Renamed):
            new = renamed_value(new, step)
            continue
        try:
            new = step(new)
        except Exception as error:
            raise StateError(
                "STATE_MIGRATION",
                f'the migration of state "{field.name}" to version {field.version} failed on'
                f" {value!r:.200} with {type(error).__name__}: {error}",
                hint="Correct its function and start again: what is stored is untouched.",
            ) from error
    return new


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
    if not values.dtype.is_nested() and not wanted.is_nested() and values.dtype != wanted:
        _require_wider(values.dtype, wanted, field)
    try:
        return reshaped(values, wanted, defaults_of(field.python))
    except pa.ArrowException:
        raise _strange(field, f"values of type {values.dtype}") from None


def _require_wider(before: pl.DataType, after: pl.DataType, field: StateField) -> None:
    number = before.is_integer() and after.is_numeric()
    if not number and not (before.is_decimal() and after.is_decimal()):
        raise _strange(field, f"values of type {before}")


def _strange(field: StateField, found: str) -> StateError:
    return StateError(
        "STATE_CHANGE",
        f'stored state "{field.name}" has {found}, and {field} is declared now',
        hint="Declare what it held or something wider, or give the new one another name.",
    )
