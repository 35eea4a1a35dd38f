"""Rows as records of bytes: keys, values, tombstones, and what a format cannot hold."""

from __future__ import annotations

import json

import polars as pl
import pyarrow as pa
import pytest
from typing_extensions import override

from penstock.errors import SchemaError
from penstock.kernel.port import CONTROL, Frame
from penstock.log.embedded.log import EmbeddedLog
from penstock.model.physical import Physical
from penstock.model.plan import Plan, Sink
from penstock.model.source import Stream
from penstock.plan.planner import plan
from penstock.schema.codec.codec_cache import CodecCache
from penstock.schema.codec.format import Format
from penstock.schema.codec.port import Codec, Decoded
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, STRING
from penstock.spark.output import ensure_topics, outlets

USER = Schema((Field("id", INT64), Field("name", STRING)))
JSON = Format("json")


def written(**words: object) -> Physical:
    keyed = {"keys": ("id",), "format": JSON, **words}
    return plan(Plan("p", (Sink(Stream("in", USER), "out", **keyed),)))  # type: ignore[arg-type]


def rows(*found: tuple[int | None, str | None, int]) -> Frame:
    return pl.DataFrame(
        [(*row, number, number) for number, row in enumerate(found)],
        schema={"id": pl.Int64, "name": pl.String, **CONTROL},
        orient="row",
    )


def test_rows_are_written_by_the_format_under_keys_of_theirs() -> None:
    outlet = outlets(written(key_format=Format("long")))["out-out"]
    table = outlet.records(rows((5, "ann", 1), (None, "bob", 1)), 77, CodecCache())
    assert table.column("_key").to_pylist() == [(5).to_bytes(8, "big"), None]
    assert table.column("_partition").to_pylist() == [None, 0]
    first, second = (json.loads(value) for value in table.column("value").to_pylist())
    assert first == {"id": 5, "name": "ann"}
    assert (second.get("id"), second["name"]) == (None, "bob")


def test_keys_without_a_format_are_text() -> None:
    table = outlets(written())["out-out"].records(rows((5, "ann", 1)), 77, CodecCache())
    assert table.column("_key").to_pylist() == [b"5"]


def test_a_row_that_is_gone_is_a_record_without_a_value() -> None:
    outlet = outlets(written(upsert=True))["out-out"]
    table = outlet.records(rows((5, "ann", 1), (6, "bob", -1)), 77, CodecCache())
    found = dict(zip(table.column("_key").to_pylist(), table.column("value"), strict=True))
    assert found[b"6"].as_py() is None
    assert json.loads(found[b"5"].as_py())["name"] == "ann"


class Picky(Codec):
    """Holds no row whose name is empty."""

    schema = USER

    @override
    def decode(self, values: pa.Array) -> Decoded:
        raise NotImplementedError

    @override
    def encode(self, rows: pa.Table) -> pa.Array:
        names = rows.column("name").to_pylist()
        if "" in names:
            raise SchemaError("VALUE_ENCODE", f"row {names.index('')} has no name")
        return pa.array([name.encode() for name in names], pa.binary())


class PickyCodecs(CodecCache):
    @override
    def of(self, format: Format, schema: Schema | None) -> Codec:
        return Picky()


@pytest.mark.parametrize("upsert", [False, True])
def test_a_row_that_the_format_cannot_hold_is_a_dead_letter_of_its_sink(
    log: EmbeddedLog, upsert: bool
) -> None:
    log.create_topic("in")
    physical = written(upsert=upsert)
    ensure_topics(log, physical)
    found = rows((1, "ann", 1), (2, "", 1), (3, "cy", 1))
    routed = list(outlets(physical)["out-out"].routed(log, found, 77, PickyCodecs()))
    good = [item for item in routed if item.topic == "out"]
    assert sorted(item.rows.column("value")[0].as_py() for item in good[:1]) == [b"ann"]
    assert sum(item.rows.num_rows for item in good) == 2
    (dead,) = (item for item in routed if item.topic == "out.dead")
    (letter,) = dead.rows.to_pylist()
    assert letter["error"] == "[VALUE_ENCODE] row 0 has no name"
    assert json.loads(letter["row"]) == {"id": 2, "name": ""}
    assert letter["step"] == "out"


def test_a_topic_with_columns_cannot_take_bytes(log: EmbeddedLog) -> None:
    log.create_topic("in")
    log.create_topic("out", schema=pa.schema([("id", pa.int64())]))
    with pytest.raises(SchemaError, match="OUTPUT_SCHEMA") as caught:
        ensure_topics(log, written())
    assert "leave out the format" in caught.value.hint


def test_a_topic_of_bytes_has_no_schema(log: EmbeddedLog) -> None:
    log.create_topic("in")
    ensure_topics(log, written(upsert=True))
    assert log.topic("out").schema is None
    assert log.topic("out").config.compacts
