"""Regular expressions in Java's syntax, as far as Python's agrees."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache, partial

import polars as pl

from penstock.kernel.functions.argument import Arguments, Lowering
from penstock.kernel.sql.plain_pattern import constant_text, plain_pattern
from penstock.kernel.sql.rows import by_row, called
from penstock.model.expr import Literal
from penstock.schema.types import Type

_GROUP = re.compile(r"\\(.)|\$(\d)|\$\{(\w+)\}", re.DOTALL)
_CLASSES = {
    r"\p{Alpha}": "a-zA-Z",
    r"\p{Digit}": "0-9",
    r"\p{Alnum}": "a-zA-Z0-9",
    r"\p{Upper}": "A-Z",
    r"\p{Lower}": "a-z",
    r"\p{Punct}": r"!-/:-@\[-`{-~",
    r"\p{Space}": r" \t\n\x0b\f\r",
}


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of Java's; one that Python cannot read is refused as a value."""
    for name, letters in _CLASSES.items():
        inside = re.compile(rf"(\[[^\]]*){re.escape(name)}")
        pattern = inside.sub(partial(_followed, letters), pattern)
        pattern = pattern.replace(name, f"[{letters}]")
    pattern = re.sub(r"\(\?<(?=[a-zA-Z])", "(?P<", pattern).replace(r"\Z", r"(?=\n?$)")
    try:
        return re.compile(pattern, re.ASCII)
    except re.error as error:
        raise ValueError(str(error)) from error


def _followed(letters: str, found: re.Match[str]) -> str:
    return found[1] + letters


def _extract(pattern: str, text: str, group: int = 0) -> str | None:
    found = compiled(pattern).search(text)
    return None if found is None or group > compiled(pattern).groups else found[group]


def _extract_all(pattern: str, text: str, group: int = 0) -> list[str | None] | None:
    if group > compiled(pattern).groups:
        return None
    return [found[group] for found in compiled(pattern).finditer(text)]


def _replace(text: str, pattern: str, new: str) -> str:
    def written(found: re.Match[str]) -> str:
        def part(mark: re.Match[str]) -> str:
            if mark[1] is not None:
                return mark[1]
            return found[int(mark[2]) if mark[2] is not None else mark[3]] or ""

        return _GROUP.sub(part, new)

    return compiled(pattern).sub(written, text)


def _split(text: str, pattern: str) -> list[str]:
    if not pattern:
        return list(text) or [""]
    parts, start = [], 0
    for found in compiled(pattern).finditer(text):
        if found.end() == 0 or (found.start() == found.end() == len(text)):
            continue
        parts.append(text[start : found.start()])
        start = found.end()
    parts.append(text[start:])
    if compiled(pattern).fullmatch(""):
        # A pattern that matches nothing at all leaves no empty parts at the end, as in Java.
        while len(parts) > 1 and not parts[-1]:
            parts.pop()
    return parts


def _extract_column(arguments: Arguments, gives: Type) -> pl.Expr:
    """Extract from a whole column where the pattern is one that polars reads alike."""
    pattern, text, *group = arguments
    said = constant_text(pattern.expr)
    number = group[0].expr if group else Literal(0)
    same = None if said is None else plain_pattern(said)
    if same is None or not isinstance(number, Literal) or not isinstance(number.value, int):
        return called(_extract, [item.value for item in arguments], gives)
    if not 0 <= number.value <= compiled(str(said)).groups:
        return pl.lit(None, pl.String)
    return text.value.str.extract(same, number.value)


def _replace_column(arguments: Arguments, gives: Type) -> pl.Expr:
    """Replace in a whole column where pattern and text are ones that polars reads alike."""
    text, pattern, new = arguments
    said, written = constant_text(pattern.expr), constant_text(new.expr)
    same = None if said is None else plain_pattern(said)
    if same is None or written is None or set(written) & {"$", "\\"}:
        return called(_replace, [item.value for item in arguments], gives)
    return text.value.str.replace_all(same, written)


PATTERNS: Mapping[str, Lowering] = {
    "regexp_extract": _extract_column,
    "regexp_extract_all": by_row(_extract_all),
    "regexp_replace": _replace_column,
    "regexp_split_to_array": by_row(_split),
}
