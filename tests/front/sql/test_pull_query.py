from __future__ import annotations

import pytest

from penstock.front.sql.pull.tree import (
    PullDistinct,
    Pulled,
    PullGroup,
    PullJoin,
    PullOver,
    PullScan,
    PullSort,
    PullUnion,
    steps_of,
)
from tests.front.sql.script import STREAM, TABLE, outcomes, refusal


def steps(query: str) -> list[type]:
    (*_, found) = outcomes(f"{STREAM}{TABLE} {query};")
    assert isinstance(found, Pulled)
    return [type(step) for step in steps_of(found.step)]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("SELECT k, COUNT(*) AS n FROM s GROUP BY k", PullGroup),
        ("SELECT DISTINCT v FROM t", PullDistinct),
        ("SELECT k FROM s UNION ALL SELECT k FROM t", PullUnion),
        ("SELECT s.k FROM s JOIN t ON s.v > t.v", PullJoin),
        ("SELECT k FROM s ORDER BY v LIMIT 3", PullSort),
        ("SELECT RANK() OVER (ORDER BY v) AS r FROM s", PullOver),
    ],
)
def test_any_question_can_be_asked_about_what_is_there(query: str, wanted: type) -> None:
    found = steps(query)
    assert wanted in found
    assert PullScan in found


def test_columns_are_called_as_they_are_selected() -> None:
    (*_, found) = outcomes(f"{STREAM} SELECT k AS x, COUNT(*) AS n, 1 + 1 FROM s GROUP BY k;")
    assert isinstance(found, Pulled)
    assert found.schema == "`X` STRING, `N` BIGINT, `KSQL_COL_0` INTEGER"
    assert [source.name for source in found.reads] == ["S"]


def test_a_table_can_be_had_from_where_it_is_kept_and_a_stream_not() -> None:
    (*_, found) = outcomes(f"{STREAM}{TABLE} SELECT s.k FROM s JOIN t ON s.k = t.k;")
    assert isinstance(found, Pulled)
    assert [scan.kept is not None for scan in found.scans] == [False, True]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT k, v, COUNT(*) FROM s GROUP BY k", "SQL_GROUP_BY"),
        ("SELECT k FROM s HAVING k = 'a'", "SQL_GROUP_BY"),
        ("SELECT k FROM s PARTITION BY k", "SQL_PULL"),
        ("SELECT s.k FROM s JOIN s ON s.k = s.k", "SQL_JOIN"),
        ("SELECT k FROM s JOIN t ON s.k = t.k", "SQL_COLUMN_AMBIGUOUS"),
        ("SELECT s.k FROM s JOIN t ON s.k = t.z", "SQL_COLUMN_MISSING"),
        ("SELECT k FROM s WHERE RANK() OVER (ORDER BY v) = 1", "SQL_OVER"),
        ("SELECT RANK() OVER (PARTITION BY k) AS r FROM s", "SQL_OVER"),
        ("SELECT SUM(v) OVER (ROWS 1 PRECEDING) AS r FROM s", "SQL_OVER"),
        ("SELECT SUM(v) OVER (ORDER BY k RANGE 1 PRECEDING) AS r FROM s", "SQL_OVER"),
        ("SELECT SUM(v) OVER (ORDER BY v ROWS 1 MINUTE PRECEDING) AS r FROM s", "SQL_OVER"),
        (
            "SELECT SUM(v) OVER (ORDER BY v ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING) AS r FROM s",
            "SQL_OVER",
        ),
        ("SELECT UCASE(k) OVER (ORDER BY v) AS r FROM s", "SQL_UNSUPPORTED"),
        ("SELECT RANK(v) OVER (ORDER BY v) AS r FROM s", "SQL_FUNCTION_ARGUMENTS"),
        ("SELECT LAG(v, v) OVER (ORDER BY v) AS r FROM s", "SQL_ARGUMENT_CONSTANT"),
        ("SELECT k FROM (SELECT k FROM s EMIT CHANGES) x", "SQL_UNSUPPORTED"),
        ("SELECT k FROM s LIMIT 1 BY k", "SQL_ORDER"),
        ("SELECT * FROM 'events.jsonl'", "SQL_UNSUPPORTED"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(query: str, code: str) -> None:
    assert refusal(f"{STREAM}{TABLE} {query};").code == code


SCAN = "SET 'ksql.query.pull.table.scan.enabled' = 'false';"


@pytest.mark.parametrize(
    ("where", "refused"),
    [
        ("", True),
        ("WHERE k = 'a'", False),
        ("WHERE k IN ('a', 'b') AND v > 1", False),
        ("WHERE k = 'a' OR v = 1", True),
        ("WHERE k = 'a' OR k = 'b'", False),
        ("WHERE k > 'a'", False),
        ("WHERE v > 1", True),
        ("WHERE k = CAST(v AS STRING)", True),
        ("WHERE NOT (k = 'a')", True),
    ],
)
def test_where_tables_are_not_read_whole_a_key_must_be_named(where: str, *, refused: bool) -> None:
    text = f"{TABLE}{SCAN} SELECT * FROM t {where};"
    if refused:
        assert refusal(text).code == "SQL_PULL"
    else:
        outcomes(text)
