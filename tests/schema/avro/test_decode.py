from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from penstock.schema.avro import decode
from penstock.schema.avro.binary import long_bytes
from tests.schema.avro.judges.cases import Json
from tests.schema.avro.judges.ours import record, rows_of, table_of, written

MANY = 40
"""More values than are gone over one by one."""

STRINGS = record(a={"type": "array", "items": "string"})


def test_the_sample_user_of_the_books_is_read() -> None:
    user = record(name="string", favorite_number=["int", "null"], favorite_color=["string", "null"])
    found = rows_of(user, [bytes.fromhex("0c416c7973736100800402")])
    assert found == [{"name": "Alyssa", "favorite_number": 256, "favorite_color": None}]


@pytest.mark.parametrize(
    "value",
    [0, 1, -1, 63, -64, 64, 8191, 2**27, 2**41, 2**55, 2**56, -(2**56), 2**63 - 1, -(2**63)],
)
def test_numbers_of_every_length_are_read(value: int) -> None:
    small = [0] * MANY
    assert rows_of("long", [long_bytes(one) for one in [value, *small]])[0] == {"value": value}
    assert rows_of("long", [long_bytes(value)] * 3) == [{"value": value}] * 3


def test_a_number_may_be_longer_than_it_needs() -> None:
    assert rows_of("long", [b"\x82\x80\x00", b"\x82" + b"\x80" * 8 + b"\x00"]) == [
        {"value": 1},
        {"value": 1},
    ]


@pytest.mark.parametrize(
    ("kind", "data", "why"),
    [
        ("long", b"", "end before"),
        ("long", b"\x80", "end before"),
        ("long", b"\xff" * 10, "64 bits"),
        ("long", b"\xff" * 9 + b"\x02", "64 bits"),
        ("long", b"\x00\x00", "bytes after"),
        ("int", long_bytes(2**31), "32 bits"),
        ("int", b"\x82" + b"\x80" * 4 + b"\x00", "32 bits"),
        ("boolean", b"\x02", "neither 0 nor 1"),
        ("double", b"\x00" * 7, "end before"),
        ("string", b"\x08abc", "end before"),
        ("string", b"\x01", "end before"),
        ("string", long_bytes(2**62) + b"x", "end before"),
        ("string", b"\x04\xff\xfe\x00", 'UTF-8, in "f"'),
        (["null", "int"], b"\x04", "none of the 2 branches"),
        (["null", "int"], b"\x01", "none of the 2 branches"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\x02", "none of the 1"),
        ({"type": "fixed", "name": "F", "size": 4}, b"abc", "end before"),
        ({"type": "array", "items": "int"}, b"\x02", "more items"),
        ({"type": "array", "items": "int"}, b"\x04\x80\x80", "end before"),
        ({"type": "array", "items": "int"}, long_bytes(2**40) + b"\x00", "more items"),
        ({"type": "array", "items": "int"}, long_bytes(-(2**63)) + b"\x00\x00", "more items"),
        ({"type": "array", "items": "int"}, b"\x01\x04\x00\x00", "end where it says"),
        ({"type": "array", "items": "null"}, long_bytes(2**40) + b"\x00", "more items"),
        ({"type": "array", "items": "string"}, b"\x04\x02a\x20b\x00", "end before"),
        ({"type": "map", "values": "int"}, b"\x02\x02\xff\x00\x00", "UTF-8"),
        ({"type": "int", "logicalType": "time-millis"}, long_bytes(86_400_000), "within a day"),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 0},
            b"\x02\x64",
            "more than 2 digits",
        ),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 0},
            b"\x22\x01" + b"\x00" * 16,
            "more than 38 digits",
        ),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 0},
            b"\x00",
            "no bytes",
        ),
    ],
)
@pytest.mark.parametrize("others", [0, MANY])
def test_a_value_that_cannot_be_read_is_null_and_told_and_alone(
    kind: Json, data: bytes, why: str, others: int
) -> None:
    schema = record(a="string", f=kind, b="long")
    good = {"a": "ok", "f": written_zero(kind), "b": 7}
    fine = written(schema, good)
    table, failures = table_of(schema, fine * others + [b"\x04no" + data] + fine * others)
    if why == "bytes after":
        table, failures = table_of(kind, [data])
        others = 0
    assert list(failures) == [others]
    assert why in failures[others] or failures[others].startswith("the bytes end")
    assert table.num_rows == 2 * others + 1
    assert table.slice(others, 1).to_pylist() == [dict.fromkeys(table.column_names)]
    assert not others or table.column("b").null_count == 1


