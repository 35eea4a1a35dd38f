"""Schemas as text: `id bigint not null, tags array<string>`, or a file that holds one."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa

from penstock.errors import SchemaError, did_you_mean

_PLAIN = {
    "boolean": pa.bool_(), "bool": pa.bool_(),
    "tinyint": pa.int8(), "int8": pa.int8(),
    "smallint": pa.int16(), "int16": pa.int16(),
    "int": pa.int32(), "integer": pa.int32(), "int32": pa.int32(),
    "bigint": pa.int64(), "long": pa.int64(), "int64": pa.int64(),
    "float": pa.float32(), "real": pa.float32(), "float32": pa.float32(),
    "double": pa.float64(), "float64": pa.float64(),
    "string": pa.string(), "text": pa.string(), "varchar": pa.string(),
    "binary": pa.binary(), "bytes": pa.binary(),
    "date": pa.date32(),
    "time": pa.time32("ms"),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}  # fmt: skip
_NAMES = {kind: name for name, kind in reversed(_PLAIN.items())}
_NESTED = ("array", "decimal", "map", "struct")
_TOKEN = re.compile(r"\s*(?:(`[^`]+`|[A-Za-z_][A-Za-z0-9_.-]*|\d+)|([<>(),:]))")
_END = ""
_SIGNS = frozenset("<>(),:")


def parse_schema(text: str) -> pa.Schema:
    """Read a schema from `name type` pairs, or from a .json or .py file that holds one."""
    if text.endswith(".json"):
        return _from_json(Path(text))
    if text.endswith(".py"):
        return _from_python(Path(text))
    return parse_columns(text)


def parse_columns(text: str) -> pa.Schema:
    """Read a schema from `name type` pairs; no file is looked at."""
    return pa.schema(_Parser(text).fields(_END))


def type_text(kind: pa.DataType) -> str:
    """Write a type as `parse_schema` reads it; one it has no word for in Arrow's own."""
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_map(kind):
        return f"map<{type_text(kind.key_type)}, {type_text(kind.item_type)}>"
    if pa.types.is_list(kind):
        return f"array<{type_text(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'{field.name}: {type_text(field.type)}' for field in kind)}>"
    return _NAMES.get(kind, str(kind))


def schema_document(schema: pa.Schema) -> list[dict[str, object]]:
    """Give a schema as a list of columns, in the form that `--schema FILE.json` reads."""
    return [
        {"name": field.name, "type": type_text(field.type), "nullable": field.nullable}
        for field in schema
    ]


class _Parser:
    """Reads one schema text from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [*_tokens(text), _END]
        self._at = 0

    def fields(self, end: str) -> list[pa.Field]:
        found = [self._field()]
        while self._take(","):
            found.append(self._field())
        self._expect(end)
        return found

    def _field(self) -> pa.Field:
        name = self._word("a column's name").strip("`")
        self._take(":")
        kind = self._type()
        nullable = True
        if self._peek().lower() == "not":
            self._at += 1
            if self._word('"null" after "not"').lower() != "null":
                raise self._refusal('"not" stands without "null"')
            nullable = False
        return pa.field(name, kind, nullable)

    def _type(self) -> pa.DataType:
        name = self._word("a type").lower()
        if name in _NESTED:
            return _BUILD[name](self)
        if name not in _PLAIN:
            known = [*_PLAIN, *_NESTED]
            raise self._refusal(
                f'type "{name}" does not exist',
                did_you_mean(name, known) or f"Types: {', '.join(known)}.",
            )
        return _PLAIN[name]

    def array(self) -> pa.DataType:
        self._expect("<")
        item = self._type()
        self._expect(">")
        return pa.list_(item)

    def map(self) -> pa.DataType:
        self._expect("<")
        key = self._type()
        self._expect(",")
        item = self._type()
        self._expect(">")
        return pa.map_(key, item)

    def struct(self) -> pa.DataType:
        self._expect("<")
        return pa.struct(self.fields(">"))

    def decimal(self) -> pa.DataType:
        if not self._take("("):
            return pa.decimal128(10, 0)
        precision = self._number()
        scale = self._number() if self._take(",") else 0
        self._expect(")")
        try:
            return pa.decimal128(precision, scale)
        except ValueError as error:
            raise self._refusal(str(error)) from error

    def _number(self) -> int:
        word = self._word("a number")
        if not word.isdigit():
            raise self._refusal(f'"{word}" is not a number')
        return int(word)

    def _word(self, wanted: str) -> str:
        token = self._peek()
        if token == _END or token in _SIGNS:
            raise self._refusal(f"{wanted} is missing {_before(token)}")
        self._at += 1
        return token

    def _expect(self, token: str) -> None:
        if not self._take(token):
            found = self._peek()
            wanted = f'"{token}" is missing ' if token else f'"{found}" is too much '
            raise self._refusal(wanted + (_before(found) if token else "there"))

    def _take(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self._at += 1
        return True

    def _peek(self) -> str:
        return self._tokens[min(self._at, len(self._tokens) - 1)]

    def _refusal(self, fact: str, hint: str = "") -> SchemaError:
        return SchemaError(
            "SCHEMA_TEXT",
            f'schema "{self._text}": {fact}',
            hint=hint or "Write it as: id bigint not null, name string, price decimal(10,2).",
        )


_BUILD: dict[str, Callable[[_Parser], pa.DataType]] = {
    "array": _Parser.array,
    "decimal": _Parser.decimal,
    "map": _Parser.map,
    "struct": _Parser.struct,
}


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            yield text[at:].strip()[0]
            at += len(text[at:]) - len(text[at:].lstrip()) + 1
        else:
            yield found[1] or found[2]
            at = found.end()


def _before(token: str) -> str:
    return "at the end" if token == _END else f'before "{token}"'


def _from_json(path: Path) -> pa.Schema:
    """Read {"id": "bigint"}, or the list that `topics describe --json` gives."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        columns = (
            [{"name": name, "type": kind} for name, kind in document.items()]
            if isinstance(document, dict)
            else document
        )
        return pa.schema(
            [
                pa.field(
                    column["name"],
                    _Parser(column["type"])._type(),  # noqa: SLF001  # the same file
                    column.get("nullable", True),
                )
                for column in columns
            ]
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unreadable(path, error) from error


def _from_python(path: Path) -> pa.Schema:
    """Run a file and take its variable `schema`."""
    try:
        found = runpy.run_path(str(path)).get("schema")
    except Exception as error:
        raise _unreadable(path, error) from error
    if not isinstance(found, pa.Schema):
        raise _unreadable(path, TypeError('it has no variable "schema" of type pyarrow.Schema'))
    return found


def _unreadable(path: Path, error: Exception) -> SchemaError:
    return SchemaError(
        "SCHEMA_FILE",
        f'schema file "{path}" holds no schema: {error}',
        hint='Write JSON such as {"id": "bigint", "name": "string"}, or Python that sets'
        " schema = pa.schema(...).",
    )
