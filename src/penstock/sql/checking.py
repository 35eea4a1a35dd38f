"""A script read and resolved without being run: what is wrong with it, and where."""

from __future__ import annotations

from penstock.errors import PenstockError
from penstock.front.sql import tree_statement as tree
from penstock.sql.definitions import Definitions, replayed
from penstock.sql.old_spelling import resolved_as_said
from penstock.sql.order import without_order
from penstock.sql.script import pieces_of, read_piece

_RESOLVED = (
    tree.CreateSource,
    tree.CreateAs,
    tree.AlterSource,
    tree.DropSource,
    tree.CreateType,
    tree.InsertSelect,
    tree.InsertValues,
    tree.SetProperty,
    tree.UnsetProperty,
    tree.AssertSource,
)


def check(text: str, definitions: Definitions) -> list[PenstockError]:
    """Give every problem of a script's statements, on top of a catalog that stays as it is."""
    scratch = replayed(definitions.entries)
    variables: dict[str, str] = {}
    problems: list[PenstockError] = []
    for piece in pieces_of(text):
        try:
            statement = read_piece(piece, variables)
            if isinstance(statement, tree.Define):
                variables[statement.name.text.upper()] = statement.value
            elif isinstance(statement, tree.QueryStatement):
                scratch.session.execute(without_order(statement)[0])
            elif isinstance(statement, _RESOLVED):
                resolved_as_said(statement, scratch.session)
        except PenstockError as error:
            problems.append(error)
    return problems
