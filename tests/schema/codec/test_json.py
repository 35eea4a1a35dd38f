from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from penstock.errors import SchemaError
from tests.schema.codec.kit import codec, decode, read, reason, written

ALL = {
    "id": "bigint",
    "n": "int",
    "f": "double",
    "b": "boolean",
    "s": "varchar",
    "d": "decimal(10, 2)",
    "t": "timestamp",
    "day": "date",
    "hour": "time",
    "raw": "bytes",
    "list": "array<bigint>",
    "map": "map<varchar, varchar>",
    "part": "struct<x: bigint, y: array<struct<z: timestamp>>>",
}
FULL = (
    '{"id":9007199254740993,"n":-2,"f":1.5,"b":true,"s":"\\u00e9\\n\\ud83d\\ude00","d":1.25,'
    '"t":"2017-05-23T17:58:20.123456Z","day":"2020-02-29","hour":"17:58:20.25","raw":"aGk=",'
    '"list":[1,null],"map":{"k":"v"},"part":{"x":1,"y":[{"z":"1969-12-31T23:59:59.9995Z"}]}}'
)
ROW = {
    "id": 9007199254740993,
    "n": -2,
    "f": 1.5,
    "b": True,
    "s": "é\n😀",
    "d": Decimal("1.25"),
    "t": datetime(2017, 5, 23, 17, 58, 20, 123_000, UTC),
    "day": date(2020, 2, 29),
    "hour": time(17, 58, 20, 250_000),
    "raw": b"hi",
    "list": [1, None],
    "map": [("k", "v")],
    "part": {"x": 1, "y": [{"z": datetime(1969, 12, 31, 23, 59, 59, 999_000, UTC)}]},
}
NOTHING: dict[str, Any] = dict.fromkeys(ALL)


def one(kind: str, text: str, options: str = "") -> object:
    """Read one column, alone and between others."""
    reader = codec(f"json{options}", {"c": kind})
    alone, *among = read(reader, f'{{"c":{text}}}', *['{"c":null}'] * 40, f'{{"c":{text}}}')
    assert among[-1] == alone
    return alone["c"]


def refused(kind: str, text: str, options: str = "") -> str:
    return reason(codec(f"json{options}", {"c": kind}), f'{{"c":{text}}}')


def test_every_type_is_read() -> None:
    assert read(codec("json", ALL), FULL) == [ROW]
    assert read(codec("json", ALL), *[FULL] * 100) == [ROW] * 100


def test_rows_are_written_compact_in_the_order_of_columns_with_nulls() -> None:
    reader = codec("json", {"b": "string", "a": "array<bigint>", "d": "decimal(10, 2)"})
    rows: list[dict[str, Any]] = [
        {"b": 'q"', "a": [1, None], "d": Decimal("-1.5")},
        {"b": None, "a": None, "d": None},
    ]
    assert written(reader, rows) == [
        b'{"b":"q\\"","a":[1,null],"d":-1.50}',
        b'{"b":null,"a":null,"d":null}',
    ]


def test_what_is_written_is_read_again() -> None:
    reader = codec("json", ALL)
    for rows in ([ROW], [ROW, NOTHING] * 30, [NOTHING]):
        assert read(reader, *written(reader, rows)) == rows


def test_a_field_that_is_missing_is_null_and_one_too_many_is_passed_over() -> None:
    reader = codec("json", {"a": "bigint", "b": "string"})
    assert read(reader, '{"b":"x","c":{"a":[1,{"b":2}]}}', "{}", "null") == [
        {"a": None, "b": "x"},
        {"a": None, "b": None},
        {"a": None, "b": None},
    ]


def test_the_last_of_equal_names_wins() -> None:
    assert read(codec("json", {"a": "bigint"}), '{"a":1,"a":2}', '{"a":"x","a":3}') == [
        {"a": 2},
        {"a": 3},
    ]


def test_a_name_in_another_case_is_found_where_its_own_is_not() -> None:
    reader = codec("json", {"userId": "bigint", "part": "struct<Name: string>"})
    found = read(
        reader,
        '{"USERID":1,"part":{"NAME":"a"}}',
        '{"userid":5,"userId":2,"USERID":7,"part":{"name":"x","Name":"b"}}',
        '{"x":{"userId":9},"userid":3,"PART":{"name":"c"}}',
        '{"userId":null,"userid":4}',
        '{"\\u0055serId":5}',
    )
    assert [row["userId"] for row in found] == [1, 2, 3, None, 5]
    assert [row["part"] and row["part"]["Name"] for row in found] == ["a", "b", "c", None, None]


