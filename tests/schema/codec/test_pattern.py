from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from penstock.errors import SchemaError
from tests.schema.codec.kit import codec, decode, read, reason

LINE = '::1 - frank [23/Mar/2014:15:07:00 -0700] "GET /a.gif HTTP/1.1" 200 4128'


def test_an_access_log_has_its_columns() -> None:
    assert read(codec("pattern(name=access_log)"), LINE) == [
        {
            "host": "::1",
            "identity": None,
            "user": "frank",
            "time": datetime(2014, 3, 23, 22, 7, tzinfo=UTC),
            "method": "GET",
            "path": "/a.gif",
            "protocol": "HTTP/1.1",
            "status": 200,
            "size": 4128,
        }
    ]


def test_the_longer_form_of_an_access_log_has_two_more() -> None:
    reader = codec("pattern(name=access_log)", {"status": "int", "referrer": "string"})
    line = f'{LINE} "http://example.com/" "Mozilla/4.08 [en]"\n'
    assert read(reader, line, LINE) == [
        {"status": 200, "referrer": "http://example.com/"},
        {"status": 200, "referrer": None},
    ]


@pytest.mark.parametrize("size", ["8f", "268;", ""])
def test_a_damaged_size_is_a_failure_or_null_and_a_dash_is_neither(size: str) -> None:
    line = LINE.replace("4128", size).rstrip()
    assert reason(codec("pattern(name=access_log)"), line) == (
        f'column "size": "{size}", where a whole number (int64) is expected'
    )
    forgiving = codec("pattern(name=access_log, damaged=null)")
    (row,) = read(forgiving, line)
    assert (row["size"], row["status"], row["path"]) == (None, 200, "/a.gif")
    assert read(codec("pattern(name=access_log)"), LINE.replace("4128", "-"))[0]["size"] is None


def test_a_line_that_does_not_match_is_a_failure_by_any_policy() -> None:
    for policy in ("fail", "null"):
        reader = codec(f"pattern(name=access_log, damaged={policy})")
        assert reason(reader, "hello") == "does not match the pattern"
        assert reason(reader, b"\xff") == "byte 0 is not UTF-8"


def test_groups_are_the_columns_and_text_if_nothing_else_is_said() -> None:
    text = r"pattern(pattern=^(?P<level>[A-Z]+)(?: (?P<number>\d+))?: (?P<rest>.*)$)"
    assert read(codec(text), "WARN 7: x", "INFO: ", None) == [
        {"level": "WARN", "number": "7", "rest": "x"},
        {"level": "INFO", "number": None, "rest": ""},
        {"level": None, "number": None, "rest": None},
    ]
    typed = codec(text, {"number": "bigint", "level": "string"})
    assert read(typed, "WARN 7: x") == [{"number": 7, "level": "WARN"}]


def test_every_type_is_read_from_its_text() -> None:
    names = {
        "i": "int", "l": "bigint", "f": "double", "b": "boolean", "d": "decimal(5, 2)",
        "t": "timestamp", "day": "date", "hour": "time", "raw": "bytes", "s": "string",
    }  # fmt: skip
    groups = " ".join(rf"(?P<{name}>\S+)" for name in names)
    reader = codec(f"pattern(pattern={groups}, null=?)", names)
    good = "1 2 1.5 true 1.25 2020-01-01T00:00:00Z 2020-01-01 10:00:00 aGk= x"
    nothing = " ".join("?" * len(names))
    first, second = read(reader, good, nothing)
    assert [first["i"], first["f"], first["b"], first["raw"]] == [1, 1.5, True, b"hi"]
    assert second == dict.fromkeys(names)
    for n, name in enumerate(list(names)[:-1]):
        damaged = " ".join("0x-G" if at == n else word for at, word in enumerate(good.split()))
        found = decode(reader, *[good] * 40, damaged, good)
        assert list(found.failures) == [40]
        assert found.failures[40].startswith(f'column "{name}": "0x-G", where ')
        assert found.rows.slice(41).to_pylist() == [first]


def test_a_pattern_is_not_for_writing() -> None:
    with pytest.raises(SchemaError, match="FORMAT_READ_ONLY"):
        codec("pattern(name=access_log)").encode(pa.table({}))


def test_a_misspelt_column_is_corrected() -> None:
    with pytest.raises(SchemaError, match="FORMAT_SCHEMA") as caught:
        codec("pattern(name=access_log)", {"stats": "int"})
    assert caught.value.hint == 'Did you mean "status"?'
