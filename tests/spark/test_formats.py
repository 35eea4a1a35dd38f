"""Topics of bytes on Spark: values are read and written by formats, and nothing ends a job."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.errors import RunError
from penstock.jobs.replay import replay
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.port import ReadLimit
from penstock.log.rows import rows_of_bytes
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Column
from penstock.model.latest import Latest
from penstock.model.measure import Measure
from penstock.model.plan import Plan, Sink
from penstock.model.source import Stream
from penstock.model.stateless import Apply
from penstock.schema.codec.format import Format, OnError
from penstock.schema.registry.open import open_schemas
from penstock.schema.registry.port import SchemaRegistry
from penstock.schema.schema import Field, Schema
from penstock.schema.serde import serde_of, writing_serde
from penstock.schema.types import INT64, STRING
from penstock.spark.query import ProgramQuery
from tests.spark.programs import Jobs, Row, records

pytestmark = pytest.mark.spark

EVENT = Schema((Field("user", STRING), Field("n", INT64)))
JSON = Format("json")


@pytest.fixture
def jobs(spark: SparkSession, home: Path, tmp_path: Path) -> Jobs:
    return Jobs(spark, home, tmp_path / "job")


def mixed(good: list[bytes], poison: list[bytes]) -> list[bytes]:
    """Put one value of the second list into every hundred of the first."""
    values = good.copy()
    for number, value in enumerate(poison):
        values.insert(100 * number, value)
    return values


def events(on_error: OnError = "dead_letter") -> Stream:
    return Stream("events", EVENT, format=JSON, on_error=on_error)


def halved(row: dict[str, int]) -> dict[str, object]:
    return {"user": row["user"], "n": 100 // row["n"]}


def publish(log: EmbeddedLog, values: list[bytes | None], topic: str = "events") -> None:
    if topic not in log.topics():
        log.create_topic(topic, partitions=2)
    for partition in range(2):
        share = values[partition::2]
        log.append(
            topic,
            partition,
            rows_of_bytes(
                share,
                keys=[b"key%d" % number for number in range(len(share))],
                timestamps=[1000 * number for number in range(len(share))],
                headers=[(("origin", b"\x00\xff"),)] * len(share),
            ),
        )


def test_values_that_cannot_be_read_are_dead_letters_with_their_records(
    log: EmbeddedLog, jobs: Jobs
) -> None:
    good = [b'{"user": "u%d", "n": %d}' % (n % 3, n % 50) for n in range(2000)]
    poison = [b"\xff\xfe", b'{"user": "x"', b'{"user": "x", "n": "many"}', b"", b"[1]"]
    publish(log, [*mixed(good, poison * 4), None])
    step = Apply(events(), "halved", halved, "map", EVENT)
    totals = Aggregate(events(), ("user",), (Measure("total", "sum", (Column("n"),)),))
    program = Plan(
        "formats",
        (
            Sink(step, "out", ("user",), format=JSON, key_format=Format("string")),
            Sink(Latest(totals, ("user",)), "totals", ("user",), upsert=True, format=JSON),
        ),
    )
    query = jobs.run(program, rows=700)
    out = [json.loads(row["value"]) for row in records(log, "out")]
    assert len(out) == len([n for n in range(2000) if n % 50])
    assert {row["_key"] for row in records(log, "out")} == {b"u0", b"u1", b"u2"}
    dead = records(log, "out.dead")
    unread = [row for row in dead if row["raw"] is not None]
    held = [records_of(log, "events", partition) for partition in range(2)]
    assert len(unread) == len(poison) * 4
    for row in unread:
        record = held[row["partition"]][row["offset"]]
        assert (row["raw"], row["key"]) == (record["value"], record["_key"])
        assert (row["timestamp"], row["headers"]) == (record["_timestamp"], record["_headers"])
        assert row["topic"] == "events"
        assert row["error"].startswith("[VALUE_UNREADABLE]")
    raised = [row for row in dead if row["raw"] is None]
    assert len(raised) == 40
    for row in raised:
        assert json.loads(held[row["partition"]][row["offset"]]["value"])["n"] == 0
    last = {row["_key"]: json.loads(row["value"]) for row in records(log, "totals")}
    assert last[b"u0"]["total"] == sum(n % 50 for n in range(2000) if n % 3 == 0)
    progress = query.progress
    assert progress is not None
    (counts,) = (found for found in progress.accounts if found.operator == "scan-events")
    assert (counts.taken, counts.passed, counts.dead) == (2020, 2000, 20)
    assert replay(log, "out.dead").records == 60


def test_a_changed_schema_reaches_a_running_query_and_an_incompatible_one_is_put_aside(
    log: EmbeddedLog, jobs: Jobs
) -> None:
    first = '{"type": "record", "name": "E", "fields": [{"name": "user", "type": "string"}]}'
    number = '{"name": "n", "type": ["null", "long"], "default": null}'
    second = first.replace("]}", f", {number}]}}")
    other = second.replace('"long"', '"string"')
    log.create_topic("events")
    registry = open_schemas(log)
    send(log, registry, first, {"user": "ann"})
    source = Stream("events", EVENT, format=Format("avro", subject="events-value"))
    program = Plan("live", (Sink(source, "out", format=Format("avro", subject="out-value")),))
    query = jobs.start(program)
    try:
        wait_for(query, lambda: written(log) == 1)
        send(log, registry, second, {"user": "bob", "n": 2})
        wait_for(query, lambda: written(log) == 2)
        registry.set_level("events-value", "NONE")
        send(log, registry, other, {"user": "cy", "n": "three"})
        send(log, registry, second, {"user": "dee", "n": 4})
        wait_for(query, lambda: written(log) == 3)
    finally:
        query.stop()
    reader = serde_of("out", Format("avro", subject="out-value"), schemas=registry)
    assert reader.read(log.read("out", 0, 0, ReadLimit()).rows).to_list() == [
        {"user": "ann", "n": None},
        {"user": "bob", "n": 2},
        {"user": "dee", "n": 4},
    ]
    (letter,) = records(log, "out.dead")
    assert letter["raw"] == records(log, "events")[2]["value"]


def test_a_query_that_is_to_fail_names_the_record_and_goes_on_after_the_fix(
    log: EmbeddedLog, jobs: Jobs
) -> None:
    publish(log, [b'{"user": "a", "n": 1}', b'{"user": "b", "n": 2}', b'{"user": "c", "n": "3"}'])
    with pytest.raises(RunError, match="VALUE_UNREADABLE") as caught:
        jobs.run(Plan("strict", (Sink(events("fail"), "out"),)))
    assert 'the value at offset 1 of partition "events-0" cannot be read' in caught.value.fact
    assert records(log, "out") == []
    fixed = Stream("events", Schema((Field("user", STRING),)), format=JSON, on_error="fail")
    jobs.run(Plan("strict", (Sink(fixed, "users"),)))
    assert sorted(row["user"] for row in records(log, "users")) == ["a", "b", "c"]


def send(log: EmbeddedLog, registry: SchemaRegistry, schema: str, row: dict[str, object]) -> None:
    value = Format("avro", written=schema, subject="events-value")
    serde = writing_serde("events", value, schemas=registry)
    log.append("events", 0, serde.write(row))


def written(log: EmbeddedLog) -> int:
    return len(records(log, "out")) if "out" in log.topics() else 0


def wait_for(query: ProgramQuery, what: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not what():
        if query.error is not None:
            raise query.error
        assert time.monotonic() < end
        time.sleep(0.02)


def records_of(log: EmbeddedLog, topic: str, partition: int) -> dict[int, Row]:
    rows = log.read(topic, partition, 0, ReadLimit()).rows.to_pylist()
    return {row["_offset"]: row for row in rows}
