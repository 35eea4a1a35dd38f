"""SQL over records of bytes: how many a statement takes, and what reading many at once gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bench.measure import cost_of_tree
from bench.result import Measure, Result, Target
from bench.scale import Scale
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.parse import parse_script
from penstock.front.sql.statement import Session, Started
from penstock.log.open import open_log
from penstock.log.rows import rows_of_bytes
from penstock.schema.codec.port import Codec
from penstock.schema.ksql.codecs import Serialized, ksql_codec
from penstock.schema.ksql.delimited_line import read_line
from penstock.schema.ksql.json_value import Named, read_json
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BOOLEAN, FLOAT64, INT32, INT64, STRING
from penstock.sql.running import catch_up

_COLUMNS = Schema(
    (
        Field("ID", INT64),
        Field("NAME", STRING),
        Field("PRICE", FLOAT64),
        Field("QTY", INT32),
        Field("OK", BOOLEAN),
    )
)
_NAMED: Named = tuple((field.name, field.type) for field in _COLUMNS.fields)
_STATEMENTS = """
CREATE STREAM s (k STRING KEY, id BIGINT, name STRING, price DOUBLE, qty INT, ok BOOLEAN)
  WITH (KAFKA_TOPIC='s', VALUE_FORMAT='{}');
CREATE STREAM x AS SELECT k, id, UCASE(name) AS name, price * qty AS total FROM s WHERE qty > 2;
"""
_METHOD = (
    "Five columns and a key of text. A statement filters, computes two columns and writes 70 % of"
    " the records in the same format, in this process, from a topic of one partition to another"
    " with exactly-once snapshots. The codecs of SQL read the same values all at once, and one by"
    " one as a baseline, by turns. Records per CPU-second of the process."
)
_PIECE = 50_000
_STEP = 0.01


def run(scale: Scale) -> Result:
    """Measure whole statements, and the codecs by themselves."""
    count, pairs = scale.of(500_000, 2_000), scale.of(5, 1)
    measures = []
    for name in ("JSON", "DELIMITED", "AVRO"):
        codec = ksql_codec(Serialized(name), _COLUMNS)
        values = codec.encode(_rows(count))
        measures.append(_statement(scale, name, values, pairs))
        measures += _reading(name, codec, values, pairs)
    return Result(
        name="sql_records",
        title="SQL over records of bytes",
        method=_METHOD,
        baseline="records read one by one",
        scale=scale.name,
        sizes={"records": count, "pairs": pairs},
        measures=tuple(measures),
    )


def _rows(count: int) -> pa.Table:
    numbers = np.arange(count)
    return pa.table(
        {
            "ID": pa.array(numbers),
            "NAME": pa.array([f"name{number % 1000}" for number in range(count)]),
            "PRICE": pa.array((numbers % 977) * 0.25),
            "QTY": pa.array((numbers % 10).astype(np.int32)),
            "OK": pa.array(numbers % 2 == 0),
        }
    )


def _statement(scale: Scale, name: str, values: pa.Array, pairs: int) -> Measure:
    def once() -> float:
        with scale.home() as home:
            query = _prepared(home, name, values)
            return _rate(len(values), lambda: catch_up(home, [query]))

    once()
    label = f"CREATE STREAM ... AS SELECT ... WHERE, {name}"
    found = tuple(once() for _ in range(pairs))
    return Measure(label=label, unit="records/CPU-s", ours=found)


def _prepared(home: Path, name: str, values: pa.Array) -> Started:
    session = Session(Catalog())
    query = [session.execute(it) for it in parse_script(_STATEMENTS.format(name))][-1]
    assert isinstance(query, Started)
    with open_log(home) as log:
        for topic in ("s", "X"):
            log.create_topic(topic, partitions=1)
        for at in range(0, len(values), _PIECE):
            some: list[Any] = values.slice(at, _PIECE).to_pylist()
            keys = [f"k{(at + place) % 5000}".encode() for place in range(len(some))]
            times = list(range(at, at + len(some)))
            log.append("s", 0, rows_of_bytes(some, keys=keys, timestamps=times))
    return query


def _reading(name: str, codec: Codec, values: pa.Array, pairs: int) -> Sequence[Measure]:
    singles: dict[str, Callable[[str], object]] = {
        "JSON": lambda text: read_json(text, _NAMED, wrapped=True),
        "DELIMITED": lambda text: read_line(text, _NAMED, ","),
    }
    single = singles.get(name)
    if single is None:
        return ()
    texts = [value.decode() for value in values.to_pylist()]
    ours, theirs = [], []
    for _ in range(pairs):
        ours.append(_rate(len(texts), lambda: codec.decode(values)))
        theirs.append(_rate(len(texts), lambda: [single(text) for text in texts]))
    return (
        Measure(
            label=f"{name} read by itself",
            unit="records/CPU-s",
            ours=tuple(ours),
            baseline=tuple(theirs),
            target=Target("at least", 3.0),
        ),
    )


def _rate(count: int, work: Callable[[], object]) -> float:
    # The clock of processes has steps, and few records may take less than one.
    return count / max(cost_of_tree(work).cpu, _STEP)