def test_a_writer_who_writes_all_names_in_another_case_is_read() -> None:
    rows = read(codec("json", {"a": "bigint", "b": "string"}), *['{"A":1,"B":"x"}'] * 200)
    assert rows == [{"a": 1, "b": "x"}] * 200


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("bigint", "12.0", 12),
        ("bigint", "1e3", 1000),
        ("bigint", "-0", 0),
        ("bigint", "-9223372036854775808", -(2**63)),
        ("double", "1", 1.0),
        ("double", "123456789012345678901", 123456789012345680000.0),
        ("double", "0.1e-2", 0.001),
        ("decimal(30, 2)", "12345678901234567890.12", Decimal("12345678901234567890.12")),
        ("decimal(30, 2)", '"12.3"', Decimal("12.30")),
        ("decimal(30, 2)", "1e3", Decimal("1000.00")),
        ("decimal(30, 2)", "1.100", Decimal("1.10")),
        ("varchar", "12.50", "12.50"),
        ("varchar", "true", "true"),
        ("varchar", '{"a": [1, null, "é"]}', '{"a":[1,null,"é"]}'),
        ("varchar", '"\\u0000"', "\0"),
        ("bytes", '""', b""),
        ("date", "18000", date(2019, 4, 14)),
        ("time", "1500", time(0, 0, 1, 500_000)),
        ("timestamp", "1413215518000", datetime(2014, 10, 13, 15, 51, 58, tzinfo=UTC)),
        (
            "timestamp",
            '"2014-10-13T17:51:58+02:00"',
            datetime(2014, 10, 13, 15, 51, 58, tzinfo=UTC),
        ),
        ("timestamp", '"2014-10-13 15:51:58"', datetime(2014, 10, 13, 15, 51, 58, tzinfo=UTC)),
        ("timestamp", '"2014-10-13"', datetime(2014, 10, 13, tzinfo=UTC)),
        ("array<map<bigint>>", '[{"a":1},{},null]', [[("a", 1)], [], None]),
        ("map<decimal(5, 2)>", '{"a":1.25,"b":null}', [("a", Decimal("1.25")), ("b", None)]),
        ("map<string>", '{"a":null,"b":1,"c":"d"}', [("a", None), ("b", "1"), ("c", "d")]),
        ("map<string>", '{"a":"1","a":"2"}', [("a", "2")]),
        ("map<string>", '{ "a" : "\\"}" }', [("a", '"}')]),
        ("map<struct<x: bigint>>", '{"a":{"X":1}}', [("a", {"x": 1})]),
    ],
)
def test_a_value_is_read_with_every_digit(kind: str, text: str, value: object) -> None:
    assert one(kind, text) == value


@pytest.mark.parametrize(
    ("kind", "text", "why"),
    [
        ("bigint", '"12"', '"12", where a whole number (int64) is expected'),
        ("int", "1.5", "1.5, where a whole number (int32) is expected"),
        ("int", "2147483648", "2147483648 is outside of the range of int32"),
        ("bigint", "9223372036854775808", "9223372036854775808 is outside of the range of int64"),
        ("bigint", "1e999", "1E+999 is outside of the range of int64"),
        ("bigint", "true", "true, where a whole number (int64) is expected"),
        ("double", "true", "true, where a number is expected"),
        ("double", '"1.5"', '"1.5", where a number is expected'),
        ("double", "NaN", "NaN is no value of JSON"),
        ("double", "1e400", "1E+400 is outside of the range of float64"),
        ("boolean", "1", "1, where true or false is expected"),
        ("decimal(5, 2)", "1.234", "1.234 has more than 2 digits after the point"),
        ("decimal(5, 2)", "1000", "1000 is outside of the range of decimal(5, 2)"),
        ("decimal(5, 2)", '"1_0"', '"1_0", where a number (decimal(5, 2)) is expected'),
        ("bytes", '"a-b"', '"a-b", where text in base64 is expected'),
        ("bytes", "1", "1, where text in base64 is expected"),
        ("date", '"2020-02-30"', '"2020-02-30", where a date is expected'),
        ("time", '"24:00:01"', '"24:00:01", where a time of day is expected'),
        ("time", "86400000", "86400000, where a time of day is expected"),
        ("time", '"10:00:00+01:00"', '"10:00:00+01:00", where a time of day is expected'),
        ("timestamp", '"yesterday"', '"yesterday", where a timestamp is expected'),
        ("timestamp", "1e30", "1E+30 is outside of the range of timestamp"),
        ("array<bigint>", "{}", "an object, where an array is expected"),
        ("map<bigint>", "[]", "an array, where an object is expected"),
        ("struct<x: bigint>", '"x"', '"x", where an object is expected'),
        ("varchar", '"\\ud800"', "half of a surrogate pair is no character"),
    ],
)
def test_a_value_of_another_type_is_a_failure_with_its_column(
    kind: str, text: str, why: str
) -> None:
    assert refused(kind, text) == f'column "c": {why}'


