"""Texts and numbers as bytes, and back."""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Callable, Mapping
from functools import partial

import polars as pl

from penstock.kernel.functions.argument import Arguments, Lowering
from penstock.kernel.sql.rows import by_row, called
from penstock.model.expr import Literal
from penstock.schema.types import Type

_SIGNED = re.compile(r"(?s)^(?:0x(.*)|[xX]'(.*)')$")


def _hex_bytes(text: str) -> bytes:
    """Read 0x1A, X'1A' or 1A; only the first may have an odd number of digits."""
    found = _SIGNED.match(text)
    digits = text
    if found is not None and found[1] is not None:
        digits = found[1].zfill(len(found[1]) + len(found[1]) % 2)
    elif found is not None:
        digits = found[2]
    if not re.fullmatch("[0-9a-fA-F]*", digits):
        raise ValueError
    return bytes.fromhex(digits)


def _base64_bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4))


_READ: Mapping[str, Callable[[str], bytes]] = {
    "hex": _hex_bytes,
    "utf8": lambda text: text.encode(),
    "ascii": lambda text: text.encode("ascii", errors="replace"),
    "base64": _base64_bytes,
}
_WRITE: Mapping[str, Callable[[bytes], str]] = {
    "hex": lambda value: value.hex(),
    "utf8": lambda value: value.decode("utf8", errors="replace"),
    # Java has one sign for each byte that is not of the seven bits.
    "ascii": lambda value: value.decode("ascii", errors="replace"),
    "base64": lambda value: base64.b64encode(value).decode(),
}


def _encode(text: str, source: str, target: str) -> str | None:
    if source.lower() == target.lower():
        return None
    return _WRITE[target.lower()](_READ[source.lower()](text))


def _to_bytes(text: str, encoding: str) -> bytes:
    return _READ[encoding.lower()](text)


def _from_bytes(value: bytes, encoding: str) -> str:
    text = _WRITE[encoding.lower()](value)
    return text.upper() if encoding.lower() == "hex" else text


_ORDERS = {"BIG_ENDIAN": ">", "LITTLE_ENDIAN": "<"}


def _number(form: str, value: bytes, order: str = "BIG_ENDIAN") -> int | float | None:
    try:
        (number,) = struct.unpack(_ORDERS[order.upper()] + form, value)
    except struct.error:
        return None
    return number  # type: ignore[no-any-return]


def _column_to_bytes(arguments: Arguments, gives: Type) -> pl.Expr:
    """UTF-8 is what the texts of a column are; others are read text by text."""
    if _constant(arguments) == "utf8":
        return arguments[0].value.cast(pl.Binary)
    return called(_to_bytes, [item.value for item in arguments], gives)


def _column_from_bytes(arguments: Arguments, gives: Type) -> pl.Expr:
    value = arguments[0].value
    match _constant(arguments):
        case "hex":
            return value.bin.encode("hex").str.to_uppercase()
        case "base64":
            return value.bin.encode("base64")
        case _:
            return called(_from_bytes, [item.value for item in arguments], gives)


def _constant(arguments: Arguments) -> str:
    encoding = arguments[1].expr
    return str(encoding.value).lower() if isinstance(encoding, Literal) else ""


ENCODINGS: Mapping[str, Lowering] = {
    "encode": by_row(_encode),
    "to_bytes": _column_to_bytes,
    "from_bytes": _column_from_bytes,
    "int_from_bytes": by_row(partial(_number, "i")),
    "bigint_from_bytes": by_row(partial(_number, "q")),
    "double_from_bytes": by_row(partial(_number, "d")),
}
