from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.front.sql.create_function import OF_FUNCTIONS
from penstock.front.sql.functions.registry import SCALARS
from penstock.front.sql.grammar_text import rule_names, rule_text, sections, statement_names
from penstock.front.sql.lex_words import keywords
from penstock.front.sql.parse import parse_statement
from penstock.front.sql.properties import OF_INSERTS, OF_QUERIES, OF_SOURCES
from penstock.sql.function_ways import page, way_of
from penstock.sql.reference import reference
from penstock.sql.reference_words import PROPERTIES, SECTIONS, STATEMENTS, Page
from tests.sql.kit import opened

DOCS = Path(__file__).parents[2] / "docs"


def how(what: str, name: str) -> str:
    """Say how a page is written anew."""
    code = f"from penstock.sql.{what}; print(*lines(), sep=chr(10))"
    return f'.venv/bin/python -c "{code}" > docs/{name}.md'


def pages() -> Iterator[Page]:
    order = ("create_source", "create_as", "create_function", "insert_values")
    yield from (STATEMENTS[name] for name in order)
    yield from (it for name, it in STATEMENTS.items() if name not in order)
    yield from SECTIONS.values()


def test_the_page_of_the_language_is_what_the_grammar_says() -> None:
    found = (DOCS / "sql-reference.md").read_text(encoding="utf-8").splitlines()
    assert found == list(reference()), how("reference import reference as lines", "sql-reference")


def test_the_page_of_functions_is_what_the_functions_say() -> None:
    found = (DOCS / "sql-functions.md").read_text(encoding="utf-8").splitlines()
    assert found == list(page()), how("function_ways import page as lines", "sql-functions")


def test_every_statement_section_and_property_is_told() -> None:
    assert set(STATEMENTS) == {*statement_names(), "query_statement"} - {"query"}
    assert set(SECTIONS) == set(sections()) - {"statements", "words"}
    known = {*OF_SOURCES, *OF_QUERIES, *OF_INSERTS, *OF_FUNCTIONS}
    assert set(PROPERTIES) == {name for name in known if not name.removeprefix("TEST").isdigit()}


def test_rules_are_shown_with_the_small_ones_in_their_places() -> None:
    assert rule_text("drop_source") == "DROP (STREAM | TABLE) [IF EXISTS] name [DELETE TOPIC]"
    assert rule_text("create_type") == "CREATE TYPE [IF NOT EXISTS] name AS type"
    assert "if_exists" not in rule_names("statements")
    text = "\n".join(reference())
    assert [word for word in keywords() if word not in text] == []


def test_every_example_of_the_language_is_run_or_read(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        for it in pages():
            for example in it.examples:
                for answer in session.run(example):
                    next(iter(getattr(answer, "rows", ())), None)
            for example in it.read_only:
                parse_statement(example)


@pytest.mark.parametrize(
    ("name", "way"),
    [("UCASE", "columns"), ("LPAD", "constants"), ("TIMEADD", "columns"), ("MD5", "rows")],
)
def test_functions_are_computed_on_columns_or_row_by_row(name: str, way: str) -> None:
    assert way_of(name) == way


def test_most_functions_are_computed_on_whole_columns() -> None:
    ways = [way_of(name) for name in SCALARS]
    assert ways.count("rows") < len(ways) * 0.4
