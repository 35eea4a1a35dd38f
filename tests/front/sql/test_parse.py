from __future__ import annotations

import subprocess
import sys

import pytest

from penstock.errors import SqlError
from penstock.front.sql.lex_split import split_script, unfinished
from penstock.front.sql.lex_words import RESERVED, keywords
from penstock.front.sql.parse import DEEPEST, parse_expression, parse_script, parse_statement
from penstock.front.sql.tree import Name
from penstock.front.sql.tree_expression import Logical, StringLiteral
from penstock.front.sql.tree_query import Select, SelectItem
from penstock.front.sql.tree_statement import Define, QueryStatement, RunScript


def test_a_script_is_read_statement_by_statement() -> None:
    script = "\ufeff-- first;\nRUN SCRIPT 'a;b'; /* ; */ ;;\n  RUN SCRIPT 'c' -- no end"
    assert parse_script(script) == (RunScript("a;b"), RunScript("c"))


def test_a_statement_knows_its_text_and_its_place_in_the_script() -> None:
    _, second = parse_script("RUN SCRIPT 'a';\n RUN\nSCRIPT 'b' ;")
    assert second.source.text == "RUN\nSCRIPT 'b'"
    assert second.source.place(0) == (2, 2)


def test_a_script_may_hold_nothing() -> None:
    assert parse_script(" -- nothing\n;") == ()


@pytest.mark.parametrize("text", ["", "RUN SCRIPT 'a'; RUN SCRIPT 'b'"])
def test_one_statement_is_one(text: str) -> None:
    with pytest.raises(SqlError, match="SQL_STATEMENTS"):
        parse_statement(text)


def test_a_script_that_breaks_off_is_unfinished() -> None:
    assert unfinished("SELECT 1")
    assert unfinished("RUN SCRIPT 'a;")
    assert not unfinished("SELECT 1; -- done")
    assert not unfinished("")


def test_signs_in_quotes_and_comments_end_no_statement() -> None:
    script = "a ';' \";\" `;` $$;$$ -- ;\n/* ; */ b"
    assert [piece.text for piece in split_script(script)] == [script]


def test_variables_are_replaced_before_a_statement_is_read() -> None:
    script = "DEFINE path = 'a'; RUN SCRIPT '${PATH}/${other}';"
    assert parse_script(script, {"other": "b"}) == (Define(Name("PATH"), "a"), RunScript("a/b"))


def test_a_variable_may_stand_for_any_part() -> None:
    assert parse_statement("${verb} SCRIPT '$${x}' -- ${y}", {"verb": "RUN"}) == RunScript("${x}")
    made = parse_statement("CREATE FUNCTION f() RETURNS INT LANGUAGE PYTHON AS $$${x}$$")
    assert "'${x}'" in repr(made)


@pytest.mark.parametrize("script", ["SELECT ${x}", "UNDEFINE a; SELECT '${a}'"])
def test_a_variable_without_a_value_is_refused(script: str) -> None:
    with pytest.raises(SqlError, match="SQL_VARIABLE") as caught:
        parse_script(script, {"a": "1"})
    assert "^^^^" in caught.value.fact


def test_a_misspelt_variable_is_corrected() -> None:
    with pytest.raises(SqlError) as caught:
        parse_script("SELECT ${topik}", {"topic": "x"})
    assert caught.value.hint == 'Did you mean "TOPIC"?'


def test_keywords_are_names_where_they_can_be() -> None:
    for word in keywords() - RESERVED:
        made = parse_statement(f"SELECT t.{word} AS {word}, f({word}) FROM x")
        assert isinstance(made, QueryStatement)
        assert isinstance(made.query.body, Select)
        item = made.query.body.items[0]
        assert isinstance(item, SelectItem)
        assert item.alias == Name(word)


def test_reserved_words_are_names_in_quotes_only() -> None:
    for word in RESERVED:
        with pytest.raises(SqlError, match="SQL_SYNTAX"):
            parse_statement(f"CREATE STREAM {word} (a INT)")
        parse_statement(f"CREATE STREAM `{word}` (a INT)")


@pytest.mark.parametrize(
    "text",
    [
        "f(" * 999 + "a" + ")" * 999,
        "a + " * 999 + "a",
        "NOT " * 999 + "a",
        f"CAST(a AS {'ARRAY<' * 999}INT{'>' * 999})",
    ],
)
def test_what_is_nested_too_deep_is_refused(text: str) -> None:
    with pytest.raises(SqlError, match="SQL_DEPTH"):
        parse_expression(text)


def test_what_is_nested_deep_is_read() -> None:
    deep = DEEPEST - 2
    parse_expression("f(" * deep + "a" + ")" * deep)
    assert parse_expression("(" * 999 + "'a'" + ")" * 999) == StringLiteral("a")


def test_a_chain_of_conditions_may_be_long() -> None:
    made = parse_expression(" OR ".join(["a = 1"] * 999))
    assert isinstance(made, Logical)
    assert len(made.operands) == 999


def test_penstock_starts_without_the_parser() -> None:
    program = "import sys, penstock, penstock.front.sql.parse; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
