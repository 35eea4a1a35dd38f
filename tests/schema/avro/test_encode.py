from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from decimal import Decimal

import pyarrow as pa
import pytest

from penstock.errors import SchemaError
from penstock.schema.arrow import to_arrow
from penstock.schema.avro import encode
from penstock.schema.avro.columns import columns_of
from tests.schema.avro.judges.cases import Json
from tests.schema.avro.judges.ours import encoded, parsed, record, written

ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
UUID = {"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"}


def table(schema: Json, *rows: dict[str, Json]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=to_arrow(columns_of(parsed(schema))))


def column(kind: Json, *values: Json) -> list[bytes]:
    return encoded(record(a=kind), table(record(a=kind), *({"a": value} for value in values)))


def refused(schema: Json, rows: pa.Table) -> str:
    with pytest.raises(SchemaError, match="VALUE_ENCODE") as caught:
        encoded(schema, rows)
    return caught.value.fact


def test_the_sample_user_of_the_books_is_written() -> None:
    user = record(name="string", favorite_number=["int", "null"], favorite_color=["string", "null"])
    row = {"name": "Alyssa", "favorite_number": 256, "favorite_color": None}
    assert encoded(user, table(user, row)) == [bytes.fromhex("0c416c7973736100800402")]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("boolean", [True, False]),
        ("int", [0, -1, 63, 64, 2**31 - 1, -(2**31)]),
        ("long", [0, 1, 2**13, 2**55, -(2**55) - 1, 2**62, 2**63 - 1, -(2**63)]),
        ("float", [0.5, float("inf"), -0.0]),
        ("double", [0.1, float("-inf"), 1e300]),
        ("bytes", [b"", b"\xff\x00", b"x" * 200]),
        ("string", ["", "ä", "x" * 9000]),
        (["null", "string"], ["a", None, ""]),
        (["long", "null"], [None, 5, -(2**60)]),
        (ENUM, ["B", "A"]),
        (["null", ENUM], ["B", None, "A"]),
        ({"type": "fixed", "name": "F", "size": 3}, [b"abc", b"\x00\xff\x00"]),
        ({"type": "array", "items": "string"}, [[], ["a", "bc"], ["x" * 100]]),
        ({"type": "array", "items": {"type": "array", "items": "int"}}, [[[1], []], [], [[2, 3]]]),
        (["null", {"type": "array", "items": "long"}], [None, [1, 2**40], []]),
    ],
)
def test_columns_are_written_as_single_values_are(kind: Json, values: list[Json]) -> None:
    schema = record(a=kind)
    assert column(kind, *values) == written(schema, *({"a": value} for value in values))


def test_maps_and_records_are_written_inside_of_one_another() -> None:
    inner = {"type": "record", "name": "I", "fields": [{"name": "x", "type": ["null", "int"]}]}
    kind = {"type": "map", "values": ["null", inner]}
    value: Json = {"k": {"x": 5}, "l": None, "m": {"x": None}}
    assert column(kind, list(value.items()), []) == written(record(a=kind), {"a": value}, {"a": {}})


def test_a_union_of_several_is_written_by_its_one_branch() -> None:
    kind = ["null", "int", "string"]
    found = column(kind, {"int": 5}, None, {"string": "x"}, {"string": ""})
    assert found == [b"\x02\x0a", b"\x00", b"\x04\x02x", b"\x04\x00"]


def test_a_union_of_one_is_written_with_its_place() -> None:
    assert column(["int"], 1) == [b"\x00\x02"]
    assert column(["null"], None) == [b"\x00"]


def test_logical_types_are_written_as_what_they_stand_on() -> None:
    def means(kind: str, name: str, **more: int) -> Json:
        return {"type": kind, "logicalType": name, **more}

    moment = datetime(1969, 12, 31, 23, 59, 59, 999_000, UTC)
    assert column(means("int", "date"), date(1969, 12, 31)) == [b"\x01"]
    assert column(means("int", "time-millis"), time(microsecond=2000)) == [b"\x04"]
    assert column(means("long", "time-micros"), time(microsecond=2000)) == [b"\xa0\x1f"]
    assert column(means("long", "timestamp-millis"), moment) == [b"\x01"]
    assert column(means("long", "timestamp-micros"), moment) == [b"\xcf\x0f"]
    assert column(means("string", "uuid"), "x") == [b"\x02x"]
    assert column(UUID, "00010203-0405-0607-0809-0A0B0C0D0E0F") == [bytes(range(16))]


@pytest.mark.parametrize("value", [0, 1, -1, 127, 128, -128, -129, 2**63, -(2**63) - 1, 10**38 - 1])
@pytest.mark.parametrize("size", [None, 17, 30])
def test_decimals_are_written_with_the_highest_byte_first(value: int, size: int | None) -> None:
    meaning = {"logicalType": "decimal", "precision": 38, "scale": 2}
    kind: Json = {"type": "bytes", **meaning}
    if size is not None:
        kind = {"type": "fixed", "name": "F", "size": size, **meaning}
    length = size or (value + (value < 0)).bit_length() // 8 + 1
    data = value.to_bytes(length, "big", signed=True)
    found = column(kind, Decimal(f"{value}E-2"), Decimal(0))
    assert found == written(record(a=kind), {"a": data}, {"a": b"\0" * (size or 1)})