def test_a_failure_inside_is_told_with_the_way_to_it() -> None:
    assert refused("array<struct<x: bigint>>", '[{"x":1},{"x":"y"}]').startswith('column "c.1.x": ')
    assert refused("map<bigint>", '{"a":[]}').startswith('column "c.a": ')


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"a":1,}',
        '{"a":1}{"a":2}',
        '{"a":1} x',
        "{'a':1}",
        "{a:1}",
        '{"a":01}',
        '{"a":"\t"}',
        '{"a":Inf}',
        '\ufeff{"a":1}',
        "[1]",
        "5",
        '"{}"',
        "[" * 100_000,
    ],
)
def test_what_is_no_object_is_a_failure(text: str) -> None:
    assert reason(codec("json(wrapped=true)", {"a": "bigint"}), text)


def test_values_that_only_together_are_json_are_failures_each() -> None:
    reader = codec("json", {"a": "array<struct<b: bigint>>"})
    values = ['{"a":[{"b":1}', '{"b":2}]}', '{"a":null},{"a":null}', '{"a":[]}']
    assert sorted(decode(reader, *values).failures) == [0, 1, 2]


def test_bytes_that_are_not_utf_8_are_a_failure() -> None:
    reader = codec("json", {"a": "string"})
    assert reason(reader, b'{"a":"\xff"}') == "byte 6 is not UTF-8"
    assert reason(reader, b'{"b":"\xff"}') == "byte 6 is not UTF-8"


def test_a_value_may_have_lines_and_space_around_it() -> None:
    pretty = ' {\n  "a": 1,\n  "b": {\n    "c": "x"\n  }\n}\r\n'
    assert read(codec("json", {"a": "bigint"}), pretty, pretty) == [{"a": 1}, {"a": 1}]


def test_one_bad_value_among_many_hurts_no_other() -> None:
    reader = codec("json", {"a": "bigint", "m": "map<string>"})
    values = [f'{{"a":{number},"m":{{"k":"{number}"}}}}' for number in range(5000)]
    values[1234], values[4321] = '{"a":"x"}', '{"a":1,"m":{"k":'
    found = decode(reader, *values)
    assert sorted(found.failures) == [1234, 4321]
    kept = [row["a"] for row in found.rows.to_pylist()]
    assert kept == [None if n in (1234, 4321) else n for n in range(5000)]


