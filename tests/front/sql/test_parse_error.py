from __future__ import annotations

import pytest

from penstock.errors import SqlError
from penstock.front.sql.parse import parse_script


def refusal(script: str) -> SqlError:
    with pytest.raises(SqlError, match="SQL_SYNTAX") as caught:
        parse_script(script)
    return caught.value


def test_the_place_is_named_and_underlined() -> None:
    found = refusal("RUN SCRIPT 'a';\nSELECT a\n  FROM t WHERE (x = 1\n  GROUP BY y;")
    place, line, mark = found.fact.split("\n")
    assert place.startswith("line 4, column 3: ")
    assert place.endswith('found "GROUP"')
    assert (line, mark) == ("  GROUP BY y", "  ^^^^^")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("SELCT a FROM t", 'Did you mean "SELECT"?'),
        ("SELECT * FORM t", 'Did you mean "FROM"?'),
        ("SELECT a FORM t", 'Did you mean "FROM" instead of "FORM"?'),
        ("SELECT a FROM t WHRE x = 1", 'Did you mean "WHERE" instead of "WHRE"?'),
        ("SELECT a FROM t EMIT CHNGES", 'Did you mean "CHANGES"?'),
        ("CREATE STREM s (a INT)", 'Did you mean "STREAM"?'),
        ("SHOW STREMS", 'Did you mean "STREAMS"?'),
        (
            "CREATE STREAM select (a INT)",
            "SELECT is a reserved word; as a name it is written `select`.",
        ),
    ],
)
def test_what_was_meant_is_guessed(text: str, hint: str) -> None:
    assert refusal(text).hint == hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT a FROM t GROUP x", 'expected BY, found "x"'),
        ("SELECT", 'expected an expression, "*" or DISTINCT, found the end of the statement'),
        ("NONE OF THIS", 'expected a statement, found "NONE"'),
        ("SELECT a FROM t WINDOW TUMBLING (SIZE 5)", "expected a unit of time, OF or ROWS"),
        ("SELECT f(a FROM t", 'expected a comparison, an operator, ")", ",", AND or OR'),
        ("CREATE TYPE a AS NULL", "expected a name, ARRAY, MAP or STRUCT"),
        ("SELECT a FROM t LIMIT many", "expected a number"),
        ("RUN SCRIPT x", "expected a text in quotes"),
    ],
)
def test_what_was_expected_is_said_in_words(text: str, expected: str) -> None:
    assert expected in refusal(text).fact


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("SELECT 'abc", "a text has no end", "'"),
        ("SELECT `abc", "a quoted name has no end", "`"),
        ('SELECT "abc', "a quoted name has no end", '"'),
        ("SELECT a /* b", "a comment has no end", "*/"),
        ("SELECT größe", "the character 'ö' means nothing here", "backquotes"),
    ],
)
def test_what_cannot_be_read_at_all_is_told(text: str, said: str, hint: str) -> None:
    found = refusal(text)
    assert said in found.fact
    assert hint in found.hint


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM t GROUP BY a, (b, c)",
        "SELECT a FROM t PARTITION BY a AND b",
        "CREATE STREAM s (a STRING (KEY))",
        "CREATE STREAM s (a NULL)",
        "ASSERT VALUES s (a INT) VALUES (1)",
        "SELECT a FROM t LIMIT -1",
        "SELECT a, FROM t",
        "INSERT INTO s",
        "CREATE STREAM s AS",
        "DROP s",
        "SELECT a FROM t JOIN u",
    ],
)
def test_what_ksql_refuses_is_refused(text: str) -> None:
    assert "^" in refusal(text).fact
