"""One value at a time from Avro's bytes, as a reader's schema asks for it.

Values are plain: None, bool, int, float, bytes, str (also for enums), lists, and dictionaries
for maps and records; `Tagged` where a union has several branches besides null. Logical types are
read as the plain ones they stand on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from penstock.errors import SchemaError
from penstock.schema.avro.binary import ByteReader, narrowed, text_of
from penstock.schema.avro.defaults import default_value
from penstock.schema.avro.depth import deep_bytes, deep_schema, depth_guarded
from penstock.schema.avro.nodes import (
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
from penstock.schema.avro.resolution import (
    Action,
    Again,
    Choose,
    Fail,
    Promote,
    Read,
    ReadArray,
    ReadEnum,
    ReadMap,
    ReadRecord,
    ReadUnion,
    Resolution,
    Skip,
    resolve,
)
from penstock.schema.avro.unions import branch_value

_Take: TypeAlias = Callable[[ByteReader], Any]
_Pair: TypeAlias = tuple[str, str]

_PRIMITIVES: dict[str, _Take] = {
    "null": lambda _source: None,
    "boolean": ByteReader.read_boolean,
    "int": ByteReader.read_int,
    "long": ByteReader.read_long,
    "float": ByteReader.read_float,
    "double": ByteReader.read_double,
    "bytes": ByteReader.read_bytes,
    "string": ByteReader.read_string,
}
_PROMOTED: dict[str, Callable[[Any], Any]] = {
    "long": int,
    "float": narrowed,
    "double": float,
    "bytes": str.encode,
    "string": text_of,
}


class DatumReader:
    """Reads values of a writer's schema as those of a reader's."""

    def __init__(self, resolution: Resolution) -> None:
        self._resolution = resolution
        self._records: dict[_Pair, _Take] = {}
        self._skips: dict[str, _Take] = {}
        with depth_guarded(deep_schema):
            self._root = self._take(resolution.root)

    @classmethod
    def of(cls, writer: AvroSchema, reader: AvroSchema | None = None) -> DatumReader:
        """Give a reader of what a schema wrote, by default as that says it."""
        return cls(resolve(writer, reader or writer))

    def decode(self, data: bytes) -> Any:  # noqa: ANN401
        """Read the one value that bytes hold."""
        source = ByteReader(data)
        value = self.read(source)
        source.end()
        return value

    def read(self, source: ByteReader) -> Any:  # noqa: ANN401
        """Read the next value."""
        with depth_guarded(deep_bytes):
            return self._root(source)

    def _take(self, action: Action) -> _Take:  # noqa: PLR0911  # one a kind of action
        match action:
            case Read(writer=Fixed(size=size)):
                return lambda source: source.take(size)
            case Read(writer=writer):
                return _PRIMITIVES[writer.name]
            case Promote():
                return _promoted(action)
            case Skip(writer=writer):
                return self._skip(writer)
            case Fail(reason=reason):
                return _failing(reason)
            case ReadEnum():
                return _symbol(action)
            case ReadArray(items=items):
                return _array(self._take(items))
            case ReadMap(values=values):
                return _map(self._take(values))
            case _:
                return self._composed(action)

    def _composed(self, action: Action) -> _Take:
        match action:
            case ReadUnion(branches=branches):
                return _branch([self._take(branch) for branch in branches])
            case Choose():
                return self._chosen(action)
            case ReadRecord(writer=writer, reader=reader):
                return self._named((writer.name, reader.name))
            case Again(writer=writer, reader=reader):
                return self._named((writer, reader))
            case _:
                raise AssertionError(action)

    def _chosen(self, action: Choose) -> _Take:
        take, union = self._take(action.action), action.reader
        branch = union.branches[action.branch]
        if branch_value(union, branch, "") == "":
            return take
        return lambda source: branch_value(union, branch, take(source))

    def _named(self, pair: _Pair) -> _Take:
        if pair not in self._records:
            # Looked up when a value is read, since a record may hold itself.
            self._records[pair] = lambda source: self._records[pair](source)  # noqa: PLW0108
            action = self._resolution.records[pair]
            self._records[pair] = (
                self._record(action) if isinstance(action, ReadRecord) else self._take(action)
            )
        return self._records[pair]

    def _record(self, action: ReadRecord) -> _Take:
        fields = action.reader.fields
        steps = [
            (None if step.place is None else fields[step.place].name, self._take(step.action))
            for step in action.steps
        ]
        defaults = [(fields[at].name, self._default(fields[at])) for at in action.defaults]
        names = [item.name for item in fields]
        in_order = [name for name, _ in steps if name is not None] == names

        def take(source: ByteReader) -> dict[str, Any]:
            source.charge(1)
            found: dict[str, Any] = {}
            for name, read in steps:
                value = read(source)
                if name is not None:
                    found[name] = value
            for name, make in defaults:
                found[name] = make()
            return found if in_order else {name: found[name] for name in names}

        return take

    def _default(self, item: RecordField) -> Callable[[], Any]:
        # Made anew each time: who reads a list may change it.
        schema = self._resolution.reader
        return lambda: default_value(schema, item.type, item.default)

    def _skip(self, node: Node) -> _Take:  # noqa: PLR0911  # one a kind
        found = self._resolution.writer.follow(node)
        match found:
            case Primitive(name="string" | "bytes"):
                return ByteReader.read_bytes
            case Primitive(name=name):
                return _PRIMITIVES[name]
            case Fixed(size=size):
                return lambda source: source.take(size)
            case Enum(symbols=symbols):
                return lambda source: source.read_place(len(symbols), "symbol")
            case Union(branches=branches):
                return _branch([self._skip(branch) for branch in branches])
            case Array() | Map():
                return self._skip_blocks(found)
            case Record():
                return self._skip_record(found)

    def _skip_blocks(self, node: Array | Map) -> _Take:
        skip = self._skip(node.items if isinstance(node, Array) else node.values)
        keyed = isinstance(node, Map)

        def skip_all(source: ByteReader) -> None:
            while True:
                count, size = source.read_block()
                if count == 0:
                    return
                if size is not None:
                    source.take(size)
                    continue
                for _ in range(count):
                    if keyed:
                        source.read_bytes()
                    skip(source)

        return skip_all

    def _skip_record(self, record: Record) -> _Take:
        if record.name not in self._skips:
            self._skips[record.name] = lambda source: self._skips[record.name](source)  # noqa: PLW0108
            parts = [self._skip(item.type) for item in record.fields]

            def skip_all(source: ByteReader) -> None:
                source.charge(1)
                for skip in parts:
                    skip(source)

            self._skips[record.name] = skip_all
        return self._skips[record.name]


def _promoted(action: Promote) -> _Take:
    take, wider = _PRIMITIVES[action.writer.name], _PROMOTED[action.reader.name]
    return lambda source: wider(take(source))


def _failing(reason: str) -> _Take:
    def fail(_source: ByteReader) -> Any:  # noqa: ANN401
        raise SchemaError(
            "AVRO_READER",
            f"the reader's schema cannot take the value: {reason}",
            hint="Read with a schema that is compatible with the one it was written with.",
        )

    return fail


def _symbol(action: ReadEnum) -> _Take:
    symbols, written = action.symbols, action.writer.symbols

    def take(source: ByteReader) -> str:
        place = source.read_place(len(symbols), "symbol")
        symbol = symbols[place]
        if symbol is None:
            _failing(f'the enum "{action.reader.name}" has no symbol {written[place]}')(source)
        return str(symbol)

    return take


def _items(source: ByteReader) -> Iterator[None]:
    """Go through the blocks of an array or map, item by item."""
    while True:
        count, size = source.read_block()
        if count == 0:
            return
        end = None if size is None else source.at + size
        for _ in range(count):
            yield
        source.check_at(end)


def _array(take: _Take) -> _Take:
    return lambda source: [take(source) for _ in _items(source)]


def _map(take: _Take) -> _Take:
    return lambda source: {source.read_string(): take(source) for _ in _items(source)}


def _branch(branches: list[_Take]) -> _Take:
    count = len(branches)
    return lambda source: branches[source.read_place(count, "branch")](source)
