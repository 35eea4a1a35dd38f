"""Functions of text and bytes; a place in a text counts from 1."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.functions.argument import Arguments, Lowering
from penstock.kernel.sql.rows import by_row, called, each_row, of_columns
from penstock.model.expr import Expr, Literal
from penstock.schema.types import Kind, Type

_ESCAPED = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")
_WIDEST = 10_000
"""How long a filling is made at once, for all rows."""
_BLANK = "".join(chr(code) for code in range(33))


def _coalesce(arguments: Arguments, gives: Type) -> pl.Expr:
    return pl.coalesce([argument.value.cast(dtype_of(gives)) for argument in arguments])


def _nullif(arguments: Arguments, gives: Type) -> pl.Expr:
    one, other = arguments
    if gives.kind in (Kind.ARRAY, Kind.MAP, Kind.STRUCT):
        values = [one.value, other.value]
        return called(lambda a, b: None if a == b else a, values, gives, nulls=True)
    same = (one.value == other.value).fill_null(value=False)
    return pl.when(~same).then(one.value)


def _concat(arguments: Arguments, gives: Type) -> pl.Expr:
    values = [argument.value for argument in arguments]
    if gives.kind is Kind.BYTES:
        return called(_joined_bytes, values, gives, nulls=True)
    return pl.concat_str([value.cast(pl.String) for value in values], ignore_nulls=True)


def _joined_bytes(*parts: bytes | None) -> bytes:
    return b"".join(part for part in parts if part is not None)


def _concat_ws(arguments: Arguments, gives: Type) -> pl.Expr:
    between, *parts = arguments
    if gives.kind is Kind.STRING and isinstance(between.expr, Literal) and between.expr.value:
        values = [part.value.cast(pl.String) for part in parts]
        return pl.concat_str(values, separator=str(between.expr.value), ignore_nulls=True)
    return called(_joined_by, [argument.value for argument in arguments], gives, nulls=True)


def _joined_by(between: str | bytes | None, *parts: str | bytes | None) -> str | bytes | None:
    if between is None:
        return None
    there: Any = [part for part in parts if part is not None]
    return between.join(there)


def _len(arguments: Arguments, _: Type) -> pl.Expr:
    value, type_ = arguments[0].value, arguments[0].type
    size = value.bin.size("b") if type_.kind is Kind.BYTES else value.str.len_chars()
    return size.cast(pl.Int32)


def _substring(arguments: Arguments, gives: Type) -> pl.Expr:
    values = [argument.value for argument in arguments]
    if gives.kind is Kind.BYTES:
        return called(_part, values, gives)
    text, place, *length = (values[0], *(value.cast(pl.Int64) for value in values[1:]))
    zero = pl.lit(0, pl.Int64)
    size = text.str.len_chars().cast(pl.Int64)
    from_end = pl.max_horizontal(size + place, zero)
    from_start = pl.max_horizontal(pl.min_horizontal(place - 1, size), zero)
    start = pl.when(place < 0).then(from_end).otherwise(from_start)
    taken = pl.max_horizontal(length[0], zero) if length else size
    known = pl.all_horizontal([value.is_not_null() for value in values])
    return pl.when(known).then(text.str.slice(start, taken))


def _part(value: str | bytes, place: int, length: int | None = None) -> str | bytes:
    size = len(value)
    start = max(size + place, 0) if place < 0 else max(min(place - 1, size), 0)
    end = size if length is None else max(min(start + length, size), start)
    return value[start:end]


def _instr(text: str, part: str, place: int = 1, occurrence: int = 1) -> int:
    if text is None or part is None or abs(place) > len(text):
        return 0
    if place >= 0:
        found = max(place, 1) - 2
        for _ in range(occurrence):
            found = text.find(part, found + 1)
            if found < 0:
                return 0
        return found + 1
    end = len(text) + place + len(part)
    found = len(text)
    for _ in range(occurrence):
        found = text.rfind(part, 0, end)
        if found < 0:
            return 0
        end = found + len(part) - 1
    return found + 1


def _place(arguments: Arguments, gives: Type) -> pl.Expr:
    """The place of the first occurrence; for others than the first each row is looked at."""
    if len(arguments) > 2:  # noqa: PLR2004
        return called(_instr, [item.value for item in arguments], gives, nulls=True)
    text, part = (item.value for item in arguments)
    before = text.str.splitn(part, 2).struct.field("field_0").str.len_chars()
    inside = text.str.contains(part, literal=True)
    found = pl.when(part == "").then(pl.lit(1)).when(inside).then(before + 1).otherwise(pl.lit(0))
    known = text.is_not_null() & part.is_not_null() & (text != "")
    return pl.when(known).then(found).otherwise(pl.lit(0)).cast(pl.Int32)


def _initcap(text: str) -> str:
    return re.sub(r"\S+", lambda found: found[0][0].upper() + found[0][1:].lower(), text)


def _padded(side: str, value: str | bytes, length: int, filling: str | bytes) -> str | bytes:
    if length < 0 or not filling:
        raise ValueError
    missing = length - len(value)
    if missing <= 0:
        return value[:length]
    pad = (filling * (missing // len(filling) + 1))[:missing]
    return pad + value if side == "left" else value + pad  # type: ignore[operator]


def _pad(side: str) -> Lowering:
    """Fill up whole columns where the length and the filling are constants."""

    def lowered(arguments: Arguments, gives: Type) -> pl.Expr:
        text, length, filling = arguments
        size, piece = _constants(length.expr, filling.expr)
        if gives.kind is Kind.BYTES or not piece:
            return called(partial(_padded, side), [item.value for item in arguments], gives)
        missing = size - text.value.str.len_chars().cast(pl.Int64)
        whole = pl.lit((piece * (size // len(piece) + 1))[:size])
        pad = whole.str.slice(0, pl.max_horizontal(missing, pl.lit(0, pl.Int64)))
        both = [pad, text.value] if side == "left" else [text.value, pad]
        return pl.when(missing > 0).then(pl.concat_str(both)).otherwise(text.value.str.head(size))

    return lowered


def _constants(length: Expr, filling: Expr) -> tuple[int, str]:
    """Give a length and a filling that are the same in every row, and usual; or no filling."""
    size = length.value if isinstance(length, Literal) else None
    piece = filling.value if isinstance(filling, Literal) else None
    if not isinstance(size, int) or not isinstance(piece, str) or not 0 <= size <= _WIDEST:
        return 0, ""
    return size, piece


def _replace(arguments: Arguments, gives: Type) -> pl.Expr:
    text, old, new = arguments
    if isinstance(old.expr, Literal) and isinstance(new.expr, Literal) and old.expr.value:
        return text.value.str.replace_all(str(old.expr.value), str(new.expr.value), literal=True)
    return called(_replaced, [item.value for item in arguments], gives)


def _replaced(text: str, old: str, new: str) -> str:
    return text.replace(old, new)


def _split(arguments: Arguments, gives: Type) -> pl.Expr:
    value, by = arguments
    if isinstance(by.expr, Literal) and isinstance(by.expr.value, str) and by.expr.value:
        return value.value.str.split(by.expr.value)
    return called(_parts, [value.value, by.value], gives)


def _parts(value: str | bytes, by: str | bytes) -> list[str | bytes]:
    if by:
        return value.split(by)  # type: ignore[arg-type,return-value]
    return [value[place : place + 1] for place in range(len(value))] or [value]


def _split_index(arguments: Arguments, gives: Type) -> pl.Expr:
    text, by, place = arguments
    if isinstance(by.expr, Literal) and isinstance(by.expr.value, str) and by.expr.value:
        at = place.value.cast(pl.Int64)
        # Polars would count from the end.
        there = pl.when(at >= 0).then(at)
        return text.value.str.split(by.expr.value).list.get(there, null_on_oob=True)
    return called(_part_at, [item.value for item in arguments], gives)


def _part_at(text: str, by: str, place: int) -> str | None:
    parts = _parts(text, by)
    return str(parts[place]) if 0 <= place < len(parts) else None


def _split_to_map(text: str, between: str, inner: str) -> dict[str, str] | None:
    if not between or not inner or between == inner:
        return None
    parts = (entry.split(inner) for entry in text.split(between) if inner in entry)
    return {part[0]: part[1] for part in parts}


def _chr(code: int | str) -> str | None:
    if isinstance(code, int):
        return chr(code)
    if not _ESCAPED.match(code):
        return None
    return _ESCAPED.sub(_unescaped, code)


def _unescaped(found: re.Match[str]) -> str:
    return bytes.fromhex(found[0].replace("\\u", "")).decode("utf-16-be", errors="replace")


def _elt(arguments: Arguments, _: Type) -> pl.Expr:
    place, *texts = (item.value for item in arguments)
    found: pl.Expr = pl.lit(None, pl.String)
    for number, text in enumerate(texts, 1):
        found = pl.when(place == number).then(text.cast(pl.String)).otherwise(found)
    return found


def _field(arguments: Arguments, _: Type) -> pl.Expr:
    wanted, *texts = (item.value.cast(pl.String) for item in arguments)
    found: pl.Expr = pl.lit(0, pl.Int32)
    for number, text in reversed(list(enumerate(texts, 1))):
        same = (wanted == text).fill_null(value=False)
        found = pl.when(same).then(pl.lit(number, pl.Int32)).otherwise(found)
    return found


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _uuid(arguments: Arguments, gives: Type) -> pl.Expr:
    if arguments:
        return called(_uuid_of, [arguments[0].value], gives)
    return of_columns(_new_uuids, [each_row()], pl.String())


def _new_uuids(columns: Sequence[pl.Series]) -> pl.Series:
    return pl.Series([str(uuid.uuid4()) for _ in range(len(columns[0]))], dtype=pl.String)


def _uuid_of(value: bytes) -> str:
    return str(uuid.UUID(bytes=value))


def _trim(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].value.str.strip_chars(_BLANK)


def _lower(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].value.str.to_lowercase()


def _upper(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].value.str.to_uppercase()


TEXTS: Mapping[str, Lowering] = {
    "coalesce": _coalesce,
    "ifnull": _coalesce,
    "nullif": _nullif,
    "chr": by_row(_chr),
    "concat": _concat,
    "concat_ws": _concat_ws,
    "elt": _elt,
    "position": _field,
    "initcap": by_row(_initcap),
    "instr": _place,
    "lcase": _lower,
    "len": _len,
    "lpad": _pad("left"),
    "md5": by_row(_md5),
    "replace": _replace,
    "rpad": _pad("right"),
    "split": _split,
    "split_index": _split_index,
    "split_to_map": by_row(_split_to_map),
    "substring": _substring,
    "trim": _trim,
    "ucase": _upper,
    "uuid": _uuid,
}
