"""Statements as they are meant: what they leave unsaid, and those of KSQL's first years.

Then a stream's key went along unseen. Today a key is a column of its own, and the statements that
relied on it mean what they did. Where the columns are those of a registered schema, they are
written down with the statement.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from penstock.errors import SqlError
from penstock.front.sql.parse import parse_statement
from penstock.front.sql.statement import Outcome, Session
from penstock.front.sql.tree_expression import NullLiteral
from penstock.front.sql.tree_query import Select
from penstock.front.sql.tree_statement import CreateAs, CreateSource, Statement
from penstock.sql.source_statement import source_statement

Said = TypeVar("Said", bound=Statement)
_KEYLESS = "the key is not selected: the records of the result have none"


def resolved_as_said(statement: Said, session: Session) -> tuple[Outcome, Said, tuple[str, ...]]:
    """Carry out a statement; give what it was read as, and what is to be said of that."""
    said: Any = statement
    before = session.catalog.get(said.name.text) if isinstance(said, CreateSource) else None
    try:
        outcome = session.execute(said)
    except SqlError as refusal:
        keyless = without_key(said, refusal) if isinstance(said, CreateAs) else None
        if keyless is None:
            raise
        try:
            outcome = session.execute(keyless)
        except SqlError:
            raise refusal from None
        given: Any = keyless
        return outcome, given, (_KEYLESS,)
    if isinstance(said, CreateSource) and session.catalog.get(said.name.text) is not before:
        said = with_told_columns(said, session)
    return outcome, said, ()


def with_told_columns(statement: CreateSource, session: Session) -> CreateSource:
    """Let a statement say the columns that a registered schema told, which may change later."""
    made = session.catalog.get(statement.name.text)
    said = {column.name.text for column in statement.columns or ()}
    if made is None or said >= {column.name for column in made.columns}:
        return statement
    whole = parse_statement(source_statement(made))
    assert isinstance(whole, CreateSource)
    return replace(statement, columns=whole.columns, properties=whole.properties)


def without_key(statement: CreateAs, refusal: SqlError) -> CreateAs | None:
    """Give a stream's statement whose query leaves out the key so that its rows have none.

    None where it was refused for another reason.
    """
    body = statement.query.body
    if refusal.code != "SQL_KEY" or statement.kind != "stream" or not isinstance(body, Select):
        return None
    if body.partition_by is not None or body.group_by is not None:
        return None
    keyless = replace(body, partition_by=(NullLiteral(span=body.span),))
    return replace(statement, query=replace(statement.query, body=keyless))