@pytest.mark.parametrize(
    ("kind", "values", "why"),
    [
        ("int", [1, None], 'row 1 of column "a" is null, and its type has no null'),
        (["int", "string"], [{"int": 1}, None], "is null"),
        ({"type": "array", "items": "int"}, [[1], [2, None]], 'row 1 of column "a" is null'),
        (ENUM, ["A", "C"], 'row 1 of column "a" is no symbol of E'),
        ({"type": "fixed", "name": "F", "size": 2}, [b"ab", b"a"], "has not the 2 bytes of F"),
        ("float", [1.0, 1e39], "is too large for a float"),
        (["int", "string"], [{"int": 1}, {"int": 1, "string": "x"}], "exactly one branch"),
        (["int", "string"], [{}], "exactly one branch"),
        (["null"], ["x"], "is not null"),
        ("null", ["x"], "is not null"),
        (UUID, ["00010203-0405-0607-0809-0A0B0C0D0E0F", "x"], "row 1 .* is no UUID"),
        (UUID, ["00010203-0405-0607-0809-0A0B0C0D0E0g"], "is no UUID"),
        (UUID, ["00010203x0405-0607-0809-0A0B0C0D0E0F"], "is no UUID"),
        (
            {
                "type": "fixed",
                "name": "F",
                "size": 4,
                "logicalType": "decimal",
                "precision": 9,
                "scale": 0,
            },
            [Decimal(1)],
            "",
        ),
        (
            {"type": "long", "logicalType": "timestamp-nanos"},
            [datetime(9999, 1, 1, tzinfo=UTC)],
            "is a time that a long cannot count",
        ),
    ],
)
def test_a_value_that_cannot_be_written_is_named_with_row_and_column(
    kind: Json, values: list[Json], why: str
) -> None:
    if not why:
        assert column(kind, *values) == [b"\0\0\0\1"]
        return
    schema = record(a=kind)
    with pytest.raises(SchemaError, match="VALUE_ENCODE") as caught:
        encoded(schema, table(schema, *({"a": value} for value in values)))
    assert re.search(why, caught.value.fact)


def test_the_row_that_is_named_is_counted_from_the_first_piece(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(encode, "_ROWS", 7)
    rows = table(record(a="int"), *({"a": None if at == 33 else at} for at in range(40)))
    assert 'row 33 of column "a"' in refused(record(a="int"), rows)


def test_rows_are_written_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = record(a="int", b="string")
    rows = [{"a": at, "b": "x" * (at % 5)} for at in range(100)]
    monkeypatch.setattr(encode, "_ROWS", 7)
    assert encoded(schema, table(schema, *rows)) == written(schema, *rows)
    monkeypatch.setattr(encode, "_BYTES", 1)
    assert encoded(schema, table(schema, *rows)) == written(schema, *rows)


def test_slices_and_chunks_are_written_as_they_are() -> None:
    schema = record(
        a=["null", "string"],
        b={"type": "map", "values": "long"},
        c={"type": "array", "items": ["null", "int"]},
        d={"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 0},
    )
    rows: list[Json] = [
        {"a": None if at % 3 else f"t{at}", "b": {"k": at}, "c": [at, None], "d": at}
        for at in range(20)
    ]
    whole = table(
        schema, *({**row, "b": list(row["b"].items()), "d": Decimal(row["d"])} for row in rows)
    )
    data = written(schema, *({**row, "d": bytes([row["d"]])} for row in rows))
    assert encoded(schema, whole.slice(3, 10)) == data[3:13]
    assert encoded(schema, pa.concat_tables([whole.slice(5), whole.slice(0, 5)])) == (
        data[5:] + data[:5]
    )


def test_a_field_that_no_column_has_is_written_as_its_default_or_null() -> None:
    schema = {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "a", "type": "int"},
            {"name": "b", "type": "string", "default": "x"},
            {"name": "c", "type": ["null", "int"]},
        ],
    }
    found = encoded(schema, pa.table({"a": pa.array([1, 2], pa.int32())}))
    assert found == [b"\x02\x02x\x00", b"\x04\x02x\x00"]
    without = pa.table({"b": ["y"]})
    assert refused(schema, without) == 'row 0 of column "a" is missing, and has no default'


def test_a_column_that_no_field_has_is_refused() -> None:
    rows = pa.table({"a": pa.array([1], pa.int32()), "z": [1]})
    assert 'column "z" is no field' in refused(record(a="int"), rows)


def test_columns_are_cast_to_the_types_of_the_schema_or_refused() -> None:
    assert encoded(record(a="long"), pa.table({"a": pa.array([1], pa.int8())})) == [b"\x02"]
    assert encoded(record(a="string"), pa.table({"a": pa.array(["x"], pa.large_string())})) == [
        b"\x02x"
    ]
    fact = refused(record(a="int"), pa.table({"a": pa.array([2**40])}))
    assert fact.startswith('column "a" cannot be written as int32')


def test_a_value_that_is_no_record_is_the_only_column() -> None:
    assert encoded("string", pa.table({"value": ["x", "y"]})) == [b"\x02x", b"\x02y"]


def test_no_rows_are_no_values() -> None:
    assert encoded(record(a="int"), table(record(a="int"))) == []


def test_a_record_without_fields_has_values_without_bytes() -> None:
    assert encoded(record(), pa.table({"a": [1, 2]}).select([])) == [b"", b""]
