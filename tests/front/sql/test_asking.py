from __future__ import annotations

from penstock.front.sql.asking import ANSWER, Asked
from tests.front.sql.script import STREAM, TABLE, Script


def test_a_pull_query_gives_what_a_table_has() -> None:
    script = Script(f"{TABLE} SELECT * FROM t WHERE v > 1;")
    for key, value in (("a", {"V": 2}), ("b", {"V": 2}), ("a", None), ("c", {"V": 1})):
        script.push("t", key, value)
    assert isinstance(script.query, Asked)
    assert script.query.pull
    assert script.query.schema == "`K` STRING KEY, `V` INTEGER"
    assert [(row["K"], row["V"]) for row in script.driver.table(ANSWER)] == [("b", 2)]


def test_a_push_query_goes_on_up_to_its_limit() -> None:
    script = Script(f"{STREAM} SELECT ROWTIME, v + 1 AS w FROM s EMIT CHANGES LIMIT 2;")
    assert isinstance(script.query, Asked)
    assert not script.query.pull
    assert script.query.limit == 2
    (row,) = script.push("s", "a", {"V": 1}, 9)
    assert (row["ROWTIME"], row["W"]) == (9, 2)
    assert script.push("s", "a", None) == []


def test_a_push_query_may_aggregate_without_a_key() -> None:
    script = Script(f"{STREAM} SELECT COUNT(*) AS n FROM s EMIT CHANGES;")
    script.push("s", "a", {"V": 1})
    (row,) = script.push("s", "b", {"V": 1})
    assert row["N"] == 2


def test_the_bounds_of_windows_are_columns_of_an_answer() -> None:
    script = Script(
        f"{STREAM} CREATE TABLE o AS SELECT k, COUNT(*) AS n FROM s"
        " WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY k; SELECT * FROM o;"
    )
    assert isinstance(script.query, Asked)
    assert script.query.schema == (
        "`K` STRING KEY, `WINDOWSTART` BIGINT KEY, `WINDOWEND` BIGINT KEY, `N` BIGINT"
    )
