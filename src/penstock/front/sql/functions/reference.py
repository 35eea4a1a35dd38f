"""The reference of all functions, as a page of text."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.front.sql.functions.entry import Described
from penstock.front.sql.functions.registry import built_in_names, describe, sample_text

_HEAD = """\
# Functions of SQL

Written by `penstock.front.sql.functions.reference` from the functions themselves; every example
is run as a test. They mean what ksqlDB means by them: null where a value cannot be computed, and
a comparison with null is false. A letter as a type stands for any type, `...` for more arguments
of the last type. `CREATE FUNCTION` adds functions of your own, see [sql.md](sql.md).

Examples of aggregates are of these rows:

"""


def reference() -> Iterator[str]:
    """Give the lines of the page: a table for each category, scalar functions last."""
    yield from _HEAD.splitlines()
    yield f"`{sample_text()}`"
    category = ""
    for item in sorted((describe(name) for name in built_in_names()), key=_order):
        if item.category != category:
            category = item.category
            yield ""
            yield f"## {category.capitalize()}"
            yield ""
            yield "| function | takes | gives | example |"
            yield "|---|---|---|---|"
        yield _line(item)


def _order(item: Described) -> tuple[str, str, str]:
    return item.kind, item.category, item.name


def _line(item: Described) -> str:
    forms = ", ".join(f"`{form.removeprefix(item.name)}`" for form in item.overloads)
    example = f"`{item.example}` = `{item.result}`"
    return f"| `{item.name}` | {forms} | {item.description} | {example} |"
