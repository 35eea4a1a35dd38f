"""Connectors of Kafka Connect: there are none here, and other ways in and out."""

from __future__ import annotations

from penstock.errors import SqlError
from penstock.front.sql.tree_statement import CreateConnector, Describe, DropNamed, Show

_IN = "Write records with `penstock produce TOPIC < FILE`, or with a program of your own."
_OUT = "Take records with `penstock consume TOPIC`, or let a program in Python write to a database."


def no_connector(statement: CreateConnector | Describe | DropNamed | Show) -> SqlError:
    """Give the refusal of a statement about connectors, and what to do instead."""
    fact = "connectors run in Kafka Connect, which is no part of this"
    hint = f"{_IN} {_OUT}"
    if isinstance(statement, CreateConnector):
        hint = _IN if statement.kind == "source" else _OUT
    return SqlError("SQL_UNSUPPORTED", statement.source.shown(fact, statement.span), hint=hint)