@pytest.mark.parametrize(
    ("option", "text", "moment"),
    [
        ("seconds", "1421777578", datetime(2015, 1, 20, 18, 12, 58, tzinfo=UTC)),
        ("seconds", "-0.5", datetime(1969, 12, 31, 23, 59, 59, 500_000, UTC)),
        ("millis", "1421777578000", datetime(2015, 1, 20, 18, 12, 58, tzinfo=UTC)),
        ("millis", '"2015-01-20T18:12:58Z"', datetime(2015, 1, 20, 18, 12, 58, tzinfo=UTC)),
        (
            "twitter",
            '"Tue May 23 17:58:20 +0000 2017"',
            datetime(2017, 5, 23, 17, 58, 20, tzinfo=UTC),
        ),
        ("%d.%m.%Y %H:%M", '"23.05.2017 17:58"', datetime(2017, 5, 23, 17, 58, tzinfo=UTC)),
    ],
)
def test_timestamps_are_read_as_the_option_says(option: str, text: str, moment: datetime) -> None:
    assert one("timestamp", text, f"(timestamp={option})") == moment
    assert one("array<timestamp>", f"[{text}]", f"(timestamp={option})") == [moment]


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("", b'{"c":"2017-05-23T17:58:20.500Z"}'),
        ("(timestamp=millis)", b'{"c":1495562300500}'),
        ("(timestamp=seconds)", b'{"c":1495562300}'),
        ("(timestamp=twitter)", b'{"c":"Tue May 23 17:58:20 +0000 2017"}'),
    ],
)
def test_timestamps_are_written_as_the_option_says(option: str, text: bytes) -> None:
    moment = datetime(2017, 5, 23, 17, 58, 20, 500_000, UTC)
    assert written(codec(f"json{option}", {"c": "timestamp"}), [{"c": moment}]) == [text]


def test_a_text_that_is_not_of_the_pattern_is_a_failure() -> None:
    assert refused("timestamp", '"2017-05-23"', "(timestamp=twitter)")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("double", float("nan")),
        ("double", float("-inf")),
        ("array<double>", [1.0, float("inf")]),
        ("struct<x: double>", {"x": float("nan")}),
    ],
)
def test_a_number_that_json_has_not_is_not_written(kind: str, value: object) -> None:
    reader = codec("json", {"a": "bigint", "c": kind})
    with pytest.raises(SchemaError, match="VALUE_ENCODE") as caught:
        written(reader, [{"a": 1, "c": None}, {"a": 2, "c": value}])
    assert caught.value.fact.startswith('row 1, column "c": ')


def test_a_text_that_looks_like_a_mark_of_ours_is_written_as_it_is() -> None:
    reader = codec("json", {"s": "string", "m": "map<string>", "d": "decimal(3, 1)"})
    rows = [{"s": "\x010d1.0", "m": [("\x011d", "\x010d9")], "d": Decimal("1.5")}]
    assert read(reader, *written(reader, rows)) == rows


def test_rows_of_a_part_of_a_table_are_written() -> None:
    reader = codec("json", ALL)
    table = decode(reader, "{}", FULL, FULL).rows
    assert read(reader, *reader.encode(table.slice(1, 1)).to_pylist()) == [ROW]
    twice = pa.concat_tables([table.slice(1, 1), table.slice(2)])
    assert read(reader, *reader.encode(twice).to_pylist()) == [ROW, ROW]
    assert reader.encode(table.slice(0, 0)).to_pylist() == []


LENIENT = "json(lenient=true)"


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("{a: 1, b: two words}", (1, "two words")),
        ("{a: 1,, b: null,}", (1, None)),
        ('{"a": 1, ..., "b": "x", ...}', (1, "x")),
        ("{a: 1\n b: 2}", (1, "2")),
        ("{a: 007, b: 007}", None),
        ("{b: 1e5}", (None, "1e5")),
        ("{b: true}", (None, "true")),
        ("{b: {c: [1, x, ...]}}", (None, '{"c":["1","x"]}')),
        ("{b: [1, 2}", None),
        ("{b ... }", None),
        ("{a: 1} rest", None),
        ('{"b": "open}', None),
        ("{b: 'a', a: 3}", (3, "'a'")),
        ('{"a":4,"b":"strict"}', (4, "strict")),
        ("[" * 5000, None),
    ],
)
def test_what_is_nearly_json_is_read_where_asked_for(
    text: str, row: tuple[int | None, str | None] | None
) -> None:
    reader = codec(LENIENT, {"a": "bigint", "b": "string"})
    if row is None:
        assert reason(reader, text)
    else:
        assert read(reader, text) == [{"a": row[0], "b": row[1]}]


def test_columns_whose_names_differ_in_case_only_are_told_apart() -> None:
    reader = codec("json", {"a": "bigint", "A": "string"})
    values = ['{"a":1,"A":"x"}', '{"A":null}', '{"A":"y"}', '{"a":2}']
    assert read(reader, *values[:2]) == [{"a": 1, "A": "x"}, {"a": None, "A": None}]
    assert sorted(decode(reader, *values[1:]).failures) == [1]
