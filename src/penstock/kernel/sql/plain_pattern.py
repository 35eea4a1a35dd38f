"""Regular expressions that polars reads as Java does: whole columns need no Python then."""

from __future__ import annotations

import re

from penstock.model.expr import Expr, Literal

_LETTERS = {"d": "0-9", "w": "0-9A-Za-z_", "s": r" \t\n\x0b\f\r"}
_TOKEN = re.compile(
    r"\\(?P<escaped>.)|(?P<class>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<other>.)", re.DOTALL
)
_STRANGE = re.compile(
    r"""\(\?        # groups that do not capture, look around, flags
    | [*+?}][+]    # quantifiers that give nothing back
    | \)[*+{]      # groups that are captured several times
    | [$]          # the end, before a last line break or behind it
    | \{(?!\d+(,\d*)?\})
    """,
    re.VERBOSE,
)
_SETS = ("&&", "--", "~~", "[:")


def constant_text(expr: Expr) -> str | None:
    """Give the text that an expression always is."""
    return expr.value if isinstance(expr, Literal) and isinstance(expr.value, str) else None


def plain_pattern(pattern: str) -> str | None:
    """Give a pattern as polars reads it to the same effect; none where it might differ."""
    made: list[str] = []
    bare: list[str] = []
    for token in _TOKEN.finditer(pattern):
        part = _translated(token)
        if part is None:
            return None
        made.append(part)
        # What stands in brackets or is escaped has no meaning of its own.
        bare.append(token["other"] or "x")
    if _STRANGE.search("".join(bare)):
        return None
    try:
        re.compile(pattern, re.ASCII)
    except re.error:
        return None
    return "".join(made)


def _translated(token: re.Match[str]) -> str | None:
    if token["escaped"] is not None:
        return _escaped(token["escaped"], inside=False)
    if token["class"] is not None:
        return _bracketed(token["class"])
    return token["other"]


def _escaped(letter: str, *, inside: bool) -> str | None:
    if letter in _LETTERS:
        return _LETTERS[letter] if inside else f"[{_LETTERS[letter]}]"
    if letter in "nrt":
        return f"\\{letter}"
    return None if letter.isalnum() or not letter.isascii() else re.escape(letter)


def _bracketed(text: str) -> str | None:
    inner = text[1:-1]
    if any(mark in inner for mark in _SETS) or "[" in inner or inner.startswith(("]", "^]")):
        return None
    parts = [
        _escaped(token["escaped"], inside=True) if token["escaped"] is not None else token[0]
        for token in re.finditer(r"\\(?P<escaped>.)|.", inner, re.DOTALL)
    ]
    return None if None in parts else f"[{''.join(part for part in parts if part)}]"
