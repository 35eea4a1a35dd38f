"""Functions of text; a place in a text counts characters (code points), as in Spark."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from penstock.kernel.functions.argument import Arguments, Lowering, constant_int, constant_text
from penstock.schema.types import INT64, STRING, Kind, Type

_FAR = 2**31 - 1
_WITH_LENGTH = 3


def _lower(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].as_type(STRING).str.to_lowercase()


def _upper(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].as_type(STRING).str.to_uppercase()


def _trim(arguments: Arguments, _: Type) -> pl.Expr:
    # Blanks only, as in Spark: other white space stays.
    return arguments[0].as_type(STRING).str.strip_chars(" ")


def _concat(arguments: Arguments, _: Type) -> pl.Expr:
    return pl.concat_str([argument.as_type(STRING) for argument in arguments])


def _contains(arguments: Arguments, _: Type) -> pl.Expr:
    text, part = (argument.as_type(STRING) for argument in arguments)
    return text.str.contains(part, literal=True)


def _starts_with(arguments: Arguments, _: Type) -> pl.Expr:
    text, part = (argument.as_type(STRING) for argument in arguments)
    return text.str.starts_with(part)


def _ends_with(arguments: Arguments, _: Type) -> pl.Expr:
    text, part = (argument.as_type(STRING) for argument in arguments)
    return text.str.ends_with(part)


def _length(arguments: Arguments, _: Type) -> pl.Expr:
    if arguments[0].type.kind is Kind.BYTES:
        return arguments[0].value.bin.size("b").cast(pl.Int32)
    return arguments[0].as_type(STRING).str.len_chars().cast(pl.Int32)


def _substring(arguments: Arguments, _: Type) -> pl.Expr:
    text = arguments[0].as_type(STRING)
    place = arguments[1].as_type(INT64)
    length = pl.lit(_FAR, pl.Int64)
    if len(arguments) == _WITH_LENGTH:
        length = arguments[2].as_type(INT64)
    size = text.str.len_chars().cast(pl.Int64)
    start = pl.when(place > 0).then(place - 1).when(place < 0).then(size + place).otherwise(place)
    end = start + length
    first = pl.max_horizontal(start, pl.lit(0, pl.Int64))
    taken = pl.max_horizontal(end - first, pl.lit(0, pl.Int64))
    known = text.is_not_null() & place.is_not_null() & length.is_not_null()
    return pl.when(known).then(text.str.slice(first, taken))


def _replace(arguments: Arguments, _: Type) -> pl.Expr:
    text = arguments[0].as_type(STRING)
    part = constant_text(arguments, 1)
    new = constant_text(arguments, 2, default="")
    return text.str.replace_all(part, new, literal=True) if part else text


def _lpad(arguments: Arguments, _: Type) -> pl.Expr:
    text, length, missing, filling = _padding(arguments)
    return pl.when(missing <= 0).then(text.str.slice(0, length)).otherwise(filling + text)


def _rpad(arguments: Arguments, _: Type) -> pl.Expr:
    text, length, missing, filling = _padding(arguments)
    return pl.when(missing <= 0).then(text.str.slice(0, length)).otherwise(text + filling)


def _padding(arguments: Arguments) -> tuple[pl.Expr, int, pl.Expr, pl.Expr]:
    text = arguments[0].as_type(STRING)
    length = max(0, constant_int(arguments, 1))
    pad = constant_text(arguments, 2, default=" ")
    missing = pl.lit(length, pl.Int64) - text.str.len_chars().cast(pl.Int64)
    most = (pad * length)[:length]
    wanted = pl.max_horizontal(missing, pl.lit(0, pl.Int64))
    return text, length, missing, pl.lit(most).str.slice(0, wanted)


def _reverse(arguments: Arguments, gives: Type) -> pl.Expr:
    if gives.kind is Kind.ARRAY:
        return arguments[0].value.list.reverse()
    # The reversal that polars has keeps the parts of a joined character in order.
    return arguments[0].value.str.split("").list.reverse().list.join("")


TEXT: Mapping[str, Lowering] = {
    "lower": _lower,
    "upper": _upper,
    "trim": _trim,
    "concat": _concat,
    "contains": _contains,
    "starts_with": _starts_with,
    "ends_with": _ends_with,
    "length": _length,
    "substring": _substring,
    "replace": _replace,
    "lpad": _lpad,
    "rpad": _rpad,
    "reverse": _reverse,
}
