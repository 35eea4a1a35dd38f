from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from penstock.errors import RunError, SqlError
from penstock.front.sql.functions.aggregate_entries import AGGREGATES, SAMPLE, SAMPLE_COLUMNS
from penstock.front.sql.functions.registry import describe
from penstock.front.sql.functions.table_entries import TABLES
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.sql.project import steps_to
from penstock.sql.session import SqlSession
from tests.sql.kit import ORDERS, answers, opened, rows, told

TWICE = (
    "CREATE FUNCTION twice(x INT) RETURNS INT LANGUAGE PYTHON"
    " WITH (TEST = 'twice(2) = 4', DESCRIPTION = 'Two times.') AS $$ x * 2 $$;"
)
INVERSE = """
CREATE FUNCTION inverse(x INT) RETURNS DOUBLE LANGUAGE PYTHON AS $$
def inverse(x):
    return 10 / x
$$;
"""
PRODUCT = """
CREATE AGGREGATE FUNCTION product(x INT) RETURNS BIGINT LANGUAGE PYTHON
  WITH (TEST = 'product(ARRAY[2, 3]) = 6') AS $$
class Product:
    def init(self): return 1
    def add(self, held, x): return held * x + 0 // x
    def merge(self, one, other): return one * other
    def result(self, held): return held
$$;
"""
MIDDLE = (
    "CREATE AGGREGATE FUNCTION middle(x INT) RETURNS DOUBLE VECTORISED LANGUAGE PYTHON"
    " WITH (TEST = 'middle(ARRAY[2, 3, 9]) = 3.0E0') AS $$ x.median() $$;"
)
LETTERS = """
CREATE TABLE FUNCTION letters(text STRING) RETURNS STRING LANGUAGE PYTHON
  WITH (TEST = 'letters(''ab'') = ARRAY[''a'', ''b'']') AS $$
def letters(text):
    yield from text
$$;
"""
SIZE = """
CREATE FUNCTION size(text STRING) RETURNS INT VECTORISED LANGUAGE PYTHON
  WITH (COLUMNS = 'arrow') AS $$
import pyarrow.compute as pc

def size(text):
    return pc.utf8_length(text)
$$;
"""
ROWS = (
    "INSERT INTO orders VALUES ('a', 'tea', 2), ('b', 'ox', 0), ('a', 'pie', 5), ('c', NULL, NULL);"
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with functions, rows, and queries that call the functions."""
    home = tmp_path_factory.mktemp("functions")
    with opened(home, here=True) as session:
        told(session, f"{ORDERS}{TWICE}{INVERSE}{PRODUCT}{MIDDLE}{LETTERS}{SIZE}")
        told(session, "CREATE STREAM inverses AS SELECT id, inverse(amount) AS v FROM orders;")
        told(
            session,
            "CREATE STREAM listed AS SELECT id, TRANSFORM(ARRAY[amount], x => inverse(x)) AS v"
            " FROM orders;",
        )
        told(
            session,
            "CREATE TABLE products AS SELECT id, product(amount) AS p, middle(amount) AS m,"
            " SUM(twice(amount)) AS s, COUNT(*) AS n FROM orders GROUP BY id;",
        )
        told(session, ROWS)
        session.catch_up()
    return home


@pytest.fixture
def session(home: Path) -> Iterator[SqlSession]:
    """A later session on that home: nothing is known but what the log holds."""
    with opened(home, here=True) as session:
        yield session


def refusal(session: SqlSession, text: str) -> SqlError:
    with pytest.raises(SqlError) as caught:
        answers(session, text)
    return caught.value


def dead(home: Path, topic: str) -> list[dict[str, str]]:
    with open_log(home) as log:
        chunk = log.read(topic, 0, 0, ReadLimit())
        return pl.DataFrame(pl.from_arrow(chunk.rows)).to_dicts()


def test_functions_of_a_row_are_called_in_any_expression(session: SqlSession) -> None:
    found = rows(
        session, "SELECT id, twice(amount + 1), size(item) FROM orders WHERE twice(3) = 6;"
    )
    assert found == [("a", 6, 3), ("b", 2, 2), ("a", 12, 3), ("c", None, None)]
    text = "SELECT TRANSFORM(ARRAY[amount], x => twice(twice(x))) FROM orders WHERE amount > 2;"
    assert rows(session, text) == [([20],)]


def test_table_functions_give_rows(session: SqlSession) -> None:
    found = rows(session, "SELECT id, letters(item) AS letter FROM orders WHERE id = 'b';")
    assert found == [("b", "o"), ("b", "x")]


def test_aggregates_fold_rows_or_take_whole_columns(session: SqlSession) -> None:
    found = sorted(rows(session, "SELECT * FROM products;"))
    assert found == [("a", 10, 3.5, 14, 2), ("c", 1, None, 0, 1)]


def test_a_row_that_fails_is_a_dead_letter_with_its_line(home: Path, session: SqlSession) -> None:
    found = rows(session, "SELECT * FROM inverses;")
    assert found == [("a", 5.0), ("a", 2.0), ("c", None)]
    (letter,) = dead(home, "INVERSES.dead")
    assert letter["step"] == "INVERSE"
    assert "ZeroDivisionError" in letter["error"]
    assert "return 10 / x" in letter["traceback"]
    (letter,) = dead(home, "PRODUCTS.dead")
    assert letter["step"] == "PRODUCT"
    (letter,) = dead(home, "LISTED.dead")
    assert letter["error"] == "ZeroDivisionError: division by zero"
    assert "return 10 / x" in letter["traceback"]
    assert len(rows(session, "SELECT * FROM listed;")) == len(found)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT inverse(amount) FROM orders;",
        "SELECT id FROM orders WHERE inverse(amount) > 1 ORDER BY inverse(amount);",
        "SELECT id, SUM(inverse(amount)) FROM orders GROUP BY id;",
        "SELECT TRANSFORM(ARRAY[amount], x => inverse(x)) FROM orders;",
    ],
)
def test_a_question_that_meets_such_a_row_is_refused_with_the_line(
    session: SqlSession, text: str
) -> None:
    with pytest.raises(RunError) as caught:
        rows(session, text)
    assert caught.value.code == "FUNCTION_FAILED"
    assert "function INVERSE failed in line 3" in caught.value.fact


def test_functions_are_shown_and_described(session: SqlSession) -> None:
    shown = {row[0]: row for row in rows(session, "SHOW FUNCTIONS;")}
    assert shown["TWICE"][1:] == ("scalar", "USER", "Two times. Python, row by row.")
    assert shown["LPAD"][1] == "scalar"
    facts = dict(rows(session, "DESCRIBE FUNCTION middle;"))
    assert facts["kind"] == "aggregate"
    assert facts["form"] == "MIDDLE(X INTEGER) RETURNS DOUBLE"
    assert facts["description"].endswith("on polars columns.")


@pytest.mark.parametrize(
    ("text", "code", "fact"),
    [
        ("f(x INT) RETURNS INT LANGUAGE PYTHON AS $$ y $$", "SQL_FUNCTION_CODE", "name 'y' is not"),
        ("f(x INT) RETURNS INT LANGUAGE PYTHON AS $$ x + $$", "SQL_FUNCTION_CODE", "SyntaxError"),
        ("f(x INT) RETURNS INT LANGUAGE PYTHON AS $$ 'a' $$", "SQL_FUNCTION_CODE", "not of type"),
        ("f(x INT) RETURNS INT LANGUAGE PYTHON AS $$ a = 1 $$", "SQL_FUNCTION_CODE", "no function"),
        ("f(x INT) RETURNS INT LANGUAGE PYTHON AS 'math:nix'", "SQL_FUNCTION_CODE", "nix"),
        (
            "f() RETURNS INT LANGUAGE PYTHON AS $$ def f(x): return 1 $$",
            "SQL_FUNCTION_CODE",
            "0 va",
        ),
        (
            "f(x INT) RETURNS INT LANGUAGE PYTHON WITH (NULLS = 'call') AS $$ x + 1 $$",
            "SQL_FUNCTION_CODE",
            "of nulls",
        ),
        (
            "f(x INT) RETURNS INT LANGUAGE PYTHON WITH (TEST = 'f(1) = 3') AS $$ x + 1 $$",
            "SQL_FUNCTION_TEST",
            "it gives 2",
        ),
        ("f(x INT) RETURNS INT LANGUAGE JAVA AS $$ x $$", "SQL_FUNCTION_LANGUAGE", "JAVA"),
        ("len(x INT) RETURNS INT LANGUAGE PYTHON AS $$ x $$", "SQL_FUNCTION_EXISTS", "LEN"),
        ("twice(x INT) RETURNS INT LANGUAGE PYTHON AS $$ x $$", "SQL_FUNCTION_EXISTS", "TWICE"),
        ("f(x INT, x INT) RETURNS INT LANGUAGE PYTHON AS $$ x $$", "SQL_COLUMN_TWICE", '"X"'),
        (
            "f(x INT) RETURNS INT LANGUAGE PYTHON WITH (COLUMNS = 'arrow') AS $$ x $$",
            "SQL_PROPERTY",
            "VECTORISED",
        ),
        (
            "f(x INT) RETURNS INT LANGUAGE PYTHON WITH (NULLS = 'no') AS $$ x $$",
            "SQL_PROPERTY",
            "is no",
        ),
    ],
)
def test_a_function_that_cannot_be_is_refused(
    session: SqlSession, text: str, code: str, fact: str
) -> None:
    error = refusal(session, f"CREATE FUNCTION {text};")
    assert (error.code, fact in error.fact) == (code, True)
    assert "^" in error.fact
    assert "F" not in session.definitions().catalog.functions


def test_the_line_of_the_user_is_shown(session: SqlSession) -> None:
    text = (
        "CREATE FUNCTION f(x INT) RETURNS INT\nLANGUAGE PYTHON AS $$\ndef f(x):\n    return y\n$$;"
    )
    fact = refusal(session, text).fact
    assert fact.startswith("line 4, column 5:")
    assert fact.endswith("    return y\n    ^^^^^^^^")


@pytest.mark.parametrize(
    ("body", "fact"),
    [
        ("def init(): return 1", "no function"),
        ("class A:\n  def init(self): return 1", "no function add"),
        (
            "def init(): return 0\ndef add(a): return a\ndef merge(a, b): return a\n"
            "def result(a): return a",
            "add is given 2 values",
        ),
        (
            "def init(): return 0\ndef add(a, x): return a\ndef merge(a, b): return a\n"
            "def result(a): return 'text'",
            "not of type",
        ),
        (
            "def init(): return 0\ndef add(a, x): return a + 'b'\ndef merge(a, b): return a\n"
            "def result(a): return a",
            "TypeError",
        ),
    ],
)
def test_an_aggregate_that_cannot_fold_is_refused(
    session: SqlSession, body: str, fact: str
) -> None:
    text = f"CREATE AGGREGATE FUNCTION f(x INT) RETURNS INT LANGUAGE PYTHON AS $$\n{body}\n$$;"
    error = refusal(session, text)
    assert (error.code, fact in error.fact) == ("SQL_FUNCTION_CODE", True)


def test_a_sample_that_a_function_cannot_take_is_noted(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        text = "CREATE FUNCTION f(x STRING) RETURNS INT LANGUAGE PYTHON AS $$ int(x) $$;"
        (answer,) = answers(session, text)
        assert "ValueError" in answer.notes[0]  # type: ignore[union-attr]


def test_what_is_called_stays_and_is_replaced_by_the_like(session: SqlSession) -> None:
    assert refusal(session, "DROP FUNCTION inverse;").code == "SQL_FUNCTION_USED"
    other = "CREATE OR REPLACE FUNCTION twice(x STRING) RETURNS INT LANGUAGE PYTHON AS $$ 1 $$;"
    assert refusal(session, other).code == "SQL_FUNCTION_USED"
    same = TWICE.replace("CREATE", "CREATE OR REPLACE").replace("x * 2", "x + x")
    assert told(session, same) == "function TWICE created"
    assert refusal(session, "SELECT twice('a') FROM orders;").code == "SQL_FUNCTION_ARGUMENTS"
    assert refusal(session, "DROP FUNCTION nothing;").code == "SQL_FUNCTION_MISSING"
    assert told(session, "DROP FUNCTION IF EXISTS nothing;") == "function NOTHING does not exist"
    again = TWICE.replace("FUNCTION", "FUNCTION IF NOT EXISTS")
    assert told(session, again) == "function TWICE exists already"
    told(
        session,
        "CREATE FUNCTION shout(t STRING) RETURNS STRING LANGUAGE PYTHON AS 'string:capwords';",
    )
    assert rows(session, "SELECT shout(item) FROM orders WHERE amount = 2;") == [("Tea",)]
    assert told(session, "DROP FUNCTION shout;") == "function SHOUT dropped"
    assert refusal(session, "SELECT shout(item) FROM orders;").code == "SQL_FUNCTION_MISSING"


def test_functions_are_part_of_a_project(tmp_path: Path) -> None:
    directory = tmp_path / "project"
    directory.mkdir()
    use = "CREATE STREAM doubled AS SELECT id, twice(amount) AS n FROM orders;"
    (directory / "all.sql").write_text(f"{use}\n{TWICE}\n{ORDERS}")
    with opened(tmp_path / "home") as session:
        steps = steps_to(directory, session.definitions())
        assert {step.does for step in steps} == {"create"}
        list(session.apply(steps))
        assert {step.does for step in steps_to(directory, session.definitions())} == {"keep"}
        changed = f"{use}\n{TWICE.replace('x * 2', '2 * x')}\n{ORDERS}"
        (directory / "all.sql").write_text(changed)
        steps = steps_to(directory, session.definitions())
        assert [step.key for step in steps if step.changes] == ["function:TWICE"]
        list(session.apply(steps))
        assert {step.does for step in steps_to(directory, session.definitions())} == {"keep"}


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlSession]:
    """A session on a home with the rows that examples of aggregates are of."""
    with opened(tmp_path_factory.mktemp("sample")) as session:
        told(
            session,
            f"CREATE STREAM sample ({SAMPLE_COLUMNS})"
            " WITH (KAFKA_TOPIC='sample', VALUE_FORMAT='JSON', PARTITIONS=1);",
        )
        for row in SAMPLE:
            told(session, f"INSERT INTO sample VALUES ({', '.join(map(as_sql, row))});")
        yield session


def as_sql(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, tuple):
        return f"ARRAY[{', '.join(map(as_sql, value))}]"
    return f"'{value}'" if isinstance(value, str) else str(value)


def shown(value: Any) -> str:  # noqa: ANN401
    """A value as the reference writes it."""
    match value:
        case None:
            return "null"
        case list():
            return f"[{', '.join(map(shown, value))}]"
        case {"sort_col": _}:
            return f"Struct{{{','.join(f'{k}={shown(v)}' for k, v in value.items())}}}"
        case dict():
            return f"{{{', '.join(f'{k}={shown(v)}' for k, v in value.items())}}}"
        case _:
            return str(value)


@pytest.mark.parametrize("name", sorted({*AGGREGATES, *TABLES}))
def test_the_example_of_an_aggregate_or_a_table_function_gives_what_is_said(
    sample: SqlSession, name: str
) -> None:
    it = describe(name)
    found = rows(sample, f"SELECT {it.example} AS found FROM sample WHERE total >= 0;")
    if it.kind == "table":
        found = found[: len(found) // len(SAMPLE)]
    assert ", ".join(shown(row[0]) for row in found) == it.result
