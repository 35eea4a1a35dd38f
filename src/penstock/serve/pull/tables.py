"""Any SELECT over what the log holds, answered as of one instant of it; and rows by their key."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.config import Settings, load_settings
from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.source import SqlSource
from penstock.log.port import Bounds, Log
from penstock.log.record import KEY_COLUMN, TopicPartition
from penstock.schema.codec.schemas import Schemas
from penstock.serve.entity_tag import tag_of
from penstock.serve.pull.answer import PullAnswer
from penstock.serve.pull.as_of import AsOf, Said, as_of
from penstock.serve.pull.engine import Engine
from penstock.serve.pull.keeping import Keeping
from penstock.serve.pull.source import Source
from penstock.serve.pull.sources import Sources
from penstock.serve.pull.statement import Statement

MOST_ROWS = 10_000
_MIB = 1024 * 1024
_NOTHING = AsOf()


class Tables:
    """Answers SELECTs and looks up keys; rows that were asked for stay at hand, and are advanced.

    `memory` is for rows at hand, and half as much for the answers; `seconds` for one answer.
    """

    def __init__(
        self,
        log: Log,
        registry: Schemas,
        *,
        settings: Settings | None = None,
        memory: int = 1024 * _MIB,
        seconds: float = 30.0,
    ) -> None:
        self._settings = settings
        self._log = log
        self._registry = registry
        self._memory = memory
        self._seconds = seconds
        self._keeping = Keeping(log, memory)
        self._turn = threading.Lock()
        self._engine_made: Engine | None = None
        self._sources_made: Sources | None = None

    def close(self) -> None:
        """Let go of all rows."""
        with self._turn:
            if self._engine_made is not None:
                self._engine_made.close()
            if self._sources_made is not None:
                self._sources_made.close()
            self._engine_made, self._sources_made = None, None

    def names(self) -> list[str]:
        """Give the names that FROM can have."""
        return self._sources.names()

    def sources(self, names: Sequence[str] | None = None) -> list[Source]:
        """Give all that FROM can name, or what some names mean, with columns and keys."""
        return list(self._sources.all(names))

    def declared(self, topic: str) -> SqlSource | None:
        """Give a stream or table of the catalog that says how the records of a topic are read."""
        return self._sources.declared(topic)

    def source(self, name: str) -> Source | None:
        """Give what a name means, if it means anything."""
        return self._sources.find((name,)) or self._sources.find(tuple(name.split(".", 1)))

    def query(self, sql: str, *, limit: int = MOST_ROWS, as_of: Said = None) -> PullAnswer:
        """Answer one SELECT of DuckDB, with at most so many rows, as things are or were."""
        deadline = time.monotonic() + self._seconds
        statement, found, moment = self._read(sql, as_of)
        read = {source: _read_as(source, moment) for source in found.values()}
        with self._keeping.advanced(set(read.values()), deadline) as (kept, bounds):
            captured = {one.source: one.captured() for one in kept}
        then = (moment or _NOTHING).bounds(bounds)
        rows = {
            source: _then(captured[reading](), source, moment, then)
            for source, reading in read.items()
        }
        given = {path: source.seen(rows[source]) for path, source in found.items()}
        result = self._engine.run(
            statement, given, limit=limit, seconds=deadline - time.monotonic()
        )
        offsets = {at: bound.end for at, bound in sorted(then.items())}
        tag = self._tag(statement, found, (limit, as_of), offsets)
        return PullAnswer(result.columns, result.types, result.rows, offsets, result.truncated, tag)

    def tag(self, sql: str, *, limit: int = MOST_ROWS, as_of: Said = None) -> str | None:
        """Give the tag that the answer would have now, without answering."""
        statement, found, moment = self._read(sql, as_of)
        ends = self._keeping.ends(found.values())
        bounds = {at: Bounds(0, end) for at, end in ends.items()}
        then = (moment or _NOTHING).bounds(bounds)
        return self._tag(statement, found, (limit, as_of), {at: it.end for at, it in then.items()})

    def lookup(self, name: str, key: Any, *, limit: int = MOST_ROWS) -> PullAnswer:  # noqa: ANN401  # whatever its key is
        """Give the row of a key; where keys lie in windows, those of all its windows.

        Several columns are given by name; text is taken as what the column holds.
        """
        source = self.source(name)
        if source is None:
            raise self._missing(name)
        if not source.is_table:
            raise SqlError(
                "QUERY_NO_TABLE",
                f'"{source.name}" is a {source.kind}, whose rows have no key to find one by',
                hint="Ask it with a SELECT, or make a table of it.",
            )
        wanted = _key_row(source, key)
        deadline = time.monotonic() + self._seconds
        with self._keeping.advanced([source], deadline) as ((kept,), bounds):
            offsets = {at: bound.end for at, bound in sorted(bounds.items())}
            rows = None if source.bounds else kept.look_up(wanted)
            captured = kept.captured() if source.bounds else None
        if captured is not None:
            rows = _of_key(captured(), wanted).slice(0, limit)
        seen = source.seen(rows)
        types = tuple(str(item.type) for item in seen.schema)
        tag = tag_of([source.name, str(key), _document(offsets)])
        return PullAnswer(tuple(seen.column_names), types, seen, offsets, tag=tag)

    @property
    def _engine(self) -> Engine:
        with self._turn:
            if self._engine_made is None:
                self._engine_made = Engine(memory=self._memory // 2)
            return self._engine_made

    @property
    def _sources(self) -> Sources:
        with self._turn:
            if self._sources_made is None:
                settings = self._settings or load_settings()
                self._sources_made = Sources(self._log, self._registry, settings)
            return self._sources_made

    def _read(
        self, sql: str, said: Said
    ) -> tuple[Statement, dict[tuple[str, ...], Source], AsOf | None]:
        statement = self._engine.read(sql)
        found: dict[tuple[str, ...], Source] = {}
        for named in statement.names:
            path = tuple(part.lower() for part in named.path)
            if path in found:
                continue
            source = self._sources.find(named.path)
            if source is not None:
                found[path] = source
            elif path[0] not in statement.inner:
                fact = f'there is no table, stream or topic "{".".join(named.path)}"'
                shown = statement.source.shown(fact, named.span)
                raise self._missing(".".join(named.path), shown)
        return statement, found, as_of(said)

    def _missing(self, name: str, fact: str = "") -> SqlError:
        known = self._sources.names()
        alike = {one.lower(): one for one in known}
        meant = did_you_mean(name.lower(), alike)
        for low, one in alike.items():
            meant = meant.replace(f'"{low}"', f'"{one}"')
        return SqlError(
            "QUERY_TABLE_MISSING",
            fact or f'there is no table, stream or topic "{name}"',
            hint=meant or "`penstock query --tables` lists those there are.",
        )

    def _tag(
        self,
        statement: Statement,
        found: Mapping[tuple[str, ...], Source],
        said: tuple[int, Said],
        offsets: Mapping[TopicPartition, int],
    ) -> str | None:
        if statement.volatile:
            return None
        topics = sorted({source.topic for source in found.values()})
        ids = [self._log.topic(topic).topic_id for topic in topics]
        return tag_of([statement.text, *said, ids, _document(offsets)])


def _document(offsets: Mapping[TopicPartition, int]) -> dict[str, int]:
    return {str(at): offset for at, offset in offsets.items()}


def _read_as(source: Source, moment: AsOf | None) -> Source:
    """Give what is kept to answer: an earlier time of a table is found in its history."""
    return replace(source, history=True) if moment is not None and source.keys else source


def _then(
    rows: pa.Table,
    source: Source,
    moment: AsOf | None,
    bounds: Mapping[TopicPartition, Bounds],
) -> pa.Table:
    if moment is None:
        return rows
    mine = {at: bound for at, bound in bounds.items() if at.topic == source.topic}
    return moment.rows(rows, source, mine)


def _key_row(source: Source, key: Any) -> pa.Table:  # noqa: ANN401  # whatever its key is
    fields = [source.reader.schema.field(name) for name in source.keys]
    if isinstance(key, Mapping):
        given = {str(name).lower(): value for name, value in key.items()}
        values = [given.get(item.name.lower()) for item in fields]
        fits = len(given) == len(fields) and None not in values
    else:
        values, fits = [key], len(fields) == 1
    if not fits:
        raise SqlError(
            "QUERY_KEY",
            f'the key of "{source.name}" is {", ".join(source.keys)}, and not {key!r}',
            hint="Give each of its columns a value, several as a JSON object.",
        )
    try:
        columns = [_cell(value, item) for value, item in zip(values, fields, strict=True)]
    except (pa.ArrowException, ValueError, TypeError, UnicodeError) as error:
        raise SqlError(
            "QUERY_KEY",
            f'{key!r} is no key of "{source.name}": {str(error).splitlines()[0]}',
            hint=f"Its key is {', '.join(f'{it.name} {it.type}' for it in fields)}.",
        ) from error
    return pa.table(columns, schema=pa.schema(fields))


def _cell(value: Any, item: pa.Field) -> pa.Array:  # noqa: ANN401  # a value of any type
    if item.name == KEY_COLUMN and isinstance(value, str):
        value = value.encode()
    if isinstance(value, str):
        return pa.array([value], pa.string()).cast(item.type)
    return pa.array([value]).cast(item.type)


def _of_key(rows: pa.Table, key: pa.Table) -> pa.Table:
    for name in key.column_names:
        rows = rows.filter(pc.equal(rows.column(name), key.column(name)[0]))
    return rows
