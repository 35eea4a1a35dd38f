"""The names of a home: the streams and tables of its SQL catalog, and all topics."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace

from penstock.config import Settings
from penstock.errors import PenstockError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.source import WINDOW_END, WINDOW_START, SqlSource
from penstock.front.sql.typed_format import is_typed
from penstock.log.port import Log
from penstock.log.record import KEY_COLUMN
from penstock.schema.binding import bindings_of
from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.schemas import Schemas
from penstock.schema.codec.subject import with_subject
from penstock.serve.pull.row_reader import BytesReader, SqlReader, TypedReader
from penstock.serve.pull.source import Source
from penstock.serve.pull.typed_source import TypedSqlReader
from penstock.sql.defining import Definer

HISTORY, TOPIC = "history", "topic"
_FORMATS = {"AVRO": "avro", "JSON": "json_schema", "PROTOBUF": "protobuf"}
_SUBJECT = "{}-value"
_NO_READING = BytesReader("bytes")


class Sources:
    """Finds what a name means now; a statement of another process is seen at once."""

    def __init__(self, log: Log, registry: Schemas, settings: Settings) -> None:
        self._log = log
        self._registry = registry
        self._bindings = bindings_of(settings.serdes, settings.topics)
        self._definer = Definer(log, registry)
        self._turn = threading.Lock()

    def close(self) -> None:
        """Let go of the catalog."""
        self._definer.close()

    def find(self, path: tuple[str, ...]) -> Source | None:
        """Give what a name means: one of SQL first, then a topic, each as it is or in any case.

        `history.NAME` is all records of a table, `topic.NAME` a topic that SQL has a name for.
        """
        first = path[0].lower() if len(path) > 1 else ""
        if first == HISTORY:
            found = self._found(".".join(path[1:]))
            return None if found is None else replace(found, history=True)
        if first == TOPIC:
            return self._topic(".".join(path[1:]))
        return self._found(".".join(path))

    def names(self) -> list[str]:
        """Give the names that can be asked for, without the topics that Penstock keeps itself."""
        told = [source.name for source in self._catalog()]
        known = {name.lower() for name in told}
        topics = [name for name in self._log.topics() if not name.startswith("_")]
        return sorted([*told, *(name for name in topics if name.lower() not in known)])

    def declared(self, topic: str) -> SqlSource | None:
        """Give a stream or table that says how the records of a topic are written."""
        found = (one for one in self._catalog() if one.topic == topic)
        return next((one for one in found if not one.side and not one.file), None)

    def all(self, names: Iterable[str] | None = None) -> Iterator[Source]:
        """Give all that can be asked for, or some of it; what cannot be read is left out."""
        for name in self.names() if names is None else names:
            try:
                found = self._found(name)
            except PenstockError:
                continue
            if found is not None:
                yield found

    def _found(self, name: str) -> Source | None:
        catalog = self._catalog()
        sql = catalog.get(name) or catalog.get(name.upper())
        if sql is None:
            sql = _in_any_case(name, catalog)
        if sql is not None:
            return _of_sql(sql)
        base, _, side = name.rpartition(".")
        beside = catalog.get(base) or catalog.get(base.upper())
        if beside is not None and side.upper() in ("LATE", "DEAD"):
            return self._topic(f"{beside.topic}.{side.lower()}")
        return self._topic(name)

    def _catalog(self) -> Catalog:
        with self._turn:
            return self._definer.definitions().catalog

    def _topic(self, name: str) -> Source | None:
        known = self._log.topics()
        if name not in known:
            alike = [topic for topic in known if topic.lower() == name.lower()]
            if not alike:
                return None
            name = alike[0]
        topic = self._log.topic(name)
        reader = self._bytes_reader(name) if topic.schema is None else TypedReader(topic.schema)
        if topic.config.compacts:
            return Source(name, "table", name, reader, (KEY_COLUMN,))
        return Source(name, "topic", name, reader)

    def _bytes_reader(self, topic: str) -> BytesReader:
        bound = self._bindings.get(topic)
        if bound is not None and bound.value is not None:
            form = with_subject(bound.value, topic)
            return self._coded(form, str(form)) or _NO_READING
        try:
            version = self._registry.version(_SUBJECT.format(topic))
        except PenstockError:
            return _NO_READING
        form = Format(_FORMATS[version.schema.type], subject=version.subject)
        return self._coded(form, f"{form} {version.id}") or _NO_READING

    def _coded(self, form: Format, known_by: str) -> BytesReader | None:
        try:
            return BytesReader(known_by, codec_of(form, None, self._registry))
        except PenstockError:
            # A format that does not say columns: the bytes are there all the same.
            return None


def _in_any_case(name: str, catalog: Iterable[SqlSource]) -> SqlSource | None:
    return next((found for found in catalog if found.name.lower() == name.lower()), None)


def _of_sql(source: SqlSource) -> Source:
    bounds = () if source.window is None else (WINDOW_START, WINDOW_END)
    keys = tuple(column.name for column in source.keys)
    reader = TypedSqlReader(source) if is_typed(source) else SqlReader(source)
    if not source.is_table:
        return Source(source.name, "stream", source.topic, reader)
    return Source(source.name, "table", source.topic, reader, keys, bounds)
