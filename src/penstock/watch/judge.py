"""Rows judged by a rule: their keys, whether it holds for them, whether it is over."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

import polars as pl

from penstock.errors import ConfigError, did_you_mean
from penstock.kernel.port import Frame
from penstock.schema.schema import Field, Schema
from penstock.schema.types import FLOAT64
from penstock.watch.condition import Condition, condition_of
from penstock.watch.rule import Rule
from penstock.watch.sighting import CLEARS, HOLDS, KEY, key_text

CHANGE = "_change"
RATE = "_rate"
_NAMED = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Judge:
    """A rule, ready for rows with these columns; `told` are the columns that an alert shows."""

    rule: Rule
    when: Condition | None
    clear: Condition | None
    key: tuple[str, ...]
    told: tuple[str, ...]
    numbers: tuple[str, ...]

    def keyed(self, rows: Frame) -> Frame:
        """Add the key of each row, as JSON."""
        return rows.with_columns(key_text(self.key))

    def judged(self, rows: Frame) -> Frame:
        """Give key, verdict and told columns of rows that have keys."""
        holds = pl.lit(value=False) if self.when is None else self.when.expr
        clears = ~holds if self.clear is None else self.clear.expr & ~holds
        try:
            return rows.select(KEY, holds.alias(HOLDS), clears.alias(CLEARS), *self.told)
        except pl.exceptions.PolarsError as error:
            first = str(error).split("\n", 1)[0]
            raise ConfigError(
                "ALERT_CONDITION",
                f'alert "{self.rule.name}": its condition cannot be computed: {first}',
                hint="Say what is to be of such a row, as in COALESCE(count, 0) > 10.",
            ) from error

    def changed(self, rows: Frame, before: Frame) -> Frame:
        """Add what numbers have become since rows of the same keys `before`."""
        assert self.rule.over is not None
        seconds = self.rule.over / timedelta(seconds=1)
        old = before.select(KEY, *(pl.col(name).alias(f"_was_{name}") for name in self.numbers))
        joined = rows.join(old, on=KEY, how="left", maintain_order="left")
        change = {
            name: (pl.col(name).cast(pl.Float64) - pl.col(f"_was_{name}").cast(pl.Float64))
            for name in self.numbers
        }
        return joined.with_columns(
            *(value.alias(f"{name}{CHANGE}") for name, value in change.items()),
            *((value / seconds).alias(f"{name}{RATE}") for name, value in change.items()),
        ).drop(f"_was_{name}" for name in self.numbers)


def judge_of(rule: Rule, schema: Schema, key: tuple[str, ...]) -> Judge:
    """Make a rule ready for rows; a column that is not there is refused."""
    numbers = tuple(item.name for item in schema.fields if item.type.numeric)
    seen = schema
    if rule.over is not None:
        added = (Field(f"{n}{end}", FLOAT64) for n in numbers for end in (CHANGE, RATE))
        seen = schema.with_fields(added)
    role = f'alert "{rule.name}"'
    when = condition_of(rule.when, seen, role) if rule.when else None
    clear = condition_of(rule.clear, seen, role) if rule.clear else None
    for name in (*key, *rule.group_by):
        if name not in seen.names:
            raise ConfigError(
                "ALERT_CONDITION",
                f'{role} names the column "{name}", which {rule.watched} {rule.place} has not',
                hint=did_you_mean(name, seen.names) or f"The columns: {', '.join(seen.names)}.",
            )
    read = [name for part in (when, clear) if part is not None for name in part.columns]
    said = [name for name in _NAMED.findall(rule.message) if name in seen.names]
    told = tuple(dict.fromkeys([*key, *rule.group_by, *read, *said]))
    return Judge(rule, when, clear, key, told, numbers)
