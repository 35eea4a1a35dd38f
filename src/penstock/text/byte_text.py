"""Bytes as text: one line, nothing that a terminal would obey, exact where it is JSON."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal

_NAMES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def line_text(data: bytes | None, *, keep: str = "") -> str:
    """Show bytes on one line: UTF-8 as it is, the rest and control characters escaped.

    The characters of `keep` are left as they are; no bytes at all are shown as `null`.
    """
    if data is None:
        return "null"
    text = data.decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else _escape(char) for char in text)


def json_value(data: bytes | None) -> str | dict[str, str] | None:
    """Give bytes as JSON: a string where they are UTF-8, else an object with their base64."""
    if data is None:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def json_cell(cell: object) -> object:
    """Give what JSON has no word for as one it has; for `json.dumps(default=...)`."""
    match cell:
        case bytes():
            return json_value(cell)
        case datetime() | date() | time():
            return cell.isoformat()
        case timedelta():
            return cell.total_seconds()
        case Decimal():
            return str(cell)
        case Mapping():
            return dict(cell)
        case _:
            return str(cell)


def bytes_of_json(value: object) -> bytes | None:
    """Read what `json_value` wrote; ValueError for anything else."""
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict) and set(value) == {"base64"} and isinstance(value["base64"], str):
        return base64.b64decode(value["base64"], validate=True)
    raise ValueError


def _escape(char: str) -> str:
    code = ord(char)
    if char in _NAMES:
        return _NAMES[char]
    return f"\\x{code:02x}" if code < 0x100 else char.encode("unicode_escape").decode()  # noqa: PLR2004
