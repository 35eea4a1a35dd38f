"""One value at a time to Avro's bytes; the values are those that `DatumReader` gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from penstock.errors import SchemaError, did_you_mean
from penstock.schema.avro.binary import (
    INT_RANGE,
    LONG_RANGE,
    double_bytes,
    float_bytes,
    long_bytes,
)
from penstock.schema.avro.defaults import default_value
from penstock.schema.avro.depth import deep_schema, deep_value, depth_guarded
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
from penstock.schema.avro.unions import Tagged, branch_name, only_branch

_Put: TypeAlias = Callable[[bytearray, Any], None]


class Misfit(Exception):  # noqa: N818  # never leaves this room: the reason of a coded error
    """A value does not fit its type; `path` is where, from the outside in."""

    def __init__(self, fact: str) -> None:
        super().__init__(fact)
        self.fact = fact
        self.path: list[str] = []

    def inside(self, part: object) -> Misfit:
        """Say one step more of the way to the value."""
        self.path.insert(0, str(part))
        return self

    def coded(self) -> SchemaError:
        """Give it as users see it."""
        where = f" at {'.'.join(self.path)}" if self.path else ""
        return SchemaError(
            "VALUE_ENCODE",
            f"a value{where} does not fit its Avro schema: {self.fact}",
            hint="Give a value of the type that the schema says.",
        )


class DatumWriter:
    """Writes values of a schema."""

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema
        self._records: dict[str, _Put] = {}
        with depth_guarded(deep_schema):
            self._root = self._put(schema.root)

    def encode(self, value: object) -> bytes:
        """Give the bytes of a value; `VALUE_ENCODE` where it does not fit."""
        out = bytearray()
        try:
            with depth_guarded(deep_value):
                self._root(out, value)
        except Misfit as misfit:
            raise misfit.coded() from None
        return bytes(out)

    def _put(self, node: Node) -> _Put:  # noqa: PLR0911  # one a kind
        found = self._schema.follow(node)
        match found:
            case Primitive(name=name):
                return _PRIMITIVES[name]
            case Fixed():
                return _fixed(found)
            case Enum():
                return _enum(found)
            case Array(items=items):
                return _array(self._put(items))
            case Map(values=values):
                return _map(self._put(values))
            case Union():
                return self._union(found)
            case Record():
                return self._named(found)

    def _union(self, union: Union) -> _Put:
        places = {branch_name(branch): at for at, branch in enumerate(union.branches)}
        parts = [(long_bytes(at), self._put(b)) for at, b in enumerate(union.branches)]
        branches = [self._schema.follow(branch) for branch in union.branches]
        only = only_branch(union)
        plain = None if only is None else union.branches.index(only)

        def place_of(value: object) -> int:
            if isinstance(value, Tagged):
                if value.branch not in places:
                    raise Misfit(f'the union has no branch "{value.branch}"')
                return places[value.branch]
            if value is None and "null" in places:
                return places["null"]
            return _first_fitting(branches, value) if plain is None else plain

        def put(out: bytearray, value: object) -> None:
            tag, write = parts[place_of(value)]
            out += tag
            write(out, value.value if isinstance(value, Tagged) else value)

        return put

    def _named(self, record: Record) -> _Put:
        if record.name not in self._records:
            # Looked up when a value is written, since a record may hold itself.
            self._records[record.name] = lambda out, value: self._records[record.name](  # noqa: PLW0108
                out, value
            )
            self._records[record.name] = self._record(record)
        return self._records[record.name]

    def _record(self, record: Record) -> _Put:
        fields = [(item, self._put(item.type)) for item in record.fields]

        def put(out: bytearray, value: object) -> None:
            if not isinstance(value, Mapping):
                raise _misfit(value, f'record "{record.name}"')
            given = 0
            for item, write in fields:
                given += item.name in value
                try:
                    write(out, value[item.name] if item.name in value else self._default(item))
                except Misfit as misfit:
                    raise misfit.inside(item.name) from None
            if given < len(value):
                raise _unknown_field(record, value)

        return put

    def _default(self, item: RecordField) -> object:
        if item.default is ABSENT:
            raise Misfit("the field is missing and has no default")
        return default_value(self._schema, item.type, item.default)


def _misfit(value: object, wanted: str) -> Misfit:
    shown = repr(value)
    short = shown if len(shown) <= 60 else f"{shown[:57]}..."  # noqa: PLR2004  a part of a line
    return Misfit(f"{short} is no {wanted}")


def _unknown_field(record: Record, value: Mapping[str, Any]) -> Misfit:
    names = [item.name for item in record.fields]
    extra = next(str(name) for name in value if name not in names)
    return Misfit(
        f'the record "{record.name}" has no field "{extra}". {did_you_mean(extra, names)}'.rstrip()
    )


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return _is_whole(value) or isinstance(value, float)


def _put_null(_out: bytearray, value: object) -> None:
    if value is not None:
        raise _misfit(value, "null")


def _put_boolean(out: bytearray, value: object) -> None:
    if not isinstance(value, bool):
        raise _misfit(value, "boolean")
    out.append(value)


def _whole_put(allowed: range, name: str) -> _Put:
    def put(out: bytearray, value: Any) -> None:  # noqa: ANN401
        if not _is_whole(value) or value not in allowed:
            raise _misfit(value, name)
        out += long_bytes(int(value))

    return put


def _number_put(pack: Callable[[float], bytes], name: str) -> _Put:
    def put(out: bytearray, value: Any) -> None:  # noqa: ANN401
        if not _is_number(value):
            raise _misfit(value, name)
        try:
            out += pack(value)
        except OverflowError:
            raise _misfit(value, name) from None

    return put


def _put_bytes(out: bytearray, value: object) -> None:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise _misfit(value, "bytes")
    out += long_bytes(len(value))
    out += value


def _put_string(out: bytearray, value: object) -> None:
    if not isinstance(value, str):
        raise _misfit(value, "string")
    try:
        data = value.encode()
    except UnicodeEncodeError:
        raise _misfit(value, "text that UTF-8 can hold") from None
    out += long_bytes(len(data))
    out += data


_PRIMITIVES: dict[str, _Put] = {
    "null": _put_null,
    "boolean": _put_boolean,
    "int": _whole_put(INT_RANGE, "int"),
    "long": _whole_put(LONG_RANGE, "long"),
    "float": _number_put(float_bytes, "float"),
    "double": _number_put(double_bytes, "double"),
    "bytes": _put_bytes,
    "string": _put_string,
}


def _fixed(fixed: Fixed) -> _Put:
    def put(out: bytearray, value: object) -> None:
        if not isinstance(value, bytes | bytearray) or len(value) != fixed.size:
            raise _misfit(value, f'fixed "{fixed.name}" of {fixed.size} bytes')
        out += value

    return put


def _enum(enum: Enum) -> _Put:
    places = {symbol: long_bytes(at) for at, symbol in enumerate(enum.symbols)}

    def put(out: bytearray, value: object) -> None:
        if not isinstance(value, str) or value not in places:
            raise _misfit(value, f'symbol of the enum "{enum.name}"')
        out += places[value]

    return put


def _array(write: _Put) -> _Put:
    def put(out: bytearray, value: object) -> None:
        if not isinstance(value, Sequence) or isinstance(value, str | bytes | bytearray):
            raise _misfit(value, "array")
        if value:
            out += long_bytes(len(value))
        for at, item in enumerate(value):
            try:
                write(out, item)
            except Misfit as misfit:
                raise misfit.inside(at) from None
        out.append(0)

    return put


def _map(write: _Put) -> _Put:
    def put(out: bytearray, value: object) -> None:
        if not isinstance(value, Mapping):
            raise _misfit(value, "map")
        if value:
            out += long_bytes(len(value))
        for key, item in value.items():
            _put_string(out, key)
            try:
                write(out, item)
            except Misfit as misfit:
                raise misfit.inside(key) from None
        out.append(0)

    return put


def _first_fitting(branches: Sequence[Node], value: object) -> int:
    """Give the first branch that a value looks like; whole numbers are floats only at last."""
    for suits in (_looks_like, _could_be):
        for at, branch in enumerate(branches):
            if suits(branch, value):
                return at
    raise _misfit(value, f"value of a union of {', '.join(map(branch_name, branches))}")


def _looks_like(branch: Node, value: object) -> bool:  # noqa: PLR0911  # one a kind
    match branch:
        case Primitive(name=name):
            return _IS_PRIMITIVE[name](value)
        case Fixed(size=size):
            return isinstance(value, bytes) and len(value) == size
        case Enum(symbols=symbols):
            return isinstance(value, str) and value in symbols
        case Array():
            return isinstance(value, list | tuple)
        case Map():
            return isinstance(value, Mapping)
        case Record(fields=fields):
            return isinstance(value, Mapping) and _has_fields(fields, value)
        case _:
            return False


def _has_fields(fields: Sequence[RecordField], value: Mapping[str, Any]) -> bool:
    names = {item.name for item in fields}
    needed = {item.name for item in fields if item.default is ABSENT}
    return needed <= set(value) <= names


def _could_be(branch: Node, value: object) -> bool:
    is_float = isinstance(branch, Primitive) and branch.name in ("float", "double")
    return is_float and _is_number(value)


_IS_PRIMITIVE: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "int": lambda value: _is_whole(value) and value in INT_RANGE,
    "long": lambda value: _is_whole(value) and value in LONG_RANGE,
    "float": lambda value: isinstance(value, float) and _fits_float(value),
    "double": lambda value: isinstance(value, float),
    "bytes": lambda value: isinstance(value, bytes | bytearray),
    "string": lambda value: isinstance(value, str),
}


def _fits_float(value: float) -> bool:
    try:
        return float_bytes(value) is not None
    except OverflowError:
        return False
