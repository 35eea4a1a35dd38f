"""How patterns are written: what both ways of running them must agree on."""

from __future__ import annotations

import re

from penstock.errors import ModelError

_SPECIAL = re.compile(r"[\\.^$|?*+()\[\]{}&~#\-]")
_ESCAPED = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]")
_FOREIGN = re.compile(r"\(\?(?:[=!>]|<[=!])|[*+?}]\+")
_BACK = re.compile(r"(?<!\\)(?:\\\\)*\\(?:[1-9]|k<)")
_TOKEN = re.compile(
    r"\\Q.*?(?:\\E|$)|\\.|\[(?:\\.|\[:\w+:\]|[^\]\\])+\]|\((?!\?)|\(\?P?<(?![=!])|[\s\S]"
)


def like_pattern(text: str) -> str:
    r"""Give the regular expression of a LIKE pattern: % any text, _ one character, \ quotes."""
    parts: list[str] = []
    marks = iter(text)
    for mark in marks:
        if mark == "\\":
            quoted = next(marks, "")
            if quoted not in ("%", "_", "\\"):
                raise ModelError(
                    "LIKE_PATTERN",
                    f'the pattern "{text}" quotes "{quoted}"',
                    hint=r"A backslash goes before %, _ or another backslash only.",
                )
            parts.append(_quoted(quoted))
        else:
            parts.append({"%": ".*", "_": "."}.get(mark) or _quoted(mark))
    return rf"(?s)^{''.join(parts)}$"


def group_count(pattern: str) -> int:
    """Count the groups of a regular expression."""
    return sum(part in ("(", "(?<", "(?P<") for part in _TOKEN.findall(pattern))


def refuse_foreign_syntax(pattern: str, site: str) -> None:
    """Refuse what not both ways of running a pattern know."""
    found = _FOREIGN.search(_ESCAPED.sub("", pattern))
    if found or _BACK.search(pattern):
        place = f" ({site})" if site else ""
        raise ModelError(
            "REGEX_SYNTAX",
            f'the pattern "{pattern}" refers back, looks around or never gives back{place}',
            hint="Write it with plain groups, classes, repetitions and alternatives.",
        )


def java_pattern(pattern: str) -> str:
    r"""Give the pattern as Java must be told it: Unicode, lines end with \n, $ is the end."""
    flags = re.match(r"\(\?[a-zA-Z-]*m[a-zA-Z-]*[:)]", pattern)
    parts = _TOKEN.findall(pattern)
    text = "".join(r"\z" if part == "$" and flags is None else part for part in parts)
    return f"(?Ud){text}"


def replacement_parts(text: str, groups: int) -> list[str | int]:
    """Read a replacement: text, and numbers of groups written $1."""
    parts: list[str | int] = []
    place = 0
    while place < len(text):
        mark = text[place]
        if mark == "\\" and place + 1 < len(text):
            parts.append(text[place + 1])
            place += 2
        elif mark == "$" and place + 1 < len(text) and text[place + 1].isdecimal():
            number, place = _group(text, place + 1, groups)
            parts.append(number)
        elif mark in "$\\":
            raise ModelError(
                "REPLACEMENT",
                f'the replacement "{text}" ends a reference too early',
                hint=r"Write \$ for a dollar sign and $1 for the first group.",
            )
        else:
            parts.append(mark)
            place += 1
    return parts


def _group(text: str, place: int, groups: int) -> tuple[int, int]:
    """Read a number as long as there are so many groups, as Java does: $12 may be $1 and 2."""
    number = int(text[place])
    place += 1
    if number > groups:
        raise ModelError(
            "REPLACEMENT",
            f'the replacement "{text}" names group {number} of {groups}',
            hint="Name a group the pattern has; $0 is the whole match.",
        )
    while place < len(text) and text[place].isdecimal():
        longer = number * 10 + int(text[place])
        if longer > groups:
            break
        number, place = longer, place + 1
    return number, place


def _quoted(mark: str) -> str:
    return _SPECIAL.sub(lambda found: "\\" + found.group(), mark)
