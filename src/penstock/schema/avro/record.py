"""What classes made from an Avro schema can do: bytes and JSON, both ways."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, ClassVar, Self, TypeAlias, cast

from penstock.schema.avro.binary import bytes_refused
from penstock.schema.avro.datum_json import json_text, value_of_json_text
from penstock.schema.avro.datum_read import DatumReader
from penstock.schema.avro.datum_write import DatumWriter, Misfit
from penstock.schema.avro.depth import deep_bytes, deep_value, depth_guarded
from penstock.schema.avro.naming import attribute_names, class_names, tells_branches
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
from penstock.schema.avro.parse import parse_avro
from penstock.schema.avro.unions import Tagged, branch_name, branch_value, only_branch
from penstock.schema.avro.values import Meaning, meaning_of

_Convert: TypeAlias = Callable[[Any], Any]


class AvroRecord:
    """A record whose class was made from a schema: `avro_name` is its type in `avro_schema`."""

    __slots__ = ()

    avro_schema: ClassVar[str]
    avro_name: ClassVar[str]

    def to_avro(self) -> bytes:
        """Give the record as Avro's bytes; `VALUE_ENCODE` where a part does not fit."""
        found = _bound(type(self))
        return found.writer.encode(found.plain(self))

    @classmethod
    def from_avro(cls, data: bytes, *, written: str | None = None) -> Self:
        """Read a record from bytes; `written` is the schema's text where another one wrote them."""
        record: Self = _bound(cls).made(_reader(_hashable(cls), written).decode(data))
        return record

    def to_json(self) -> str:
        """Give the record as Avro's JSON."""
        found = _bound(type(self))
        plain = found.plain(self)
        # JSON holds anything: only the bytes' writer knows what fits.
        found.writer.encode(plain)
        return json_text(found.schema, plain)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read a record from Avro's JSON."""
        found = _bound(cls)
        record: Self = found.made(value_of_json_text(found.schema, text))
        return record


