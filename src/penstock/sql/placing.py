"""Errors told with their place: one that names none is shown with the statement it is of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.errors import SqlError
from penstock.front.sql.tree_statement import Statement

_PLACE = re.compile(r"line \d+, column \d+: ")


@contextmanager
def placed_in(statement: Statement) -> Iterator[None]:
    """Give what is refused in the with block a place, where it has none of its own."""
    try:
        yield
    except SqlError as error:
        if _PLACE.search(error.fact) or "\n" in error.fact:
            raise
        shown = statement.source.shown(error.fact, statement.span)
        raise type(error)(error.code, shown, hint=error.hint) from error
