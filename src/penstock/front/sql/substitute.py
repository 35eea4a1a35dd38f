"""`${variable}` replaced by its value before a statement is read.

`$${variable}` stands for the text `${variable}` itself. Comments, and texts between `$$`, are
left as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Span

_VARIABLE = r"\$?\$\{(?P<name>[A-Za-z_][A-Za-z0-9_@]*)\}"
_PIECE = re.compile(
    rf"""{_VARIABLE}
    |--[^\n]*|/\*.*?\*/
    |\$\$(?!\{{).*?\$\$
    |(?P<quoted>'(?:[^']|'')*')""",
    re.DOTALL | re.VERBOSE,
)
_INSIDE = re.compile(_VARIABLE)


def substituted(source: SourceText, variables: Mapping[str, str]) -> SourceText:
    """Give a statement with the values of its variables; one without a value is refused."""
    if "${" not in source.text:
        return source
    known = {name.upper(): value for name, value in variables.items()}

    def value_of(found: re.Match[str], at: int = 0) -> str:
        if found["name"] is None:
            return found.group()
        if found.group().startswith("$$"):
            return found.group()[1:]
        value = known.get(found["name"].upper())
        if value is None:
            place = Span(at + found.start(), at + found.end())
            raise SqlError(
                "SQL_VARIABLE",
                source.shown(f'variable "{found["name"]}" has no value', place),
                hint=did_you_mean(found["name"].upper(), known)
                or f"Give it one before: DEFINE {found['name']} = '...';",
            )
        return value

    def piece(found: re.Match[str]) -> str:
        if found["quoted"] is None:
            return value_of(found)
        start = found.start()
        return _INSIDE.sub(lambda inner: value_of(inner, start), found["quoted"])

    return replace(source, text=_PIECE.sub(piece, source.text))
