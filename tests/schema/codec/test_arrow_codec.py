from __future__ import annotations

import pyarrow as pa

from tests.schema.codec.kit import codec, decode, read, reason, written
from tests.schema.codec.test_json import ALL, NOTHING, ROW


def stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def test_every_type_comes_back() -> None:
    reader = codec("arrow", ALL)
    values = written(reader, [ROW, NOTHING])
    assert read(reader, *values) == [ROW, NOTHING]


def test_a_column_that_is_missing_is_null_and_one_too_many_is_passed_over() -> None:
    reader = codec("arrow", {"a": "bigint", "b": "string"})
    value = stream(pa.table({"c": [1], "a": pa.array([2], pa.int8())}))
    assert read(reader, value) == [{"a": 2, "b": None}]


def test_a_value_is_one_row() -> None:
    reader = codec("arrow", {"a": "bigint"})
    assert reason(reader, stream(pa.table({"a": [1, 2]}))).endswith("it holds 2 rows")
    assert reason(reader, stream(pa.table({"a": pa.array([], pa.int64())}))).endswith("0 rows")


def test_what_is_no_such_stream_is_a_failure() -> None:
    reader = codec("arrow", {"a": "bigint"})
    good = stream(pa.table({"a": [1]}))
    bad = [b"", b"x", good[:-9], good[9:], stream(pa.table({"a": ["x"]}))]
    found = decode(reader, good, *bad, good)
    assert sorted(found.failures) == [1, 2, 3, 4, 5]
    assert found.rows["a"].to_pylist() == [1, *[None] * 5, 1]
