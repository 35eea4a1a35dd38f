"""The rows of a topic as a rule sees them, read as they come."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl
import pyarrow as pa

from penstock.config import Settings
from penstock.errors import ConfigError
from penstock.kernel.columns import frame_schema
from penstock.kernel.port import WEIGHT, Frame
from penstock.log.port import Log, ReadLimit
from penstock.log.record import (
    DELETED_COLUMN,
    KEY_COLUMN,
    OFFSET_COLUMN,
    TIMESTAMP_COLUMN,
    VALUE_COLUMN,
    TopicPartition,
)
from penstock.schema.arrow import from_arrow
from penstock.schema.binding import bindings_of
from penstock.schema.codec.codecs import format_of
from penstock.schema.home_schemas import HomeSchemas
from penstock.schema.schema import Field, Schema
from penstock.schema.serde import Serde, serde_of
from penstock.schema.text import parse_type
from penstock.watch.rule import Rule

AT = "_at"
GONE = "_gone"
RECORD_KEY = KEY_COLUMN
_SYSTEM = (TIMESTAMP_COLUMN, KEY_COLUMN, DELETED_COLUMN)
_COLUMN = re.compile(r"\s*(`(?:[^`]|``)+`|\w+)\s+(.+)", re.DOTALL)


class TopicRows:
    """Reads the rows of a topic on from some offsets.

    A frame has the columns of the topic, `_at` when the log took each row, `_gone` where it takes
    its key back, and `_key` the key of its record as text.
    """

    def __init__(
        self, rule: Rule, log: Log, settings: Settings, offsets: Mapping[TopicPartition, int]
    ) -> None:
        topic = log.topic(rule.place)
        self._log = log
        self._serde: Serde | None = None
        if topic.schema is None:
            self._serde = _serde(rule, settings)
            self.schema = self._serde.schema
        else:
            self.schema = from_arrow(topic.schema)
        self._wanted = self.schema.names
        self.offsets = {
            place: offsets.get(place, log.bounds(*place).start)
            for place in (TopicPartition(topic.name, n) for n in range(topic.partitions))
        }

    def narrow(self, names: Iterable[str]) -> None:
        """Read only these columns from now on."""
        needed = {*names, WEIGHT}
        self._wanted = tuple(name for name in self.schema.names if name in needed)

    def skip(self) -> None:
        """Go to the end."""
        self.offsets = {place: self._log.bounds(*place).end for place in self.offsets}

    def read(self) -> Iterator[Frame]:
        """Give what came since the last time."""
        for place in self.offsets:
            bounds = self._log.bounds(*place)
            if not bounds.start <= self.offsets[place] <= bounds.end:
                # Some of it is gone, or the topic was made anew.
                self.offsets[place] = bounds.start
            while self.offsets[place] < bounds.end:
                at = self.offsets[place]
                chunk = self._log.read(*place, at, self._limit(bounds.end))
                self.offsets[place] = max(chunk.next_offset, at + 1)
                if chunk.rows.num_rows:
                    yield self._shaped(chunk.rows)

    def _limit(self, end: int) -> ReadLimit:
        if self._serde is not None:
            return ReadLimit(stop=end)
        return ReadLimit(stop=end, columns=(*_SYSTEM, *self._wanted))

    def _shaped(self, records: pa.Table) -> Frame:
        rows = records if self._serde is None else self._opened(records, self._serde)
        frame = pl.DataFrame(pl.from_arrow(rows.drop_columns([KEY_COLUMN])))
        kinds = frame_schema(self.schema)
        gone = pl.col(DELETED_COLUMN).fill_null(value=False)
        if WEIGHT in self.schema.names:
            gone |= pl.col(WEIGHT) < 0
        return frame.select(
            *(pl.col(name).cast(kinds[name]) for name in self._wanted),
            pl.col(TIMESTAMP_COLUMN).cast(pl.Int64).alias(AT),
            gone.alias(GONE),
            _texts(rows.column(KEY_COLUMN)),
        )

    @staticmethod
    def _opened(records: pa.Table, serde: Serde) -> pa.Table:
        """Give the rows of values; one that cannot be read is left out."""
        received = serde.read(records)
        rows = received.rows.append_column(
            DELETED_COLUMN, pa.compute.is_null(records.column(VALUE_COLUMN))
        )
        kept = [at not in received.failures for at in range(rows.num_rows)]
        found = rows.filter(pa.array(kept, pa.bool_()))
        return found.drop_columns([name for name in (OFFSET_COLUMN,) if name in found.column_names])


def _texts(keys: pa.ChunkedArray) -> pl.Series:
    try:
        return pl.Series(RECORD_KEY, pl.from_arrow(keys)).cast(pl.String)
    except pl.exceptions.PolarsError:
        # Some are no text.
        texts = (_text(key) for key in keys.to_pylist())
        return pl.Series(RECORD_KEY, texts, dtype=pl.String)


def _text(key: bytes | None) -> str | None:
    return None if key is None else key.decode("utf-8", "backslashreplace")


def _serde(rule: Rule, settings: Settings) -> Serde:
    bound = bindings_of(settings.serdes, settings.topics).get(rule.place)
    said = format_of(rule.format) if rule.format else None
    found = said or (None if bound is None else bound.value)
    if found is None:
        raise ConfigError(
            "ALERT_RULE",
            f'alert "{rule.name}" is on topic "{rule.place}", whose records are bytes',
            hint='Write format = "json" and columns = "page string, count bigint", or bind the'
            f" topic to a format: [topics.{rule.place}].",
        )
    schemas = HomeSchemas(Path(settings.home), settings.registry_url)
    columns = _columns(rule) if rule.columns else None
    return serde_of(rule.place, found, schema=columns, schemas=schemas)


def _columns(rule: Rule) -> Schema:
    fields = []
    for part in re.split(r",(?![^<(]*[>)])", rule.columns):
        found = _COLUMN.fullmatch(part)
        if found is None:
            raise rule.refused(
                f'has the column "{part.strip()}"', 'Write columns = "page string, count bigint".'
            )
        fields.append(Field(found[1].strip("`"), parse_type(found[2].strip())))
    return Schema(tuple(fields))
