from __future__ import annotations

from pathlib import Path

from penstock.sql.checking import check
from tests.sql.kit import ORDERS, opened

RIGHT = f"""{ORDERS}
DEFINE least = '3';
SET 'auto.offset.reset' = 'earliest';
CREATE TYPE price AS STRUCT<amount INT>;
CREATE FUNCTION twice(x INT) RETURNS INT LANGUAGE PYTHON AS $$ x * 2 $$;
CREATE STREAM doubled AS SELECT id, twice(amount) AS n FROM orders WHERE amount > ${{least}};
INSERT INTO doubled SELECT id, 1 AS n FROM orders;
INSERT INTO orders VALUES ('a', 'x', 1);
ASSERT VALUES doubled (id, n) VALUES ('a', 2);
SELECT * FROM doubled WHERE n > 1 ORDER BY n;
UNDEFINE least;
PAUSE ALL; SHOW QUERIES; TERMINATE ALL;
DROP FUNCTION twice;
"""


def test_a_script_is_checked_with_all_that_it_makes(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        assert check(RIGHT, session.definitions()) == []
        assert session.definitions().entries == ()


def test_every_problem_is_told(tmp_path: Path) -> None:
    wrong = """SET 'auto.offset.reset' = 'never';
    CREATE SINK CONNECTOR c WITH ('a'='b');
    DROP CONNECTOR c;
    INSERT INTO orders VALUES ('a', 'x', 'y');
    ASSERT VALUES orders (nothing) VALUES (1);
    """
    with opened(tmp_path) as session:
        problems = check(ORDERS + wrong, session.definitions())
    assert [problem.code for problem in problems] == [
        "SQL_SETTING",
        "SQL_UNSUPPORTED",
        "SQL_UNSUPPORTED",
        "SQL_INSERT",
        "SQL_COLUMN_MISSING",
    ]
