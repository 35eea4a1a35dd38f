from __future__ import annotations

from pathlib import Path

from tests.sql.kit import answers, opened, rows

SOURCES = """
CREATE STREAM p (k STRING KEY, v INT) WITH (KAFKA_TOPIC='p', VALUE_FORMAT='JSON', PARTITIONS=1);
CREATE STREAM q (k STRING KEY, w INT) WITH (KAFKA_TOPIC='q', VALUE_FORMAT='JSON', PARTITIONS=1);
CREATE TABLE t (k STRING PRIMARY KEY, x INT)
    WITH (KAFKA_TOPIC='t', VALUE_FORMAT='JSON', PARTITIONS=1);
INSERT INTO p (ROWTIME, k, v) VALUES (1000, 'a', 9), (4000, 'a', 6), (2000, 'a', 7), (3000, 'a', 5);
INSERT INTO q (ROWTIME, k, w) VALUES (1500, 'a', 1);
INSERT INTO t (ROWTIME, k, x) VALUES (2000, 'a', 2), (1000, 'a', 1);
"""


def test_joins_in_time_and_patterns_are_answered_of_all_that_is_there(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as session:
        answers(session, SOURCES)
        falls = (
            "SELECT n, low FROM p MATCH_RECOGNIZE (PARTITION BY k MEASURES COUNT(*) AS n,"
            " LAST(v) AS low PATTERN (a b+) DEFINE b AS b.v < PREV(b.v));"
        )
        assert rows(session, falls) == [(3, 5)]
        left = "SELECT v, w FROM p LEFT JOIN q WITHIN 1 SECOND ON p.k = q.k;"
        assert sorted(rows(session, left)) == [(5, None), (6, None), (7, 1), (9, 1)]
        valid = "SELECT v, x FROM p ASOF JOIN t BY EVENT TIME CORRECTED ON p.k = t.k;"
        assert sorted(rows(session, valid)) == [(5, 2), (6, 2), (7, 2), (9, 1)]
        assert sorted(row[-1] for row in rows(session, "SELECT * FROM t.VERSIONS;")) == [1, 2]