def written_zero(kind: Json) -> Json:  # noqa: PLR0911  # one a kind
    if isinstance(kind, list):
        return None
    if isinstance(kind, str):
        zeros: dict[str, Json] = {"string": "", "double": 0.0, "boolean": False}
        return zeros.get(kind, 0)
    match kind["type"]:
        case "enum":
            return "A"
        case "fixed":
            return b"\0" * kind["size"]
        case "array":
            return []
        case "map":
            return {}
        case "bytes":
            return b"\0"
        case _:
            return 0


def test_a_failure_says_in_which_field_it_is() -> None:
    inner = {"type": "record", "name": "Inner", "fields": [{"name": "x", "type": "boolean"}]}
    _, failures = table_of(record(a=inner), [b"\x07"])
    assert failures == {0: 'a boolean is neither 0 nor 1, in "a.x"'}


def test_every_failure_of_a_piece_is_found_at_once() -> None:
    schema = record(a="string", b="boolean")
    data = [b"\x02x\x01", b"\x02x\x02", b"\x04\xff\xff\x01", b"\x02x", b"\x02y\x00", b""]
    table, failures = table_of(schema, data)
    assert sorted(failures) == [1, 2, 3, 5]
    assert [row["a"] for row in table.to_pylist()] == ["x", None, None, None, "y", None]


def test_nothing_is_no_rows() -> None:
    table, failures = table_of(record(a="int", b={"type": "array", "items": "string"}), [])
    assert table.num_rows == 0
    assert table.column_names == ["a", "b"]
    assert failures == {}


def test_rows_are_read_in_pieces_and_failures_keep_their_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decode, "_ROWS", 7)
    data = [long_bytes(at) for at in range(100)]
    data[50] = b"\x80"
    table, failures = table_of("long", data)
    assert list(failures) == [50]
    assert table.column("value").to_pylist() == [at if at != 50 else None for at in range(100)]


def test_a_value_of_many_bytes_is_a_piece_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode, "_BYTES", 100)
    texts = ["x" * size for size in (10, 1000, 0, 30, 90, 5)]
    assert rows_of("string", written("string", *texts)) == [{"value": text} for text in texts]


def test_a_value_too_long_for_an_offset_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode, "_BYTES", 10)
    monkeypatch.setattr(decode, "_MOST_BYTES", 100)
    table, failures = table_of("string", written("string", "a", "x" * 200, "b"))
    assert failures == {1: "a value has more than 100 bytes"}
    assert table.column("value").to_pylist() == ["a", None, "b"]


def test_logical_types_are_read_as_what_they_mean() -> None:
    def means(kind: str, name: str, **more: int) -> Json:
        return {"type": kind, "logicalType": name, **more}

    schema = record(
        day=means("int", "date"),
        at=means("int", "time-millis"),
        precise=means("long", "time-micros"),
        millis=means("long", "timestamp-millis"),
        micros=means("long", "timestamp-micros"),
        nanos=means("long", "local-timestamp-nanos"),
        price=means("bytes", "decimal", precision=6, scale=2),
        id={"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"},
        span={"type": "fixed", "name": "D", "size": 12, "logicalType": "duration"},
    )
    value = {
        "day": -1,
        "at": 1,
        "precise": 1_999,
        "millis": -1,
        "micros": -1,
        "nanos": 1_999_999,
        "price": b"\xff\x00",
        "id": bytes(range(16)),
        "span": b"x" * 12,
    }
    assert rows_of(schema, written(schema, value)) == [
        {
            "day": date(1969, 12, 31),
            "at": time(microsecond=1000),
            "precise": time(microsecond=1000),
            "millis": datetime(1969, 12, 31, 23, 59, 59, 999_000, UTC),
            "micros": datetime(1969, 12, 31, 23, 59, 59, 999_000, UTC),
            "nanos": datetime(1970, 1, 1, 0, 0, 0, 1_000, UTC),
            "price": Decimal("-2.56"),
            "id": "00010203-0405-0607-0809-0a0b0c0d0e0f",
            "span": b"x" * 12,
        }
    ]


def test_a_decimal_may_have_more_bytes_than_it_needs() -> None:
    kind = {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 0}
    values = [b"\x00" * 20 + b"\x05", b"\xff" * 30 + b"\xfb", b"\x7f" + b"\xff" * 7, b"\x80"]
    found = rows_of(kind, written(kind, *values))
    assert [row["value"] for row in found] == [5, -5, 2**63 - 1, -128]


