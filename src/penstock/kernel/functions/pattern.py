r"""Functions that look for patterns in text.

A pattern is a regular expression in the part that Java and polars (Rust) share, with Unicode
meaning: `\w` is a letter of any script, `.` anything but a line feed, `$` the end of the text.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from penstock.errors import PlanError
from penstock.kernel.functions.argument import Arguments, Lowering, constant_int, constant_text
from penstock.model.pattern_text import group_count, like_pattern, replacement_parts
from penstock.schema.types import STRING, Type


def _like(arguments: Arguments, _: Type) -> pl.Expr:
    pattern = like_pattern(constant_text(arguments, 1))
    return arguments[0].as_type(STRING).str.contains(pattern)


def _regexp_like(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].as_type(STRING).str.contains(_pattern("regexp_like", arguments))


def _regexp_replace(arguments: Arguments, _: Type) -> pl.Expr:
    pattern = _pattern("regexp_replace", arguments, solid=True)
    parts = replacement_parts(constant_text(arguments, 2), group_count(pattern))
    new = "".join(
        part.replace("$", "$$") if isinstance(part, str) else f"${{{part}}}" for part in parts
    )
    return arguments[0].as_type(STRING).str.replace_all(pattern, new)


def _regexp_extract(arguments: Arguments, _: Type) -> pl.Expr:
    pattern, group = _pattern_and_group("regexp_extract", arguments)
    text = arguments[0].as_type(STRING)
    return pl.when(text.is_not_null()).then(text.str.extract(pattern, group).fill_null(""))


def _regexp_extract_all(arguments: Arguments, _: Type) -> pl.Expr:
    pattern, group = _pattern_and_group("regexp_extract_all", arguments)
    found = arguments[0].as_type(STRING).str.extract_all(pattern)
    if group == 0:
        return found
    return found.list.eval(pl.element().str.extract(f"^(?:{pattern})$", group).fill_null(""))


def _split(arguments: Arguments, _: Type) -> pl.Expr:
    text = arguments[0].as_type(STRING)
    if constant_text(arguments, 1) == "":
        return pl.when(text == "").then(pl.lit([""])).otherwise(text.str.split(""))
    return text.str.split(_pattern("split", arguments, solid=True), literal=False)


def _pattern_and_group(function: str, arguments: Arguments) -> tuple[str, int]:
    pattern = _pattern(function, arguments)
    group = constant_int(arguments, 2, default=1)
    return pattern, group


def _pattern(function: str, arguments: Arguments, *, solid: bool = False) -> str:
    pattern = constant_text(arguments, 1)
    probe = pl.Series([""])
    fact = ""
    try:
        blank = bool(probe.str.contains(pattern)[0])
    except pl.exceptions.ComputeError as error:
        fact = str(error).splitlines()[-1]
        blank = False
    if fact:
        raise PlanError(
            "REGEX_SYNTAX",
            f'{function} cannot use the pattern "{pattern}": {fact}',
            hint="Write it without references back, looking ahead or behind.",
        )
    if blank and solid:
        raise PlanError(
            "REGEX_EMPTY",
            f'{function} cannot use the pattern "{pattern}", which matches nothing at all too',
            hint="Let the pattern match at least one character: + instead of *.",
        )
    return pattern


PATTERN: Mapping[str, Lowering] = {
    "like": _like,
    "regexp_like": _regexp_like,
    "regexp_replace": _regexp_replace,
    "regexp_extract": _regexp_extract,
    "regexp_extract_all": _regexp_extract_all,
    "split": _split,
}