class _Binding:
    """Between the objects of generated classes and plain values."""

    def __init__(self, kind: type[AvroRecord]) -> None:
        whole = parse_avro(kind.avro_schema)
        self.schema = AvroSchema(whole.types[kind.avro_name], whole.types)
        self.writer = DatumWriter(self.schema)
        self._whole = whole
        # A class of the user's own may stand on a generated one, whose module has the others.
        owner = next(one for one in kind.__mro__ if "avro_schema" in vars(one))
        module = sys.modules[owner.__module__]
        self._classes: dict[str, type] = {
            name: getattr(module, made) for name, made in class_names(whole).items()
        }
        self._kind = kind
        self._readers: dict[str, _Convert] = {}
        self._writers: dict[str, _Convert] = {}
        self._read = self._reading(self.schema.root)
        self._write = self._writing(self.schema.root)

    def made(self, plain: object) -> Any:  # noqa: ANN401
        """Give a plain value as an object."""
        with depth_guarded(deep_bytes):
            return self._read(plain)

    def plain(self, made: object) -> Any:  # noqa: ANN401
        """Give an object as a plain value."""
        try:
            with depth_guarded(deep_value):
                return self._write(made)
        except Misfit as misfit:
            raise misfit.coded() from None

    def _reading(self, node: Node) -> _Convert:
        found = self._whole.follow(node)
        match found:
            case Primitive() | Fixed():
                meaning = meaning_of(found)
                return _same if meaning is None else _meant(meaning)
            case Array(items=items):
                read = self._reading(items)
                return lambda plain: [read(item) for item in plain]
            case Map(values=values):
                read = self._reading(values)
                return lambda plain: {key: read(item) for key, item in plain.items()}
            case Enum(name=name):
                kind = self._classes[name]
                return cast(_Convert, kind)
            case Union():
                return self._reading_union(found)
            case Record():
                return self._reading_record(found)

    def _reading_union(self, union: Union) -> _Convert:
        only = only_branch(union)
        if only is not None:
            read = self._reading(only)
            return lambda plain: None if plain is None else read(plain)
        readers = {branch_name(b): self._reading(b) for b in union.branches}
        told = tells_branches(self._whole, union)

        def read_branch(plain: Tagged | None) -> object:
            if plain is None:
                return None
            value = readers[plain.branch](plain.value)
            return value if told else Tagged(plain.branch, value)

        return read_branch

    def _reading_record(self, record: Record) -> _Convert:
        if record.name not in self._readers:
            self._readers[record.name] = lambda plain: self._readers[record.name](plain)  # noqa: PLW0108
            names = attribute_names(self._whole, record)
            is_own = record.name == self._kind.avro_name
            kind = self._kind if is_own else self._classes[record.name]
            parts = [(i.name, names[i.name], self._reading(i.type)) for i in record.fields]
            self._readers[record.name] = lambda plain: kind(
                **{attribute: read(plain[name]) for name, attribute, read in parts}
            )
        return self._readers[record.name]

    def _writing(self, node: Node) -> _Convert:
        found = self._whole.follow(node)
        match found:
            case Primitive() | Fixed():
                meaning = meaning_of(found)
                return _same if meaning is None else _unmeant(meaning)
            case Enum(symbols=symbols):
                return lambda made: str(made) if made in symbols else made
            case Array(items=items):
                write = self._writing(items)
                return lambda made: [write(i) for i in made] if isinstance(made, list) else made
            case Map(values=values):
                write = self._writing(values)
                return lambda made: (
                    {k: write(v) for k, v in made.items()} if isinstance(made, dict) else made
                )
            case Union():
                return self._writing_union(found)
            case Record():
                return self._writing_record(found)

    def _writing_union(self, union: Union) -> _Convert:
        writers = {branch_name(b): self._writing(b) for b in union.branches}
        only = only_branch(union)
        told = tells_branches(self._whole, union)
        branches = {self._type(branch): branch for branch in union.branches if told}

        def write_branch(made: object) -> object:
            if made is None:
                return None
            if only is not None:
                return writers[branch_name(only)](made)
            if isinstance(made, Tagged):
                if made.branch not in writers:
                    raise Misfit(f'the union has no branch "{made.branch}"')
                return Tagged(made.branch, writers[made.branch](made.value))
            branch = branches.get(type(made)) or (
                branches.get(float) if isinstance(made, int) else None
            )
            if branch is None:
                raise Misfit(f"{made!r:.60} is of no branch of its union")
            return branch_value(union, branch, writers[branch_name(branch)](made))

        return write_branch

    def _writing_record(self, record: Record) -> _Convert:
        if record.name not in self._writers:
            self._writers[record.name] = lambda made: self._writers[record.name](made)  # noqa: PLW0108
            names = attribute_names(self._whole, record)
            kind = self._classes[record.name]
            parts = [(i.name, names[i.name], self._writing(i.type)) for i in record.fields]

            def write_record(made: object) -> dict[str, Any]:
                if not isinstance(made, kind):
                    raise Misfit(f"{made!r:.60} is no {kind.__name__}")
                return {
                    name: _inside(name, write, getattr(made, attribute))
                    for name, attribute, write in parts
                }

            self._writers[record.name] = write_record
        return self._writers[record.name]

    def _type(self, node: Node) -> type:
        found = self._whole.follow(node)
        match found:
            case Primitive() | Fixed():
                meaning = meaning_of(found)
                plain = bytes if isinstance(found, Fixed) else _PLAIN[found.name]
                return plain if meaning is None else meaning.type
            case Array():
                return list
            case Record(name=name) | Enum(name=name):
                return self._classes[name]
            case _:
                return dict


_PLAIN: dict[str, type] = {
    "null": type(None),
    "boolean": bool,
    "int": int,
    "long": int,
    "float": float,
    "double": float,
    "bytes": bytes,
    "string": str,
}


def _bound(kind: type[AvroRecord]) -> _Binding:
    return _binding(_hashable(kind))


def _hashable(kind: type[AvroRecord]) -> Any:  # noqa: ANN401
    # mypy asks a class for the hash of its objects.
    return kind


@cache
def _binding(kind: Any) -> _Binding:  # noqa: ANN401
    return _Binding(kind)


@lru_cache(maxsize=256)
def _reader(kind: Any, written: str | None) -> DatumReader:  # noqa: ANN401
    reader = _binding(kind).schema
    return DatumReader.of(reader if written is None else parse_avro(written), reader)


def _same(value: object) -> object:
    return value


def _meant(meaning: Meaning) -> _Convert:
    def read(plain: object) -> object:
        try:
            return meaning.read(plain)
        except (OverflowError, ValueError):
            raise bytes_refused(f"Python has no {meaning.type.__name__} for {plain!r}") from None

    return read


def _unmeant(meaning: Meaning) -> _Convert:
    def write(made: object) -> object:
        if not isinstance(made, meaning.type):
            raise Misfit(f"{made!r:.60} is no {meaning.type.__name__}")
        return meaning.write(made)

    return write


def _inside(name: str, write: _Convert, made: object) -> object:
    try:
        return write(made)
    except Misfit as misfit:
        raise misfit.inside(name) from None
