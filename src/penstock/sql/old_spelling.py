"""Statements of KSQL's first years, said as today's: their keys were named by `KEY`.

Then the key of a record was that of a column of its value, and a stream's key went along
unseen. Today a key is a column of its own. The statements that relied on it mean what they did.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from penstock.errors import SqlError
from penstock.front.sql.statement import Outcome, Session
from penstock.front.sql.tree_expression import NullLiteral
from penstock.front.sql.tree_query import Property, Select
from penstock.front.sql.tree_statement import ColumnDefinition, CreateAs, CreateSource, Statement

_BY_PLACE = ("DELIMITED", "KAFKA")
"""Formats whose values are told apart by their place: a column cannot be taken out of them."""


Said = TypeVar("Said", bound=Statement)


def resolved_as_said(statement: Said, session: Session) -> tuple[Outcome, Said, tuple[str, ...]]:
    """Carry out a statement; give what it was read as, and what is to be said of that."""
    said: Any = statement
    if isinstance(said, CreateSource):
        said = with_key_column(said)
    try:
        return session.execute(said), said, ()
    except SqlError as refusal:
        keyless = without_key(said, refusal) if isinstance(said, CreateAs) else None
        if keyless is None:
            raise
        said = keyless
        try:
            outcome = session.execute(said)
        except SqlError:
            raise refusal from None
    return outcome, said, ("the key is not selected: the records of the result have none",)


def with_key_column(statement: CreateSource) -> CreateSource:
    """Let the column that `KEY` names be the primary key of a table that has no other."""
    named = [item for item in statement.properties if item.name.upper() == "KEY"]
    if statement.kind != "table" or not named or not statement.columns:
        return statement
    told = {item.name.upper(): str(_value(item)).upper() for item in statement.properties}
    format_ = told.get("FORMAT", told.get("VALUE_FORMAT", ""))
    key = str(_value(named[0])).strip("`")
    keyed = any(column.role == "primary key" for column in statement.columns)
    if keyed or format_ in _BY_PLACE:
        return statement
    return replace(
        statement,
        columns=tuple(_marked(column, key) for column in statement.columns),
        properties=tuple(item for item in statement.properties if item not in named),
    )


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


def _marked(column: ColumnDefinition, key: str) -> ColumnDefinition:
    named = column.name.text in {key, key.upper()}
    return replace(column, role="primary key") if named and column.role == "value" else column


def _value(item: Property) -> Any:  # noqa: ANN401  # a literal of any type
    return getattr(item.value, "value", getattr(item.value, "text", ""))