def test_a_time_is_what_its_writer_means_whatever_the_reader_counts() -> None:
    micros = {"type": "long", "logicalType": "timestamp-micros"}
    millis = {"type": "long", "logicalType": "timestamp-millis"}
    found = rows_of(micros, [long_bytes(5_000_000)], millis)
    assert found == [{"value": datetime(1970, 1, 1, 0, 0, 5, 0, UTC)}]
    assert rows_of("long", [long_bytes(5_000)], millis) == found


def test_a_float_that_reads_a_long_loses_what_a_float_cannot_hold() -> None:
    assert rows_of("long", [long_bytes(2**24 + 1)], "float") == [{"value": float(2**24)}]
    assert rows_of("long", [long_bytes(2**24 + 1)], "double") == [{"value": float(2**24 + 1)}]


def test_floats_that_are_no_numbers_are_read_silently() -> None:
    table, failures = table_of("float", [b"\x01\x00\xa0\x7f", b"\x00\x00\xc0\x7f"])
    assert failures == {}
    assert np.isnan(table.column("value").to_numpy()).all()


def test_blocks_with_their_bytes_are_read() -> None:
    # Two items in three bytes, then one, then no more.
    assert rows_of(STRINGS, [b"\x03\x06\x02a\x00\x02\x02b\x00"]) == [{"a": ["a", "", "b"]}]
    _, failures = table_of(STRINGS, [b"\x03\x08\x02a\x00\x02\x02b\x00"])
    assert failures == {0: 'a block does not end where it says, in "a"'}


@pytest.mark.parametrize("rows", [1, MANY])
def test_items_in_several_blocks_stay_in_order(rows: int) -> None:
    blocks = b"\x02\x02a" + b"\x03\x08\x02b\x02c" + b"\x02\x02d" * 4 + b"\x00"
    expected = {"a": ["a", "b", "c", "d", "d", "d", "d"]}
    assert rows_of(STRINGS, [blocks] * rows) == [expected] * rows


@pytest.mark.parametrize("rows", [1, MANY])
@pytest.mark.parametrize("items", ["long", "double", "string", {"type": "map", "values": "int"}])
def test_a_very_long_array_among_short_ones_is_read(items: Json, rows: int) -> None:
    schema = record(a={"type": "array", "items": items}, end="int")
    item: Json = {"long": 300, "double": 0.5, "string": "text"}.get(str(items), {"k": 1})
    values: list[Json] = [{"a": [item] * (count % 4), "end": count} for count in range(rows)]
    values.append({"a": [item] * 5_000, "end": -1})
    found = rows_of(schema, written(schema, *values))
    assert [row["end"] for row in found] == [value["end"] for value in values]
    assert [len(row["a"]) for row in found] == [len(value["a"]) for value in values]
    plain = [("k", 1)] if isinstance(item, dict) else item
    assert all(one == plain for row in found for one in row["a"])


def test_a_row_of_a_million_empty_items_is_refused() -> None:
    empty = {"type": "record", "name": "Empty", "fields": []}
    schema = record(a={"type": "array", "items": empty})
    assert rows_of(schema, [b"\x06\x00"]) == [{"a": [{}, {}, {}]}]
    assert list(table_of(schema, [long_bytes(10**6) + b"\x00"])[1]) == [0]
    # Block after block would do the same.
    assert list(table_of(schema, [long_bytes(15) * 20 + b"\x00"])[1]) == [0]


def linked_list(depth: int) -> bytes:
    return b"\x02\x02" * depth + b"\x02\x00"


@pytest.mark.parametrize("rows", [1, MANY])
def test_what_nobody_asks_for_is_passed_over_however_deep_it_is(rows: int) -> None:
    inner = {
        "type": "record",
        "name": "List",
        "fields": [{"name": "v", "type": "int"}, {"name": "next", "type": ["null", "List"]}],
    }
    writer = record(a=inner, b="int")
    data = [linked_list(2_000) + long_bytes(at) for at in range(rows)]
    assert rows_of(writer, data, record(b="int")) == [{"b": at} for at in range(rows)]
    _, failures = table_of(writer, [linked_list(50)[:-3]] * rows, record(b="int"))
    assert len(failures) == rows


