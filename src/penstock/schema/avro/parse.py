"""Avro schemas read from their JSON, as strictly as the specification asks."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias, cast, get_args

from penstock.errors import SchemaError, did_you_mean
from penstock.schema.avro.defaults import check_defaults
from penstock.schema.avro.depth import deep_schema, depth_guarded
from penstock.schema.avro.logical import logical_of_fixed, logical_of_primitive, whole
from penstock.schema.avro.nodes import (
    ABSENT,
    Array,
    AvroSchema,
    Enum,
    Fixed,
    Map,
    Named,
    Node,
    Primitive,
    PrimitiveName,
    Record,
    RecordField,
    Union,
)
from penstock.schema.avro.unions import branch_name

NamedType: TypeAlias = Record | Enum | Fixed

PRIMITIVES = frozenset(get_args(PrimitiveName))
DEEPEST = 100
"""So many types inside of one another; deeper ones are an attack, or a mistake."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ORDERS = ("ascending", "descending", "ignore")
_NONE: Mapping[str, NamedType] = MappingProxyType({})


def parse_avro(
    text_or_json: object, known: Mapping[str, NamedType] = _NONE, *, any_default: bool = False
) -> AvroSchema:
    """Read a schema from JSON text, or from what JSON text says.

    `known` are types of other schemas, by full name, that this one may name. `any_default` lets
    defaults pass that do not fit, as older libraries do: such a schema can be named and compared.
    """
    found = text_or_json
    if isinstance(found, str):
        found = _json(found)
    reader = _Reader(dict(known))
    schema = AvroSchema(reader.node(found, _Place()), reader.types)
    if not any_default:
        with depth_guarded(deep_schema):
            check_defaults(schema)
    return schema


def is_name(text: object) -> bool:
    """Whether Avro allows this as the name of a field, a symbol, or a part of a full name."""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the schema something stands, and the namespace there."""

    path: str = ""
    namespace: str = ""
    depth: int = 0

    def inside(self, *parts: object) -> _Place:
        path = self.path + "".join(f"/{part}" for part in parts)
        return replace(self, path=path, depth=self.depth + 1)

    def refuse(self, fact: str, hint: str) -> NoReturn:
        raise SchemaError("AVRO_SCHEMA", f"{fact}, at {self.path or '/'}", hint=hint)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads nodes; `types` grows with each definition."""

    types: dict[str, NamedType]

    def node(self, found: object, place: _Place) -> Node:
        if place.depth > DEEPEST:
            place.refuse(
                f"more than {DEEPEST} types are inside of one another",
                "Name the inner types, and refer to them by name.",
            )
        if isinstance(found, str):
            return self._by_name(found, place)
        if isinstance(found, list):
            return self._union(found, place)
        if not isinstance(found, dict):
            place.refuse(
                f"a type is given as {_said(found)}",
                'Write a type as its name ("string"), an object with "type", or a list of types.',
            )
        return self._object(found, place)

    def _by_name(self, name: str, place: _Place) -> Node:
        if name in PRIMITIVES:
            return Primitive(cast(PrimitiveName, name))
        full = _full_name(name, place.namespace)
        # As Java's library does: what the namespace does not have may have none.
        reached = full if full in self.types else name
        if reached not in self.types:
            place.refuse(
                f'the type "{full}" is not defined before it is named',
                did_you_mean(full, [*self.types, *PRIMITIVES])
                or "Define it where it first stands, or register it and refer to it.",
            )
        return Named(reached)

    def _union(self, found: list[Any], place: _Place) -> Union:
        branches = tuple(
            self.node(branch, place.inside(index)) for index, branch in enumerate(found)
        )
        if any(isinstance(branch, Union) for branch in branches):
            place.refuse("a union holds a union", "Write the branches of both as one list.")
        if twice := _repeated([branch_name(branch) for branch in branches]):
            place.refuse(f'a union has two branches "{twice}"', "Leave one of them out.")
        return Union(branches)

    def _object(self, found: dict[str, Any], place: _Place) -> Node:  # noqa: PLR0911  # one a kind
        said = found.get("type")
        if not isinstance(said, str):
            place.refuse(
                f'"type" is {_said(said)}' if "type" in found else 'an object has no "type"',
                'Say the name of a type in "type".',
            )
        match said:
            case "record" | "error":
                return self._record(found, place)
            case "enum":
                return self._enum(found, place)
            case "fixed":
                return self._fixed(found, place)
            case "array":
                return Array(self._part(found, "items", place))
            case "map":
                return Map(self._part(found, "values", place))
            case _ if said in PRIMITIVES:
                name = cast(PrimitiveName, said)
                return Primitive(name, logical_of_primitive(name, found))
            case _:
                return self._by_name(said, place)

    def _part(self, found: dict[str, Any], name: str, place: _Place) -> Node:
        if name not in found:
            place.refuse(f'{_a(found["type"])} has no "{name}"', f'Say the type in "{name}".')
        return self.node(found[name], place.inside(name))

    def _record(self, found: dict[str, Any], place: _Place) -> Record:
        name, place = self._new_name(found, place)
        fields = found.get("fields")
        if not isinstance(fields, list):
            place.refuse(
                f'the "fields" of record "{name}" are {_said(fields)}',
                'Give a list of objects with "name" and "type".',
            )
        aliases = _aliases(found, place)
        # The name is known inside the fields already, for records that hold themselves.
        self.types[name] = Record(name, (), aliases)
        read = tuple(
            self._field(field, place.inside("fields", index)) for index, field in enumerate(fields)
        )
        if twice := _repeated([field.name for field in read]):
            place.refuse(f'record "{name}" has two fields "{twice}"', "Rename one of them.")
        record = Record(name, read, aliases, _doc(found), error=found["type"] == "error")
        self.types[name] = record
        return record

    def _field(self, found: object, place: _Place) -> RecordField:
        if not isinstance(found, dict):
            place.refuse(
                f"a field is given as {_said(found)}", 'Give an object with "name" and "type".'
            )
        name = found.get("name")
        if not is_name(name):
            place.refuse(f"a field has the name {_said(name)}", _NAME_HINT)
        if "type" not in found:
            place.refuse(f'field "{name}" has no "type"', 'Say its type in "type".')
        if found.get("order", "ascending") not in _ORDERS:
            place.refuse(
                f'field "{name}" has the order {_said(found["order"])}',
                f"Use one of {', '.join(_ORDERS)}.",
            )
        aliases = _names(found.get("aliases", []), f'the aliases of field "{name}"', place)
        return RecordField(
            cast(str, name),
            self.node(found["type"], place.inside("type")),
            found.get("default", ABSENT),
            aliases,
            _doc(found),
        )

    def _enum(self, found: dict[str, Any], place: _Place) -> Enum:
        name, place = self._new_name(found, place)
        symbols = _names(found.get("symbols"), f'the symbols of enum "{name}"', place)
        if twice := _repeated(symbols):
            place.refuse(f'enum "{name}" has the symbol "{twice}" twice', "Leave one of them out.")
        default = found.get("default")
        if default is not None and default not in symbols:
            place.refuse(
                f'enum "{name}" has the default {_said(default)}, which is no symbol of it',
                "Use one of its symbols as default.",
            )
        enum = Enum(name, symbols, default, _aliases(found, place))
        self.types[name] = enum
        return enum

    def _fixed(self, found: dict[str, Any], place: _Place) -> Fixed:
        name, place = self._new_name(found, place)
        size = found.get("size")
        if not whole(size) or size < 0:
            place.refuse(
                f'fixed "{name}" has the size {_said(size)}', 'Say how many bytes it has in "size".'
            )
        fixed = Fixed(name, size, _aliases(found, place), logical_of_fixed(size, found))
        self.types[name] = fixed
        return fixed

    def _new_name(self, found: dict[str, Any], place: _Place) -> tuple[str, _Place]:
        """Give the full name of a definition, and its place with the namespace inside of it."""
        name, namespace = found.get("name"), found.get("namespace")
        if not isinstance(name, str) or not all(map(is_name, name.split("."))):
            place.refuse(f"{_a(found['type'])} has the name {_said(name)}", _NAME_HINT)
        if namespace and not (
            isinstance(namespace, str) and all(map(is_name, namespace.split(".")))
        ):
            place.refuse(f'"{name}" has the namespace {_said(namespace)}', _NAME_HINT)
        enclosing = place.namespace if namespace is None else namespace
        full = _full_name(name, enclosing)
        if full in PRIMITIVES:
            place.refuse(f'a type is named "{full}", as one of Avro\'s own', "Rename it.")
        if full in self.types:
            place.refuse(
                f'the type "{full}" is defined twice',
                "Define it once and name it elsewhere, or rename one of them.",
            )
        return full, replace(place, namespace=full.rpartition(".")[0])


