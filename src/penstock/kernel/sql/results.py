"""What is made of collected values when the result of an aggregate is read."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.functions.argument import Arguments, Lowering
from penstock.schema.types import Type

HELD = "V"
"""The field in which a collected value stands, so that a null is kept too."""


def _unpacked(arguments: Arguments, gives: Type) -> pl.Expr:
    value = arguments[0].value.list.eval(pl.element().struct.field(HELD))
    return value.cast(dtype_of(gives))


def _only(arguments: Arguments, _: Type) -> pl.Expr:
    """The value that all rows have, or null where they have several."""
    values = arguments[0].value
    return pl.when(values.list.len() == 1).then(values.list.first().struct.field(HELD))


def _list_sum(arguments: Arguments, gives: Type) -> pl.Expr:
    return arguments[0].value.list.sum().cast(dtype_of(gives))


RESULTS: Mapping[str, Lowering] = {
    "unpacked": _unpacked,
    "only_value": _only,
    "list_sum": _list_sum,
}
