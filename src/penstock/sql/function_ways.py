"""How each function of SQL is computed: on whole columns, or by Python row by row."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Literal as OneOf
from typing import TypeAlias

import polars as pl

from penstock.front.sql.expression import Resolver
from penstock.front.sql.functions.reference import reference
from penstock.front.sql.functions.registry import SCALARS
from penstock.front.sql.parse import parse_expression
from penstock.front.sql.scope import Scope
from penstock.front.sql.source_text import SourceText
from penstock.kernel.expression import lower
from penstock.kernel.sql.rows import noted_rows
from penstock.model.expr import Cast, Column, Expr, Lambda, Literal, Resolved
from penstock.model.signature import expr_type
from penstock.schema.schema import Field, Schema

Way: TypeAlias = OneOf["columns", "constants", "rows"]
_WORDS: dict[Way, str] = {
    "columns": "On whole columns",
    "constants": "On whole columns where all arguments but one are constants, else row by row",
    "rows": "By Python, once for each different row of arguments",
}
_NOTHING = Schema(())


def page() -> Iterator[str]:
    """Give the lines of the page of functions, with how they are computed."""
    yield from reference()
    yield from ("", "## How they are computed", "")
    yield "Where the rows are, with polars: on Spark's workers, in a session, and in tests."
    yield "This is what the examples show; a function may have another way for another type."
    ways = {name: way_of(name) for name in sorted(SCALARS)}
    for way, words in _WORDS.items():
        names = [f"`{name}`" for name, found in ways.items() if found == way]
        yield from ("", f"**{words}** ({len(names)}):", "")
        yield from _wrapped(", ".join(names) + ".")


def way_of(name: str) -> Way:
    """Say how a function is computed: its example with columns for its arguments."""
    entry = SCALARS[name]
    text = entry.example
    typed = Resolver(Scope((), SourceText(text))).typed(parse_expression(text))
    call = next(_calls(typed.expr, entry.function or name.lower()), None)
    if call is None:
        return "columns"
    if not _by_rows(call, range(len(call.arguments))):
        return "columns"
    alone = [_by_rows(call, [place]) for place in range(len(call.arguments))]
    return "rows" if all(alone) else "constants"


def _calls(expr: Expr, function: str) -> Iterator[Resolved]:
    """Give the calls of a function in an expression."""
    match expr:
        case Resolved(found, arguments):
            if found == function:
                yield expr
            for argument in arguments:
                yield from _calls(argument, function)
        case Cast(operand) | Lambda(body=operand):
            yield from _calls(operand, function)
        case _:
            return


def _by_rows(call: Resolved, varying: Collection[int]) -> bool:
    """Whether Python is called for rows, if these arguments are columns and others constants."""
    fields: list[Field] = []
    arguments: list[Expr] = []
    for place, argument in enumerate(call.arguments):
        # A unit, the name of a field and a lambda stay as they are.
        constant = isinstance(argument, Literal) and place not in varying
        if constant or isinstance(argument, Lambda) or _is_word(call, argument):
            arguments.append(argument)
            continue
        fields.append(Field(f"C{place}", expr_type(argument, _NOTHING)))
        arguments.append(Column(f"C{place}"))
    with noted_rows() as noted:
        made = lower(replace(call, arguments=tuple(arguments)), Schema(tuple(fields)))
        assert isinstance(made, pl.Expr)
    return bool(noted)


def _is_word(call: Resolved, argument: Expr) -> bool:
    shifts = call.function.endswith(("add", "sub"))
    return shifts and isinstance(argument, Literal) and isinstance(argument.value, str)


def _wrapped(text: str) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > 96:  # noqa: PLR2004
            yield line
            line = word
        else:
            line = f"{line} {word}".strip()
    yield line
