from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import SchemaError
from penstock.schema.annotation import schema_of
from penstock.schema.codec.delimited_row import Dialect, line_reader
from penstock.schema.codec.json_row import UnfitError
from penstock.schema.codec.times import Times
from tests.schema.codec.kit import codec, decode, read, reason, written

VIEWS = {"viewtime": "bigint", "userid": "varchar", "pageid": "varchar"}
ALL = {
    "n": "int",
    "f": "double",
    "b": "boolean",
    "s": "varchar",
    "d": "decimal(10, 2)",
    "t": "timestamp",
    "day": "date",
    "hour": "time",
    "raw": "bytes",
}
FULL = "1,1.5,true,x,1.25,2020-01-01T00:00:00Z,2020-01-02,10:20:30,aGk="
ROW = {
    "n": 1,
    "f": 1.5,
    "b": True,
    "s": "x",
    "d": Decimal("1.25"),
    "t": datetime(2020, 1, 1, tzinfo=UTC),
    "day": date(2020, 1, 2),
    "hour": time(10, 20, 30),
    "raw": b"hi",
}


def test_a_row_of_ksql_s_is_three_typed_columns() -> None:
    (row,) = read(codec("delimited", VIEWS), "1413215518000,User_1,Page_3")
    assert row == {"viewtime": 1413215518000, "userid": "User_1", "pageid": "Page_3"}


def test_every_type_is_read_and_written() -> None:
    reader = codec("delimited", ALL)
    assert read(reader, FULL) == [ROW]
    rows = [ROW, dict.fromkeys(ALL)] * 30
    assert read(reader, *written(reader, rows)) == rows
    assert written(reader, [dict.fromkeys(ALL)]) == [b",,,,,,,,"]


def test_moments_may_be_numbers() -> None:
    reader = codec("delimited", {"t": "timestamp", "day": "date", "hour": "time"})
    (row,) = read(reader, "1577836800000,5,1500")
    assert row["t"] == datetime(2020, 1, 1, tzinfo=UTC)
    assert (row["day"], row["hour"]) == (date(1970, 1, 6), time(0, 0, 1, 500_000))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("x,User_1,Page_3", 'column "viewtime": "x", where a whole number (int64) is expected'),
        ("1.5,a,b", 'column "viewtime": 1.5, where a whole number (int64) is expected'),
        ("0x1F,a,b", 'column "viewtime": "0x1F", where a whole number (int64) is expected'),
        ('"",a,b', 'column "viewtime": "", where a whole number (int64) is expected'),
        ("9223372036854775808,a,b", 'column "viewtime": 9223372036854775808 is outside'),
        ("1,2", "2 columns, where 3 are expected"),
        ("1,2,3,4", "4 columns, where 3 are expected"),
        ("", "1 column, where 3 are expected"),
        ('1,"a"b,c', "text after the closing quote at character 4"),
        ('1,"a,b', "a quoted text that does not end"),
        (b"1,a,\xff", "byte 4 is not UTF-8"),
    ],
)
def test_a_line_that_does_not_fit_is_a_failure_with_its_column(line: str | bytes, why: str) -> None:
    reader = codec("delimited", VIEWS)
    assert reason(reader, line).startswith(why)
    among = decode(reader, *["1,a,b"] * 50, line, *["2,c,d"] * 50)
    assert list(among.failures) == [50]
    assert among.rows["viewtime"].to_pylist() == [1] * 50 + [None] + [2] * 50


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        ("1,,", (None, None)),
        ('1,"",""', ("", "")),
        ('1,"a,b","x""y"', ("a,b", 'x"y')),
        ('1,a"b, c ', ('a"b', " c ")),
        ('1,"a\nb","c\r"', ("a\nb", "c\r")),
        ("1,a,b\n", ("a", "b")),
        ("1,a,b\r\n", ("a", "b")),
        ('"1",a,b', ("a", "b")),
        (" 1 ,a,b", ("a", "b")),
    ],
)
def test_texts_are_read_with_their_quotes(line: str, texts: tuple[str | None, str | None]) -> None:
    row = {"viewtime": 1, "userid": texts[0], "pageid": texts[1]}
    assert read(codec("delimited", VIEWS), line) == [row]
    assert read(codec("delimited", VIEWS), "2,x,y", line)[1] == row


