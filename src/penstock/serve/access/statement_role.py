"""Who may run a statement of SQL."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from penstock.front.sql import tree_statement as tree
from penstock.front.sql.tree_query import FileSource
from penstock.serve.access.role import Role

_LOOKING = (
    tree.QueryStatement,
    tree.Show,
    tree.Describe,
    tree.Print,
    tree.Explain,
    tree.UnsetProperty,
    tree.Define,
    tree.Undefine,
)
# Code runs as the server does; scripts and files are any that the server may read.
_OPERATING = (tree.CreateFunction, tree.RunScript, FileSource)


def statement_role(statement: tree.Statement) -> Role:
    """Give the least role that may run a statement."""
    if _operates(statement):
        return Role.ADMIN
    if isinstance(statement, tree.DropNamed) and statement.what == "function":
        return Role.ADMIN
    if isinstance(statement, tree.SetProperty):
        return Role.WRITER if statement.system else Role.READER
    return Role.READER if isinstance(statement, _LOOKING) else Role.WRITER


def _operates(part: object) -> bool:
    """Whether code or a file is anywhere in a statement."""
    if isinstance(part, _OPERATING):
        return True
    if isinstance(part, tuple):
        return any(map(_operates, part))
    if is_dataclass(part):
        return any(_operates(getattr(part, field.name)) for field in fields(part))
    return False
