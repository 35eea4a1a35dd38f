from __future__ import annotations

import pytest

from penstock.log.record import Record
from tests.front.sql.script import STREAM, TABLE, Script, refusal


def test_a_projection_computes_columns_and_keeps_the_key() -> None:
    script = Script(f"{STREAM} CREATE STREAM o AS SELECT k, v + 1 AS w, v * 2 FROM s WHERE v > 1;")
    assert script.push("s", "a", {"v": 1}) == []
    assert script.push("s", "a", {"V": 2}, 5) == [(b"a", {"W": 3, "KSQL_COL_0": 4}, 5)]


def test_a_record_without_a_value_passes_a_projection_and_no_condition() -> None:
    plain = Script(f"{STREAM} CREATE STREAM o AS SELECT * FROM s;")
    assert plain.push("s", "a", None) == [(b"a", None, 0)]
    asked = Script(f"{STREAM} CREATE STREAM o AS SELECT * FROM s WHERE v IS NULL;")
    assert asked.push("s", "a", None) == []


def test_a_record_that_cannot_be_read_is_a_dead_letter() -> None:
    script = Script(f"{STREAM} CREATE STREAM o AS SELECT * FROM s;")
    assert script.push("s", "a", {"V": "many"}) == []
    assert len(script.driver.dead_letters("O")) == 1


def test_a_condition_on_a_table_deletes_what_no_longer_meets_it() -> None:
    script = Script(f"{TABLE} CREATE TABLE o AS SELECT * FROM t WHERE v > 1;")
    assert script.push("t", "a", {"V": 1}) == []
    assert script.push("t", "a", {"V": 2}) == [(b"a", {"V": 2}, 0)]
    assert script.push("t", "a", {"V": 1}) == [(b"a", None, 0)]
    assert script.push("t", "a", None) == []


def test_partition_by_makes_another_key() -> None:
    script = Script(
        f"{STREAM} CREATE STREAM o WITH (KEY_FORMAT='JSON') AS SELECT * FROM s PARTITION BY v;"
    )
    assert script.push("s", "a", {"V": 7}) == [(b"7", {"K": "a"}, 0)]
    assert script.push("s", "a", None) == [(None, None, 0)]


def test_a_table_function_gives_a_row_an_item() -> None:
    script = Script(
        "CREATE STREAM s (k STRING KEY, a ARRAY<INT>, b ARRAY<INT>) WITH (KAFKA_TOPIC='s',"
        " VALUE_FORMAT='JSON'); CREATE STREAM o AS SELECT k, EXPLODE(a) x, EXPLODE(b) y FROM s;"
    )
    made = script.push("s", "k", {"A": [1, 2], "B": [3]})
    assert [value for _, value, _ in made] == [{"X": 1, "Y": 3}, {"X": 2, "Y": None}]
    assert script.push("s", "k", {"A": None, "B": []}) == []


def test_a_time_of_the_system_is_compared_with_a_text() -> None:
    script = Script(f"{STREAM} CREATE STREAM o AS SELECT * FROM s WHERE ROWTIME >= '1970-01-02';")
    assert script.push("s", "a", {"V": 1}, 86_399_999) == []
    assert len(script.push("s", "a", {"V": 1}, 86_400_000)) == 1


def test_a_column_tells_the_time_of_what_is_written() -> None:
    script = Script(
        "CREATE STREAM s (k STRING KEY, happened BIGINT) WITH (KAFKA_TOPIC='s',"
        " VALUE_FORMAT='JSON', TIMESTAMP='happened');"
        " CREATE STREAM o AS SELECT k, happened, ROWTIME AS seen FROM s;"
    )
    assert script.push("s", "a", {"HAPPENED": 42}) == [(b"a", {"HAPPENED": 42, "SEEN": 42}, 42)]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT v FROM s", "SQL_KEY"),
        ("SELECT k, k AS l, v FROM s", "SQL_KEY"),
        ("SELECT k FROM s", "SQL_COLUMNS"),
        ("SELECT k, w FROM s", "SQL_COLUMN_MISSING"),
        ("SELECT k, v, v FROM s", "SQL_COLUMN_TWICE"),
        ("SELECT k, v AS rowtime FROM s", "SQL_COLUMN_NAME"),
        ("SELECT k, v FROM s WHERE v", "SQL_CONDITION"),
        ("SELECT k, v->* FROM s", "SQL_STRUCT"),
        ("SELECT k, v FROM s HAVING v > 1", "SQL_GROUP_BY"),
        ("SELECT k, v FROM s WINDOW SESSION (1 SECOND)", "SQL_GROUP_BY"),
        ("SELECT k, v FROM s WHERE EXPLODE(ARRAY[v]) = 1", "SQL_FUNCTION_PLACE"),
        ("SELECT k, v FROM s WHERE ROWTIME > 'soon'", "SQL_LITERAL"),
        ("SELECT k, v FROM s PARTITION BY ()", "SQL_PARTITION_BY"),
        ("SELECT x.*, v FROM s", "SQL_SOURCE_MISSING"),
        ("SELECT k, v FROM s UNION SELECT v, k FROM s", "SQL_UNION"),
    ],
)
def test_a_query_that_cannot_be_is_refused(query: str, code: str) -> None:
    assert refusal(f"{STREAM} CREATE STREAM o AS {query};").code == code


def test_headers_go_along_with_a_record() -> None:
    script = Script(
        "CREATE STREAM s (k STRING KEY, v INT, h BYTES HEADER('h')) WITH (KAFKA_TOPIC='s',"
        " VALUE_FORMAT='JSON'); CREATE STREAM o AS SELECT * FROM s;"
    )
    record = Record("s", 0, 0, 0, b"a", b'{"V": 1}', (("h", b"!"), ("i", None)))
    script.driver.push("s", [record])
    (row,) = script.driver.take("O")
    assert row["value"] == b'{"V":1,"H":"IQ=="}'
    assert row["_headers"] == [{"key": "h", "value": b"!"}, {"key": "i", "value": None}]


def test_a_key_may_be_called_as_a_column_of_the_system() -> None:
    text = f"{STREAM} CREATE STREAM o AS SELECT * FROM s PARTITION BY ROWTIME;"
    script = Script(f"{text} CREATE STREAM p AS SELECT * FROM o;")
    script.driver.push("O", [Record("O", 0, 0, 5, (7).to_bytes(8, "big"), b'{"V": 1}')])
    (row,) = script.driver.take("P")
    assert row["_key"] == (7).to_bytes(8, "big")
