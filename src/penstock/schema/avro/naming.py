"""What the parts of an Avro schema are called in Python: as they are, where Python allows it."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum

from penstock.schema.avro.nodes import (
    Array,
    AvroSchema,
    Enum,
    Fixed,
    Map,
    Node,
    Primitive,
    Record,
    Union,
)
from penstock.schema.avro.unions import NULL, branch_name, only_branch
from penstock.schema.avro.values import meaning_of

MODULE_NAMES = frozenset(
    {"AvroRecord", "ClassVar", "StrEnum", "Tagged", "_SCHEMA", "_decimal", "_dt", "_uuid"}
    | {"annotations", "dataclass", "field"}
)
"""What a generated module has besides its classes."""

_METHODS = frozenset({"avro_name", "avro_schema", "from_avro", "from_json", "to_avro", "to_json"})
# A field of such a name would stand for the type in the annotations after it.
_TYPES = frozenset({"bool", "bytes", "dict", "float", "int", "list", "str"})
_PLAIN = {
    "null": "None",
    "boolean": "bool",
    "int": "int",
    "long": "int",
    "float": "float",
    "double": "float",
    "bytes": "bytes",
    "string": "str",
}


def class_names(schema: AvroSchema) -> Mapping[str, str]:
    """Give the class of each record and enum by its full name."""
    full = [name for name, type_ in schema.types.items() if not isinstance(type_, Fixed)]
    short = [name.rpartition(".")[2] for name in full]
    wanted = [
        last if short.count(last) == 1 else name.replace(".", "_")
        for name, last in zip(full, short, strict=True)
    ]
    return dict(zip(full, _free(wanted, {*dir(builtins), *MODULE_NAMES}), strict=True))


def attribute_names(schema: AvroSchema, record: Record) -> Mapping[str, str]:
    """Give the attribute for each field of a record."""
    taken = {*MODULE_NAMES, *_METHODS, *_TYPES, *class_names(schema).values()}
    names = [item.name for item in record.fields]
    # Python gives names with two underscores before them another name inside of a class.
    wanted = [f"f{name}" if name.startswith("__") else name for name in names]
    return dict(zip(names, _free(wanted, taken), strict=True))


def member_names(enum: Enum) -> Mapping[str, str]:
    """Give the member for each symbol of an enum."""
    # What begins with an underscore is no member, or not allowed.
    wanted = [f"S{symbol}" if symbol.startswith("_") else symbol for symbol in enum.symbols]
    return dict(
        zip(enum.symbols, _free(wanted, {*dir(StrEnum), "mro", "name", "value"}), strict=True)
    )


def annotation(schema: AvroSchema, node: Node) -> str:
    """Give the Python type of a value, as a generated class says it."""
    found = schema.follow(node)
    match found:
        case Primitive(name=name):
            meaning = meaning_of(found)
            return _PLAIN[name] if meaning is None else meaning.annotation
        case Fixed():
            meaning = meaning_of(found)
            return "bytes" if meaning is None else meaning.annotation
        case Array(items=items):
            return f"list[{annotation(schema, items)}]"
        case Map(values=values):
            return f"dict[str, {annotation(schema, values)}]"
        case Union():
            return _union(schema, found)
        case Record(name=name) | Enum(name=name):
            return class_names(schema)[name]


def tells_branches(schema: AvroSchema, union: Union) -> bool:
    """Whether the type of a value in Python says its branch; where not, it must be `Tagged`."""
    types = [annotation(schema, branch) for branch in _besides_null(union)]
    return len(set(types)) == len(types)


def _union(schema: AvroSchema, union: Union) -> str:
    nullable = ["None"] if NULL in union.branches else []
    if only_branch(union) is None and not tells_branches(schema, union):
        return " | ".join(["Tagged", *nullable])
    types = [annotation(schema, branch) for branch in _besides_null(union)]
    return " | ".join([*types, *nullable]) or "None"


def _besides_null(union: Union) -> list[Node]:
    return [branch for branch in union.branches if branch_name(branch) != "null"]


def _free(wanted: Iterable[str], taken: Collection[str]) -> list[str]:
    """Give names that are neither taken, nor words of Python, nor given twice."""
    given: list[str] = []
    for name in wanted:
        free = name
        while free in taken or keyword.iskeyword(free) or free in given:
            free += "_"
        given.append(free)
    return given
