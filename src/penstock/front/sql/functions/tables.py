"""Table functions: an array whose items become rows."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.front.sql.functions.overload import choose, resolved
from penstock.front.sql.functions.table_entries import TABLES
from penstock.front.sql.functions.typed import Argument, Typed
from penstock.front.sql.functions.user_functions import user_function


def resolve_table_function(name: str, arguments: Sequence[Argument]) -> Typed:
    """Give the array of the rows that a table function gives."""
    user = user_function(name, "table")
    if user is not None:
        return user.called(arguments)
    entry = TABLES[name.upper()]
    call = choose(name.upper(), entry.overloads, arguments)
    return resolved(entry.function or "as_value", call, {})
