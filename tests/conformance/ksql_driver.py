"""Queries and records of a case in the driver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
from typing_extensions import override

from penstock.errors import PenstockError
from penstock.front.sql.insert import Inserted
from penstock.front.sql.record import Part
from penstock.front.sql.source import ROW_TIME
from penstock.front.sql.statement import Started
from penstock.kernel.expression import lower
from penstock.log.record import Record
from penstock.model.expr import Expr
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT32
from penstock.testing.driver import TestDriver
from tests.conformance.ksql_codec import Sent
from tests.conformance.ksql_feed import Feed


def as_record(record: Sent) -> Record:
    """Give a record as the log would."""
    return Record(record.topic, 0, 0, record.timestamp, record.key, record.value, record.headers)


class DriverFeed(Feed):
    """A query in the driver."""

    def __init__(self, query: Started) -> None:
        self._driver = TestDriver(query.plan)
        self._writes = query.writes.topic

    @override
    def push(self, record: Sent) -> list[Sent]:
        self._driver.push(record.topic, [as_record(record)])
        return [
            Sent(self._writes, row["_key"], row["value"], row["_time"], _headers(row["_headers"]))
            for row in self._driver.take(self._writes)
        ]

    @override
    def replace(self, query: Started) -> None:
        before, self._driver = self._driver.snapshot(), TestDriver(query.plan)
        self._writes = query.writes.topic
        try:
            self._driver.restore(before)
        except (PenstockError, KeyError):
            self._driver = TestDriver(query.plan)

    @override
    def close(self) -> None:
        """Let go of nothing: the driver is memory."""


def _headers(found: list[dict[str, Any]] | None) -> tuple[tuple[str, bytes | None], ...]:
    return tuple((item["key"], item["value"]) for item in found or [])


def inserted_records(outcome: Inserted) -> Iterator[Sent]:
    """Give the records of INSERT INTO ... VALUES."""
    source = outcome.source
    empty = dict.fromkeys(column.name for column in source.columns)
    for typed in outcome.rows:
        values = {name: constant(item.expr) for name, item in typed.items()}
        row = {**empty, **values}
        key = Part(source.key_format, source.keys).write(row)
        value = Part(source.value_format, source.values).write(row)
        yield Sent(source.topic, key, value, values.get(ROW_TIME) or 0)


def constant(expr: Expr) -> Any:  # noqa: ANN401
    """Give the value of an expression of nothing."""
    known = Schema((Field("_", INT32),))
    frame = pl.DataFrame({"_": [0]}, schema={"_": pl.Int32})
    return frame.select(lower(expr, known).alias("it")).row(0)[0]