@pytest.mark.parametrize(
    ("text", "line", "value"),
    [
        ("delimited(delimiter=|)", "1|a", "a"),
        ("delimited(delimiter=tab)", "1\ta", "a"),
        ("delimited(delimiter=TAB)", "1\ta", "a"),
        ("delimited(delimiter=space)", "1 a", "a"),
        ("delimited(quote=')", "1,'a,b'", "a,b"),
        ("delimited(quote=none)", '1,"a"', '"a"'),
        ("delimited(null=NA)", "1,NA", None),
        ("delimited(null=NA)", "1,", ""),
        ('delimited(null=NA, quote=")', '1,"NA"', "NA"),
    ],
)
def test_the_signs_are_those_that_are_told(text: str, line: str, value: str | None) -> None:
    reader = codec(text, {"n": "int", "s": "string"})
    assert read(reader, line) == [{"n": 1, "s": value}]
    assert written(reader, [{"n": 1, "s": value}]) == [line.encode()]


def test_a_text_that_needs_quotes_is_refused_where_there_are_none() -> None:
    reader = codec("delimited(quote=none)", {"n": "int", "s": "string"})
    with pytest.raises(SchemaError, match="VALUE_ENCODE") as caught:
        written(reader, [{"n": 1, "s": "a"}, {"n": 2, "s": "a,b"}])
    assert caught.value.fact.startswith('row 1, column "s": ')


@pytest.mark.parametrize("word", ["NaN", "inf", "-Infinity"])
def test_floats_that_are_no_numbers_have_words(word: str) -> None:
    (row,) = read(codec("delimited", {"f": "double"}), word)
    assert repr(row["f"]) == repr(float(word))


def test_a_number_too_large_is_a_failure() -> None:
    assert "1E+400 is outside of the range" in reason(codec("delimited", {"f": "double"}), "1e400")


TEXTS = st.text("ab,|\"' \n\r\té😀", max_size=6)


def whole_millis(moment: Any) -> Any:  # noqa: ANN401  # a time, with a date or without
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


FLOATS = st.floats(allow_nan=False)
STORED = st.fixed_dictionaries(
    {
        "n": st.none() | st.integers(-(2**31), 2**31 - 1),
        "f": st.none() | FLOATS,
        "b": st.none() | st.booleans(),
        "s": st.none() | TEXTS,
        "d": st.none() | st.decimals(-(10**7), 10**7, places=2, allow_nan=False),
        "t": st.none() | st.datetimes(timezones=st.just(UTC)).map(whole_millis),
        "day": st.none() | st.dates(),
        "hour": st.none() | st.times().map(whole_millis),
        "raw": st.none() | st.binary(max_size=5),
    }
)


@pytest.mark.parametrize(
    "text", ["delimited", "delimited(delimiter=|, quote=')", "delimited(null=NA)", "json"]
)
@given(rows=st.lists(STORED, max_size=20))
def test_rows_come_back(text: str, rows: list[dict[str, Any]]) -> None:
    if text == "json":
        rows = [
            {**row, "f": None if abs(row["f"] or 0) == float("inf") else row["f"]} for row in rows
        ]
    reader = codec(text, ALL)
    assert read(reader, *written(reader, rows)) == rows


FIELDS = st.sampled_from(
    ["", "1", " 2", "+3", "007", "1.5", "1e3", "1e400", "0x1F", "x", '""', '"a"', '"a', 'a"b',
     '"a"b', '"a""b"', "true", "TRUE", "tRue", "NaN", "nan",
     "-inf", "é", "2020-01-01", "12:00:00", "12:00",
     "999.99", "1000", "aGk=", "\n", "\r", "a\nb", '"a\nb"', "99999999999", "1_0", "\0"]
)  # fmt: skip
KINDS = st.sampled_from([*ALL.values(), "bigint", "decimal(5, 2)"])


@given(
    st.lists(KINDS, min_size=1, max_size=3),
    st.lists(st.lists(FIELDS, min_size=1, max_size=3), min_size=1, max_size=10),
)
def test_lines_together_are_read_as_each_alone(kinds: list[str], lines: list[list[str]]) -> None:
    columns = {f"c{n}": kind for n, kind in enumerate(kinds)}
    reader = codec("delimited", columns)
    single = line_reader(schema_of(columns), Dialect(), Times())
    texts = [",".join(fields) for fields in lines] * 4
    wanted: list[dict[str, Any] | None] = []
    for text in texts:
        try:
            wanted.append(single.row(text))
        except UnfitError:
            wanted.append(None)
    found = decode(reader, *texts)
    assert sorted(found.failures) == [n for n, row in enumerate(wanted) if row is None]
    rows = pa.Table.from_pylist([row or {} for row in wanted], found.rows.schema)
    # As text, in which two values that are no numbers are the same.
    assert str(found.rows.to_pylist()) == str(rows.to_pylist())


def test_a_quoted_text_that_does_not_end_is_a_failure_wherever_it_stands() -> None:
    lines = codec("delimited", {"a": "bigint", "b": "string"})
    for values in (['1,"x', "2,y"], ["2,y", '1,"x'], ['1,"x']):
        found = decode(lines, *values)
        assert list(found.failures) == [values.index('1,"x')]
