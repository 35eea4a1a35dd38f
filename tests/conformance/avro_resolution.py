"""Checks of values: what a writer's schema wrote, read with a reader's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from penstock.errors import SchemaError
from penstock.schema.avro.binary import ByteReader, long_bytes, narrowed
from penstock.schema.avro.columns import branch_columns
from penstock.schema.avro.datum_json import value_of_json
from penstock.schema.avro.datum_read import DatumReader
from penstock.schema.avro.datum_write import DatumWriter
from penstock.schema.avro.decode import Decoder
from penstock.schema.avro.nodes import Array, AvroSchema, Map, Node, Primitive, Record, Union
from penstock.schema.avro.resolution import resolve
from penstock.schema.avro.unions import Tagged, branch_name, only_branch
from tests.conformance.avro_schema import schema_of
from tests.conformance.runner import Case, Check, holds, same

_BYTES = "bytes_hex"
_MISSING = "missing required field "


def check_resolution(case: Case) -> None:
    """A value that was written is read so, or not at all."""
    given = case.given
    _check_fact(given["writer"], given["written"], given["reader"], case.expect)


def _check_fact(writer: object, written: object, reader: object, expect: dict[str, Any]) -> None:
    """Read it one value at a time, and as columns: both say the same."""
    wrote, reads = schema_of(writer), schema_of(reader)
    data = DatumWriter(wrote).encode(_value(wrote, written))
    for read_with in (_read_one, _read_columns):
        _check_reading(partial(read_with, wrote, reads, data), reads, expect)


def _check_reading(read_it: Callable[[], Any], reads: AvroSchema, expect: dict[str, Any]) -> None:
    try:
        read = read_it()
    except SchemaError as error:
        holds("error" in expect, f"it is read, and not: {error}")
        # The words are each library's own, but not the field that is missing.
        what, _, field = expect["error"].partition(_MISSING)
        holds(what or field in str(error), f"{expect['error']}: {error}")
        return
    holds("read" in expect, f"it fails, and does not read {read!r}")
    holds(_same(reads, reads.root, read, expect["read"]), f"{read!r} is {expect['read']!r}")


def _read_one(wrote: AvroSchema, reads: AvroSchema, data: bytes) -> object:
    return DatumReader.of(wrote, reads).decode(data)


def _read_columns(wrote: AvroSchema, reads: AvroSchema, data: bytes) -> object:
    octets = np.frombuffer(data + b"\0", np.uint8)
    begin, end = np.array([0]), np.array([len(data)])
    table, failures = Decoder(resolve(wrote, reads)).decode(octets, begin, end)
    if failures:
        raise SchemaError("AVRO_READER", failures[0])
    row = table.to_pylist()[0]
    is_record = isinstance(reads.follow(reads.root), Record)
    return _value_of(reads, reads.root, row if is_record else row["value"])


def _value_of(schema: AvroSchema, node: Node, held: Any) -> Any:  # noqa: ANN401  # as Arrow says it
    """Give what a column holds as one value at a time is given."""
    found = schema.follow(node)
    match found:
        case Union() if held is not None:
            names = branch_columns(found)
            only = only_branch(found)
            if only is not None:
                return _value_of(schema, only, held)
            name = next(part for part, value in held.items() if value is not None)
            branch = found.branches[names.index(name)]
            return Tagged(branch_name(branch), _value_of(schema, branch, held[name]))
        case Record(fields=fields):
            return {i.name: _value_of(schema, i.type, held[i.name]) for i in fields}
        case Array(items=items):
            return [_value_of(schema, items, one) for one in held]
        case Map(values=values):
            return {key: _value_of(schema, values, one) for key, one in held}
        case _:
            return held


def _value(schema: AvroSchema, said: object) -> object:
    """Read a value that a case says as Avro's JSON does, but bytes in hexadecimal."""
    return value_of_json(schema, _spelt(schema, schema.root, said))


def _spelt(schema: AvroSchema, node: Node, said: Any) -> Any:  # noqa: ANN401  # any JSON
    found = schema.follow(node)
    if isinstance(said, dict) and set(said) == {_BYTES}:
        text = bytes.fromhex(said[_BYTES]).decode("latin-1")
        return {"bytes": text} if isinstance(found, Union) else text
    match found:
        case Record(fields=fields):
            types = {item.name: item.type for item in fields}
            return {name: _spelt(schema, types[name], one) for name, one in said.items()}
        case Array(items=items):
            return [_spelt(schema, items, one) for one in said]
        case Map(values=values):
            return {name: _spelt(schema, values, one) for name, one in said.items()}
        case Union(branches=branches) if isinstance(said, dict):
            named = {branch_name(branch): branch for branch in branches}
            return {name: _spelt(schema, named[name], one) for name, one in said.items()}
        case _:
            return said


def _same(schema: AvroSchema, node: Node, read: Any, said: Any) -> bool:  # noqa: ANN401, PLR0911
    """Whether a value that was read is what a case says; a union may leave its branch unsaid."""
    found = schema.follow(node)
    if isinstance(found, Union):
        return _same_branch(schema, found, read, said)
    if isinstance(read, bytes):
        return read == (
            bytes.fromhex(said[_BYTES]) if isinstance(said, dict) else said.encode("latin-1")
        )
    match found:
        case Record(fields=fields):
            return list(read) == [item.name for item in fields] and all(
                _same(schema, item.type, read[item.name], said[item.name]) for item in fields
            )
        case Array(items=items):
            pairs = zip(read, said, strict=True)
            return all(_same(schema, items, one, other) for one, other in pairs)
        case Map(values=values):
            return set(read) == set(said) and all(
                _same(schema, values, one, said[name]) for name, one in read.items()
            )
        case Primitive(name="float"):
            # A case says the number as people do, and 32 bits hold one beside it.
            return type(read) is type(said) and narrowed(read) == narrowed(said)
        case _:
            return type(read) is type(said) and bool(read == said)


