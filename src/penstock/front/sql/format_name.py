"""Names, texts and types as SQL writes them."""

from __future__ import annotations

import re

from penstock.front.sql.lex_words import KEYWORD_BEFORE, RESERVED
from penstock.front.sql.tree import (
    ArrayType,
    Duration,
    MapType,
    Name,
    NamedType,
    SqlType,
    StructField,
    StructType,
)

_PLAIN = re.compile(r"[A-Z_][A-Z0-9_@]*|[0-9][A-Z0-9_@]*[A-Z_@][A-Z0-9_@]*")
_NUMBER = re.compile(r"[0-9]+E[0-9]+")
_VARIABLE = re.compile(r"\$(?=\{[A-Za-z_][A-Za-z0-9_@]*\})")
# fmt: off
_OPENING = {
    "ALTER", "ANALYZE", "ASSERT", "DEFINE", "DESCRIBE", "EXPLAIN", "LIST", "PAUSE", "PRINT",
    "RESUME", "RUN", "SET", "SHOW", "TERMINATE", "UNDEFINE", "UNSET",
}
# fmt: on
_QUOTED = RESERVED | frozenset(KEYWORD_BEFORE) | _OPENING | {"GLOBAL", "STREAMS", "TABLES"}
"""The words that somewhere are not taken for a name, although one could stand there."""


def format_name(name: Name) -> str:
    """Write a name so that it is read as the same: in backquotes where it is not plain."""
    return name.text if _is_plain(name.text) and name.text not in _QUOTED else _backquoted(name)


def format_names(names: tuple[Name, ...]) -> str:
    """Write names with commas."""
    return ", ".join(map(format_name, names))


def format_text(text: str) -> str:
    """Write a text in quotes."""
    return f"'{_escaped(text).replace(_QUOTE, _QUOTE * 2)}'"


def format_body(text: str) -> str:
    """Write the text of a function, between dollar signs where that is easier to read."""
    if ("'" in text or "\n" in text) and "$$" not in text and not text.startswith("{"):
        return f"$${text}$$" if not text.endswith("$") else format_text(text)
    return format_text(text)


def format_duration(duration: Duration) -> str:
    """Write a duration, such as 10 SECONDS."""
    plural = "" if duration.amount == 1 else "S"
    return f"{duration.amount} {duration.unit.upper()}{plural}"


def format_type(kind: SqlType) -> str:
    """Write a type."""
    match kind:
        case ArrayType(item):
            return f"ARRAY<{format_type(item)}>"
        case MapType(key, item):
            return f"MAP<{format_type(key)}, {format_type(item)}>"
        case StructType(fields):
            return f"STRUCT<{', '.join(map(_struct_field, fields))}>"
        case NamedType(name, parameters):
            listed = f"({', '.join(map(str, parameters))})" if parameters else ""
            return f"{format_name(name)}{listed}"


def _struct_field(field: StructField) -> str:
    return f"{format_name(field.name)} {format_type(field.type)}"


_QUOTE = "'"


def _is_plain(text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None and _NUMBER.fullmatch(text) is None


def _backquoted(name: Name) -> str:
    return f"`{_escaped(name.text).replace('`', '``')}`"


def _escaped(text: str) -> str:
    """Give a text in which nothing is taken for a variable."""
    return _VARIABLE.sub("$$", text)