_NAME_HINT = "Use letters, digits and _, not beginning with a digit; dots divide namespaces."


def _full_name(name: str, namespace: str) -> str:
    return name if "." in name or not namespace else f"{namespace}.{name}"


def _aliases(found: dict[str, Any], place: _Place) -> tuple[str, ...]:
    aliases = found.get("aliases") or []
    if not isinstance(aliases, list) or not all(
        isinstance(alias, str) and all(map(is_name, alias.split("."))) for alias in aliases
    ):
        place.refuse(f"aliases are given as {_said(aliases)}", "Give a list of full names.")
    return tuple(_full_name(alias, place.namespace) for alias in aliases)


def _names(found: object, whose: str, place: _Place) -> tuple[str, ...]:
    if not isinstance(found, list):
        place.refuse(f"{whose} are {_said(found)}", "Give a list of names.")
    for name in found:
        if not is_name(name):
            place.refuse(f"among {whose} is {_said(name)}", _NAME_HINT)
    return tuple(found)


def _doc(found: dict[str, Any]) -> str:
    doc = found.get("doc")
    return doc if isinstance(doc, str) else ""


def _repeated(names: list[str] | tuple[str, ...]) -> str | None:
    return next((name for name, times in Counter(names).items() if times > 1), None)


def _json(text: str) -> object:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        why = "too deep" if isinstance(error, RecursionError) else str(error)
        raise SchemaError(
            "AVRO_SCHEMA",
            f"the text of an Avro schema is no JSON: {why}",
            hint='Write it as JSON; the name of a type alone needs quotes, as in "\\"string\\"".',
        ) from None


def _no_constant(name: str) -> NoReturn:
    message = f"{name} is no JSON"
    raise ValueError(message)


def _said(value: object) -> str:
    """Show what JSON says, shortly."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004  a part of a line


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