def _same_branch(schema: AvroSchema, union: Union, read: Any, said: Any) -> bool:  # noqa: ANN401
    if read is None or said is None:
        return read is said
    only = only_branch(union)
    name = read.branch if isinstance(read, Tagged) else branch_name(_some(only))
    value = read.value if isinstance(read, Tagged) else read
    branch = next(one for one in union.branches if branch_name(one) == name)
    if isinstance(said, dict) and set(said) <= {branch_name(one) for one in union.branches}:
        return set(said) == {name} and _same(schema, branch, value, said[name])
    return _same(schema, branch, value, said)


def _some(node: Node | None) -> Node:
    assert node is not None
    return node


def check_long(case: Case) -> None:
    """A whole number has these bytes, and they are this number."""
    value, wanted = case.given["value"], case.expect["hex"]
    same(long_bytes(value).hex(), wanted, "bytes")
    source = ByteReader(bytes.fromhex(wanted))
    same(source.read_long(), value, "value")
    source.end()


def _record(*fields: object) -> dict[str, object]:
    return {"type": "record", "name": "R", "fields": list(fields)}


def _field(name: str, type_: object, **more: object) -> dict[str, object]:
    return {"name": name, "type": type_, **more}


def _enum(*symbols: str, **more: object) -> dict[str, object]:
    return {"type": "enum", "name": "E", "symbols": list(symbols), **more}


def _by_name() -> None:
    wrote = _record(_field("a", "int"), _field("gone", "string"), _field("b", "string"))
    value = {"a": 1, "gone": "x", "b": "y"}
    reader = _record(_field("b", "string"), _field("new", "long", default=7), _field("a", "int"))
    _check_fact(wrote, value, reader, {"read": {"b": "y", "new": 7, "a": 1}})
    lacking = _record(_field("new", "long"), _field("a", "int"))
    _check_fact(wrote, value, lacking, {"error": "missing required field new"})


def _unions() -> None:
    _check_fact(["int", "string"], {"int": 1}, "long", {"read": 1})
    _check_fact(["int", "string"], {"string": "x"}, "long", {"error": "string"})
    _check_fact("int", 1, ["string", "long", "int"], {"read": {"int": 1}})
    _check_fact("int", 1, ["string", "long", "double"], {"read": {"long": 1}})
    _check_fact("int", 1, ["string", "null"], {"error": "int"})
    _check_fact(["int", "string"], {"string": "x"}, ["null", "string"], {"read": "x"})
    _check_fact(["int", "null"], {"int": 2}, ["null", "long"], {"read": 2})


def _symbols() -> None:
    _check_fact(_enum("A", "B"), "B", _enum("A", default="A"), {"read": "A"})
    _check_fact(_enum("A", "B"), "B", _enum("A"), {"error": "B"})
    _check_fact(_enum("A", "B"), "A", _enum("A"), {"read": "A"})


def _promotions() -> None:
    for writer, value in (("int", 3), ("long", 3), ("float", 3.0)):
        _check_fact(writer, value, "double", {"read": 3.0})
    for writer in ("int", "long"):
        _check_fact(writer, 3, "float", {"read": 3.0})
    _check_fact("int", 3, "long", {"read": 3})
    _check_fact("string", "ö", "bytes", {"read": {_BYTES: "c3b6"}})
    _check_fact("bytes", {_BYTES: "c3b6"}, "string", {"read": "ö"})
    _check_fact("long", 3, "int", {"error": "int"})


def _parts() -> None:
    writer, reader = {"type": "array", "items": "int"}, {"type": "array", "items": "long"}
    _check_fact(writer, [1, 2], reader, {"read": [1, 2]})
    writer, reader = {"type": "map", "values": "int"}, {"type": "map", "values": "double"}
    _check_fact(writer, {"k": 1}, reader, {"read": {"k": 1.0}})


def _fixed() -> None:
    four = {"type": "fixed", "name": "F", "size": 4}
    _check_fact(four, "abcd", four, {"read": "abcd"})
    _check_fact(four, "abcd", {**four, "size": 5}, {"error": "5"})
    _check_fact(four, "abcd", {**four, "name": "G"}, {"error": "G"})


def _aliases() -> None:
    writer = _record(_field("old", "int"))
    reader = {**_record(_field("new", "int", aliases=["old"])), "name": "S", "aliases": ["R"]}
    _check_fact(writer, {"old": 1}, reader, {"read": {"new": 1}})


_RULES: Mapping[str, Callable[[], None]] = {
    "fields match": _by_name,
    "union": _unions,
    "symbol": _symbols,
    "promot": _promotions,
    "array": _parts,
    "map": _parts,
    "fixed": _fixed,
    "alias": _aliases,
}


def check_rule(case: Case) -> None:
    """A rule in words: what it speaks of behaves so, in small examples of each part."""
    rule = case.given["rule"].lower()
    spoken = [check for word, check in _RULES.items() if word in rule]
    holds(spoken, f"there are examples for: {rule}")
    for check in spoken:
        check()


RESOLUTION_CHECKS: Mapping[str, Check] = {
    "resolution": check_resolution,
    "resolution_rule": check_rule,
    "binary_long": check_long,
}
