"""One value at a time to and from Avro's JSON, in which a union says the branch by its name."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from penstock.errors import SchemaError
from penstock.schema.avro.datum_write import Misfit
from penstock.schema.avro.defaults import default_value, primitive_fits
from penstock.schema.avro.depth import deep_json, deep_value, depth_guarded
from penstock.schema.avro.nodes import (
    ABSENT,
    Array,
    AvroSchema,
    Enum,
    Fixed,
    Map,
    Node,
    Primitive,
    Record,
    RecordField,
    Union,
)
from penstock.schema.avro.unions import Tagged, branch_name, branch_value, only_branch

_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def json_of(schema: AvroSchema, value: object) -> Any:  # noqa: ANN401  # JSON
    """Give a value as what its JSON says; the value is one that `DatumReader` gives."""
    with depth_guarded(deep_value):
        return _to_json(schema, schema.root, value)


def json_text(schema: AvroSchema, value: object) -> str:
    """Give a value as JSON text."""
    return json.dumps(json_of(schema, value), ensure_ascii=False)


def value_of_json(schema: AvroSchema, said: object) -> Any:  # noqa: ANN401
    """Read a value from what JSON says; `AVRO_JSON` where that is no value of the schema."""
    try:
        with depth_guarded(deep_json):
            return _from_json(schema, schema.root, said)
    except Misfit as misfit:
        where = f" at {'.'.join(misfit.path)}" if misfit.path else ""
        raise _refused(f"{misfit.fact}{where}") from None


def value_of_json_text(schema: AvroSchema, text: str | bytes) -> Any:  # noqa: ANN401
    """Read a value from JSON text."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _refused(str(error)) from None
    return value_of_json(schema, said)


def _refused(fact: str) -> SchemaError:
    return SchemaError(
        "AVRO_JSON",
        f"the JSON is no Avro value of its schema: {fact}",
        hint='Write unions as {"type": value}, bytes as text of the characters 0 to 255.',
    )


def _to_json(schema: AvroSchema, node: Node, value: Any) -> Any:  # noqa: ANN401, PLR0911  # one a kind
    found = schema.follow(node)
    match found:
        case Primitive(name="bytes") | Fixed():
            return bytes(value).decode("latin-1")
        case Primitive(name="float" | "double"):
            return value if math.isfinite(value) else _not_finite(value)
        case Primitive() | Enum():
            return value
        case Array(items=items):
            return [_to_json(schema, items, item) for item in value]
        case Map(values=values):
            return {key: _to_json(schema, values, item) for key, item in value.items()}
        case Union():
            return _union_to_json(schema, found, value)
        case Record(fields=fields):
            return {item.name: _to_json(schema, item.type, value[item.name]) for item in fields}


def _not_finite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _union_to_json(schema: AvroSchema, union: Union, value: Any) -> Any:  # noqa: ANN401
    if value is None:
        return None
    branch = only_branch(union)
    if isinstance(value, Tagged):
        branch = next(b for b in union.branches if branch_name(b) == value.branch)
        value = value.value
    if branch is None:
        raise SchemaError(
            "VALUE_ENCODE",
            "a value of a union with several branches does not say its own",
            hint='Give it as Tagged("branch", value).',
        )
    return {branch_name(branch): _to_json(schema, branch, value)}


def _from_json(schema: AvroSchema, node: Node, said: Any) -> Any:  # noqa: ANN401, PLR0911  # one a kind
    found = schema.follow(node)
    match found:
        case Primitive(name="bytes"):
            return _bytes(said, "bytes")
        case Fixed(name=name, size=size):
            return _bytes(said, f'fixed "{name}"', size)
        case Primitive(name="float" | "double"):
            return _number(said)
        case Primitive(name=name):
            return _plain(said, name, so=primitive_fits(name, said))
        case Enum(name=name, symbols=symbols):
            return _plain(said, f'symbol of "{name}"', so=said in symbols)
        case Array(items=items):
            return _list(schema, items, said)
        case Map(values=values):
            entries = _mapping(said, "map").items()
            return {key: _inside(schema, values, item, key) for key, item in entries}
        case Union():
            return _union_from_json(schema, found, said)
        case Record():
            return _record(schema, found, _mapping(said, f'record "{found.name}"'))


def _inside(schema: AvroSchema, node: Node, said: object, part: object) -> Any:  # noqa: ANN401
    try:
        return _from_json(schema, node, said)
    except Misfit as misfit:
        raise misfit.inside(part) from None


def _plain(said: object, what: str, *, so: bool) -> object:
    if not so:
        raise Misfit(f"{said!r:.60} is no {what}")
    return said


def _bytes(said: object, what: str, size: int | None = None) -> bytes:
    if isinstance(said, str) and (size is None or len(said) == size):
        try:
            return said.encode("latin-1")
        except UnicodeEncodeError:
            pass
    raise Misfit(f"{said!r:.60} is no {what}")


def _number(said: object) -> float:
    if isinstance(said, str) and said in _NOT_FINITE:
        return _NOT_FINITE[said]
    if isinstance(said, bool) or not isinstance(said, int | float):
        raise Misfit(f"{said!r:.60} is no number")
    try:
        return float(said)
    except OverflowError:
        raise Misfit("a number is too great") from None


def _list(schema: AvroSchema, items: Node, said: object) -> list[Any]:
    if not isinstance(said, list):
        raise Misfit(f"{said!r:.60} is no array")
    return [_inside(schema, items, item, at) for at, item in enumerate(said)]


def _mapping(said: object, what: str) -> Mapping[str, Any]:
    if not isinstance(said, dict):
        raise Misfit(f"{said!r:.60} is no {what}")
    return said


def _record(schema: AvroSchema, record: Record, said: Mapping[str, Any]) -> dict[str, Any]:
    extra = set(said) - {item.name for item in record.fields}
    if extra:
        raise Misfit(f'the record "{record.name}" has no field "{min(extra)}"')
    return {item.name: _field(schema, item, said) for item in record.fields}


def _field(schema: AvroSchema, item: RecordField, said: Mapping[str, Any]) -> Any:  # noqa: ANN401
    if item.name in said:
        return _inside(schema, item.type, said[item.name], item.name)
    if item.default is ABSENT:
        raise Misfit(f'the field "{item.name}" is missing and has no default')
    return default_value(schema, item.type, item.default)


def _union_from_json(schema: AvroSchema, union: Union, said: object) -> Any:  # noqa: ANN401
    names = [branch_name(branch) for branch in union.branches]
    if said is None and "null" in names:
        return None
    entry = _mapping(said, "value of a union, which says its branch by name")
    name, value = next(iter(entry.items()), ("", None))
    if len(entry) != 1 or name not in names:
        raise Misfit(f"{list(entry)!r:.60} is no branch of the union of {', '.join(names)}")
    branch = union.branches[names.index(name)]
    return branch_value(union, branch, _inside(schema, branch, value, name))