def test_every_type_is_passed_over() -> None:
    kinds = {
        "i": "int",
        "s": "string",
        "d": "double",
        "u": ["null", "string", "long"],
        "e": {"type": "enum", "name": "E", "symbols": ["A", "B"]},
        "f": {"type": "fixed", "name": "F", "size": 3},
        "l": {"type": "array", "items": "string"},
        "w": {"type": "array", "items": "float"},
        "m": {"type": "map", "values": {"type": "array", "items": "long"}},
    }
    writer = record(**kinds, z="int")
    value = {"i": 300, "s": "text", "d": 1.0, "u": None, "e": "B", "f": b"abc", "z": 9}
    value |= {"l": ["a", "bc"], "w": [1.0, 2.0], "m": {"k": [1, 2], "j": []}}
    for rows in (1, MANY):
        data = written(writer, *[value] * rows)
        assert rows_of(writer, data, record(z="int")) == [{"z": 9}] * rows
        broken = [one[:-4] for one in data]
        assert len(table_of(writer, broken, record(z="int"))[1]) == rows


def test_blocks_that_nobody_asks_for_are_passed_over_by_their_bytes() -> None:
    writer = record(a={"type": "array", "items": "string"}, b="int")
    data = b"\x03\x08\x02x\x02y" + b"\x00" + b"\x0e"
    for rows in (1, MANY):
        assert rows_of(writer, [data] * rows, record(b="int")) == [{"b": 7}] * rows


def test_a_union_of_several_is_a_struct_of_its_branches() -> None:
    schema = record(u=["int", "null", "string", {"type": "array", "items": "int"}])
    data = [b"\x00\x06", b"\x02", b"\x04\x02x", b"\x06\x02\x04\x00", b"\x00\x08"]
    none = {"int": None, "string": None, "array": None}
    assert [row["u"] for row in rows_of(schema, data)] == [
        {**none, "int": 3},
        None,
        {**none, "string": "x"},
        {**none, "array": [2]},
        {**none, "int": 4},
    ]


def test_branches_of_a_writer_meet_in_one_column_of_the_reader() -> None:
    data = [b"\x00\x06", b"\x02\x0e", b"\x04\x00\x00\x00\x3f", b"\x00\x08"]
    found = rows_of(["int", "long", "float"], data, ["null", "double"])
    assert [row["value"] for row in found] == [3.0, 7.0, 0.5, 4.0]


def test_texts_and_symbols_with_nulls_between_are_read() -> None:
    enum = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
    schema = record(t=["null", "string"], e=["null", enum], i=["int", "null"])
    data = [b"\x00\x00\x02", b"\x02\x06abc\x02\x02\x00\x02", b"\x02\x00\x02\x00\x00\x03"] * MANY
    rows = [
        {"t": None, "e": None, "i": None},
        {"t": "abc", "e": "B", "i": 1},
        {"t": "", "e": "A", "i": -2},
    ]
    assert rows_of(schema, data) == rows * MANY


def test_defaults_of_every_kind_fill_what_nobody_wrote() -> None:
    added = [
        {"name": "text", "type": "string", "default": "ä"},
        {"name": "raw", "type": "bytes", "default": "\u00ff"},
        {"name": "maybe", "type": ["null", "int"], "default": None},
        {"name": "list", "type": {"type": "array", "items": "int"}, "default": [1, 2]},
        {"name": "map", "type": {"type": "map", "values": "int"}, "default": {"k": 1}},
        {"name": "either", "type": ["int", "string"], "default": "x"},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}, "default": 0},
    ]
    reader = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}, *added]}
    assert rows_of(record(a="int"), [b"\x02", b"\x04"], reader) == [
        {
            "a": a,
            "text": "ä",
            "raw": b"\xff",
            "maybe": None,
            "list": [1, 2],
            "map": [("k", 1)],
            "either": {"int": None, "string": "x"},
            "day": date(1970, 1, 1),
        }
        for a in (1, 2)
    ]


def test_a_symbol_the_reader_lacks_fails_its_row_only() -> None:
    writer = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
    reader = {"type": "enum", "name": "E", "symbols": ["A"]}
    table, failures = table_of(writer, [b"\x00", b"\x02", b"\x00"], reader)
    assert failures == {1: "the reader's enum E lacks a symbol"}
    assert table.column("value").to_pylist() == ["A", None, "A"]


def test_a_schema_that_cannot_be_read_fails_every_row() -> None:
    table, failures = table_of("string", [b"\x02x", b"\x02y"], "int")
    assert failures == dict.fromkeys((0, 1), "found string where the reader has int")
    assert table.column("value").null_count == 2


def test_columns_have_the_types_of_our_vocabulary() -> None:
    schema = record(a=["null", "float"], b={"type": "array", "items": "int"})
    table, _ = table_of(schema, [b"\x00\x00"])
    assert table.schema.field("a").type == pa.float64()
    assert table.schema.field("b").type == pa.list_(pa.int32())
