"""WITH (...): what a source or a query is told, checked and read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import cast, get_args

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.source import KeyWindow, RecordFormat, WindowKind
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import UNITS, Span, Unit
from penstock.front.sql.tree_expression import (
    BooleanLiteral,
    IntegerLiteral,
    Literals,
    NullLiteral,
    StringLiteral,
)
from penstock.front.sql.tree_query import Property

TYPED = "TYPED"
"""The format of topics that have columns of their own."""
FORMATS = (
    "KAFKA",
    "JSON",
    "JSON_SR",
    "AVRO",
    "DELIMITED",
    "PROTOBUF",
    "PROTOBUF_NOSR",
    "NONE",
    TYPED,
)
_UNWRAPPABLE = ("JSON", "JSON_SR", "AVRO", "PROTOBUF")
_ALONE = ("KAFKA", "DELIMITED")
_DELIMITERS = {"SPACE": " ", "TAB": "\t"}
_BOTH = (
    "KAFKA_TOPIC",
    "FORMAT",
    "KEY_FORMAT",
    "VALUE_FORMAT",
    "PARTITIONS",
    "REPLICAS",
    "TIMESTAMP",
    "TIMESTAMP_FORMAT",
    "WRAP_SINGLE_VALUE",
    "VALUE_DELIMITER",
    "KEY_DELIMITER",
    "VALUE_AVRO_SCHEMA_FULL_NAME",
    "VALUE_SCHEMA_FULL_NAME",
    "KEY_SCHEMA_FULL_NAME",
    "KEY_SCHEMA_ID",
    "VALUE_SCHEMA_ID",
    "RETENTION_MS",
    "KEY_PROTOBUF_NULLABLE_REPRESENTATION",
    "VALUE_PROTOBUF_NULLABLE_REPRESENTATION",
    "CLEANUP_POLICY",
    "LATENESS",
    "IDLE",
    "KEY",
)
OF_SOURCES = (*_BOTH, "WINDOW_TYPE", "WINDOW_SIZE", "SOURCED_BY_CONNECTOR")
OF_QUERIES = _BOTH
OF_INSERTS = ("QUERY_ID",)
_SPAN = re.compile(r"\s*(\d+)\s*([A-Za-z]+)\s*")


@dataclass(frozen=True, slots=True)
class Properties:
    """Values by name, each with its place."""

    given: Mapping[str, Property]
    text: SourceText

    def get(self, name: str) -> str | None:
        """Give a property as text, or none where it was not said."""
        found = self.given.get(name)
        return None if found is None else _text(found.value)

    def flag(self, name: str) -> bool | None:
        """Give a property that is true or false."""
        value = self.get(name)
        if value is None:
            return None
        if value.upper() not in ("TRUE", "FALSE"):
            raise self.refused(name, f"is {value}", "Give TRUE or FALSE.")
        return value.upper() == "TRUE"

    def number(self, name: str) -> int | None:
        """Give a property that is a whole number."""
        value = self.get(name)
        if value is None:
            return None
        if not re.fullmatch(r"-?\d+", value):
            raise self.refused(name, f"is {value}", "Give a whole number.")
        return int(value)

    def duration(self, name: str) -> timedelta | None:
        """Give a property that is a time, written as in '30 SECONDS'."""
        said = self.get(name)
        if said is None:
            return None
        match = _SPAN.fullmatch(said)
        unit = "" if match is None else match[2].lower().removesuffix("s")
        if match is None or unit not in UNITS:
            raise self.refused(name, f'is "{said}"', "Write it as in '30 SECONDS'.")
        return int(match[1]) * UNITS[cast("Unit", unit)]

    def span(self, name: str) -> Span:
        """Say where a property stands."""
        return self.given[name].span if name in self.given else Span(0, 0)

    def refused(self, name: str, fact: str, hint: str) -> SqlError:
        """Give an error that shows a property."""
        return SqlError(
            "SQL_PROPERTY", self.text.shown(f"property {name} {fact}", self.span(name)), hint=hint
        )


def properties_of(said: Iterable[Property], known: Iterable[str], text: SourceText) -> Properties:
    """Read WITH (...); a name that is not known, or is given twice, is refused."""
    given: dict[str, Property] = {}
    for item in said:
        name = item.name.upper()
        if name not in known:
            raise SqlError(
                "SQL_PROPERTY",
                text.shown(f'property "{item.name}" does not exist', item.span),
                hint=did_you_mean(name, known) or f"There are: {', '.join(known)}.",
            )
        if name in given:
            raise SqlError(
                "SQL_PROPERTY",
                text.shown(f"property {name} is given twice", item.span),
                hint="Give it once.",
            )
        given[name] = item
    found = Properties(given, text)
    _contradictions(found)
    return found


def _contradictions(found: Properties) -> None:
    if "FORMAT" in found.given:
        for name in ("KEY_FORMAT", "VALUE_FORMAT"):
            if name in found.given:
                raise found.refused(
                    name, "is given beside FORMAT", "Give FORMAT alone, or one for each part."
                )
    if "WINDOW_SIZE" in found.given and "WINDOW_TYPE" not in found.given:
        raise found.refused("WINDOW_SIZE", "is given without WINDOW_TYPE", "Give both.")
    if "TIMESTAMP_FORMAT" in found.given and "TIMESTAMP" not in found.given:
        raise found.refused("TIMESTAMP_FORMAT", "is given without TIMESTAMP", "Give both.")
    partitions = found.number("PARTITIONS")
    if partitions is not None and partitions < 1:
        raise found.refused("PARTITIONS", f"is {partitions}", "Give a number above 0.")


def format_name(found: Properties, part: str, default: str | None) -> str:
    """Give the format of the part KEY or VALUE."""
    said = "FORMAT" if "FORMAT" in found.given else f"{part}_FORMAT"
    name = (found.get(said) or default or "").upper()
    if not name:
        raise SqlError(
            "SQL_PROPERTY",
            found.text.shown(
                f"property {part}_FORMAT is missing", Span(0, min(len(found.text.text), 6))
            ),
            hint=f"Add WITH ({part}_FORMAT='JSON', ...).",
        )
    if name not in FORMATS:
        raise found.refused(
            said, f'is "{name}"', did_you_mean(name, FORMATS) or f"One of: {', '.join(FORMATS)}."
        )
    return name


def record_format(
    found: Properties, part: str, columns: int, defaults: RecordFormat | None, *, wrap: bool = True
) -> RecordFormat:
    """Give how a part is written; `wrap` is what holds where nothing is said."""
    name = format_name(found, part, None if defaults is None else defaults.name)
    same = defaults is not None and defaults.name == name
    said = found.get(f"{part}_DELIMITER")
    if said is not None and name != "DELIMITED":
        raise found.refused(
            f"{part}_DELIMITER", f"is given with the format {name}", "It belongs to DELIMITED."
        )
    delimiter = defaults.delimiter if same and defaults is not None else ","
    delimiter = delimiter if said is None else _delimiter(found, f"{part}_DELIMITER", said)
    return RecordFormat(name, _wrapped(found, part, name, columns, wrap=wrap), delimiter)


def _delimiter(found: Properties, name: str, said: str) -> str:
    sign = _DELIMITERS.get(said.upper(), said)
    if len(sign) != 1:
        raise found.refused(name, f'is "{said}"', "Give one character, SPACE or TAB.")
    return sign


def _wrapped(found: Properties, part: str, name: str, columns: int, *, wrap: bool) -> bool:
    if part == "KEY":
        return columns > 1
    said = found.flag("WRAP_SINGLE_VALUE")
    if said is None or (name == "DELIMITED" and not said):
        return name != "KAFKA" and (columns != 1 or wrap or name not in _UNWRAPPABLE)
    if columns != 1:
        raise found.refused(
            "WRAP_SINGLE_VALUE",
            f"is given for {columns} columns",
            "It is only for a value of one column.",
        )
    if name not in _UNWRAPPABLE and (said or name not in _ALONE):
        raise found.refused(
            "WRAP_SINGLE_VALUE", f"is given for {name}, which has no choice", "Leave it out."
        )
    return said


def key_window(found: Properties) -> KeyWindow | None:
    """Give the windows that keys lie in."""
    said = found.get("WINDOW_TYPE")
    if said is None:
        return None
    kind = said.lower()
    if kind not in get_args(WindowKind):
        raise found.refused("WINDOW_TYPE", f'is "{said}"', "Give TUMBLING, HOPPING or SESSION.")
    size = found.get("WINDOW_SIZE")
    if (size is None) != (kind == "session"):
        raise found.refused(
            "WINDOW_TYPE",
            f"is {said} {'without' if size is None else 'with'} WINDOW_SIZE",
            "Give WINDOW_SIZE for TUMBLING and HOPPING, and not for SESSION.",
        )
    return KeyWindow(cast("WindowKind", kind), found.duration("WINDOW_SIZE"))


def _text(value: Literals) -> str:
    match value:
        case StringLiteral(text):
            return text
        case BooleanLiteral(flag):
            return "TRUE" if flag else "FALSE"
        case IntegerLiteral(number):
            return str(number)
        case NullLiteral():
            return "NULL"
        case _:
            return str(value.text) if hasattr(value, "text") else str(value.value)
