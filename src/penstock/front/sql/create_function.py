"""CREATE FUNCTION: what is said of a function, read and checked; nothing of it is run here."""

from __future__ import annotations

from penstock.errors import SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.functions.registry import built_in_names
from penstock.front.sql.functions.user_functions import UserFunction
from penstock.front.sql.properties import Properties, properties_of
from penstock.front.sql.tree import Name
from penstock.front.sql.tree_statement import CreateFunction
from penstock.front.sql.types import sql_type
from penstock.model.user_code import Batch, UserCode

_TESTS = ("TEST", *(f"TEST{number}" for number in range(2, 10)))
OF_FUNCTIONS = (*_TESTS, "NULLS", "COLUMNS", "DESCRIPTION")


def created_function(statement: CreateFunction, catalog: Catalog) -> UserFunction:
    """Give the function that a statement makes."""
    text = statement.source
    if statement.language.text.upper() != "PYTHON":
        raise SqlError(
            "SQL_FUNCTION_LANGUAGE",
            text.shown(f"language {statement.language.text}", statement.language.span),
            hint="Write LANGUAGE PYTHON.",
        )
    name = statement.name.text.upper()
    if name in built_in_names():
        raise SqlError(
            "SQL_FUNCTION_EXISTS",
            text.shown(f"function {name} is there already, and stays", statement.name.span),
            hint="Give it another name.",
        )
    _once(statement)
    said = properties_of(statement.properties, OF_FUNCTIONS, text)
    types = [sql_type(item.type, catalog.types, text) for item in statement.parameters]
    code = UserCode(
        name,
        statement.body,
        tuple(_python_name(item.name) for item in statement.parameters),
        _batch(statement, said),
        _nulls(said),
        collected=statement.kind == "aggregate" and statement.vectorised,
    )
    tests = [said.get(test) for test in _TESTS]
    return UserFunction(
        name,
        statement.kind,
        tuple(zip((item.name.text for item in statement.parameters), types, strict=True)),
        sql_type(statement.returns, catalog.types, text),
        code,
        said.get("DESCRIPTION") or "",
        tuple(test for test in tests if test),
    )


def _once(statement: CreateFunction) -> None:
    seen: set[str] = set()
    for item in statement.parameters:
        if item.name.text in seen:
            raise SqlError(
                "SQL_COLUMN_TWICE",
                statement.source.shown(
                    f'the function has two parameters "{item.name.text}"', item.name.span
                ),
                hint="Give each another name.",
            )
        seen.add(item.name.text)


def _python_name(name: Name) -> str:
    """Give the name that a parameter has in Python: SQL's names are in small letters there."""
    return name.text.lower() if name.text.isupper() else name.text


def _batch(statement: CreateFunction, said: Properties) -> Batch:
    value = said.get("COLUMNS")
    if not statement.vectorised:
        if value is not None:
            raise said.refused("COLUMNS", "is given without VECTORISED", "Write VECTORISED.")
        return ""
    match (value or "polars").lower():
        case "polars":
            return "polars"
        case "arrow":
            return "arrow"
        case other:
            raise said.refused("COLUMNS", f"is {other}", "Give 'polars' or 'arrow'.")


def _nulls(said: Properties) -> bool:
    value = (said.get("NULLS") or "skip").lower()
    if value not in ("skip", "call"):
        raise said.refused("NULLS", f"is {value}", "Give 'skip' or 'call'.")
    return value == "call"
