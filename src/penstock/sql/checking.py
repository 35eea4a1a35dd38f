"""A script read and resolved without being run: what is wrong with it, and where."""

from __future__ import annotations

from penstock.errors import PenstockError
from penstock.front.sql import tree_statement as tree
from penstock.sql.connector import no_connector
from penstock.sql.definitions import Definitions, copied
from penstock.sql.old_spelling import resolved_as_said
from penstock.sql.script import pieces_of, read_piece
from penstock.sql.setting import check_setting

_RESOLVED = (
    tree.CreateSource,
    tree.CreateAs,
    tree.AlterSource,
    tree.DropSource,
    tree.CreateType,
    tree.CreateFunction,
    tree.DropNamed,
    tree.InsertSelect,
    tree.InsertValues,
    tree.UnsetProperty,
    tree.AssertSource,
)


def check(text: str, definitions: Definitions) -> list[PenstockError]:
    """Give every problem of a script's statements, on top of a catalog that stays as it is."""
    scratch = copied(definitions)
    variables: dict[str, str] = {}
    problems: list[PenstockError] = []
    for piece in pieces_of(text):
        try:
            statement = read_piece(piece, variables)
            _check(statement, scratch, variables)
        except PenstockError as error:
            problems.append(error)
    return problems


def _check(statement: tree.Statement, scratch: Definitions, variables: dict[str, str]) -> None:
    match statement:
        case tree.Define():
            variables[statement.name.text.upper()] = statement.value
        case tree.Undefine():
            variables.pop(statement.name.text.upper(), None)
        case tree.CreateConnector() | tree.DropNamed(what="connector"):
            raise no_connector(statement)
        case tree.SetProperty():
            check_setting(statement)
            scratch.session.execute(statement)
        case tree.QueryStatement() | tree.AssertValues():
            scratch.session.execute(statement)
        case _ if isinstance(statement, _RESOLVED):
            resolved_as_said(statement, scratch.session)
        case _:
            # What it says of the log or of queries is known only when it is run.
            pass
