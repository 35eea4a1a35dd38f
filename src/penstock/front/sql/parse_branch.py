"""What the grammar gave for a rule, looked at: its words, its parts, its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import SqlError
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Duration, Name, Span, Unit

if TYPE_CHECKING:
    from lark import Token

    from penstock.front.sql.parse_grammar import Branch, Child

_BIGGEST = 2**63


def span_of(branch: Branch | Token) -> Span:
    """Where it stands."""
    place = branch if isinstance(branch, str) else branch.meta
    return Span(place.start_pos or 0, place.end_pos or 0)


def branches(parent: Branch) -> list[Branch]:
    """The parts of a rule that are there and are rules themselves."""
    return [part for part in parent.children if part is not None and not isinstance(part, str)]


def branch_at(parent: Branch, number: int) -> Branch:
    """The part of a rule that is always there and always a rule."""
    part = parent.children[number]
    assert not isinstance(part, str)
    return part


def maybe_at(parent: Branch, number: int) -> Branch | None:
    """The part of a rule that is a rule where it is there."""
    part: Child = parent.children[number]
    assert part is None or not isinstance(part, str)
    return part


def token_at(parent: Branch, number: int = 0) -> Token:
    """The part of a rule that is always a word or sign."""
    part = parent.children[number]
    assert isinstance(part, str)
    return part


def word_of(parent: Branch) -> str:
    """The single keyword that a rule consists of, in small letters."""
    return str(token_at(parent)).lower()


def has(parent: Branch, rule: str) -> bool:
    """Whether a rule is among the parts of another."""
    return any(part.data == rule for part in branches(parent))


def inner(parent: Branch, rule: str) -> Branch | None:
    """The first part of a rule that is this other rule."""
    return next((part for part in branches(parent) if part.data == rule), None)


def inners(parent: Branch, rule: str) -> list[Branch]:
    """The parts of a rule that are this other rule."""
    return [part for part in branches(parent) if part.data == rule]


def text_in(token: str) -> str:
    """What a text in quotes says."""
    if token.startswith("$$"):
        return token[2:-2]
    quote = token[0]
    return token[1:-1].replace(quote * 2, quote)


def name_in(branch: Branch) -> Name:
    """The name that a rule `name` gave."""
    token = token_at(branch)
    if token.type in ("QUOTED", "BACKQUOTED"):
        return Name(text_in(token), quoted=True, span=span_of(token))
    return Name(token.upper(), span=span_of(token))


def spelt(part: Child) -> str:
    """A text, or a name as it was spelt."""
    assert part is not None
    token = part if isinstance(part, str) else token_at(part)
    return text_in(token) if token[0] in "'\"`" else str(token)


def integer_in(source: SourceText, token: Token, *, negative: bool = False) -> int:
    """A whole number of 64 bits; a greater one is refused."""
    # The digits are counted first, since Python refuses to read thousands of them.
    digits = token.lstrip("0") or "0"
    value = int(digits) if len(digits) < 20 else _BIGGEST + 1  # noqa: PLR2004
    value = -value if negative else value
    if not -_BIGGEST <= value < _BIGGEST:
        raise SqlError(
            "SQL_NUMBER",
            source.shown(f"the number {_short(token)} is beyond 64 bits", span_of(token)),
            hint="Write it as a DECIMAL with a point, or as a DOUBLE with an exponent.",
        )
    return value


def duration_in(source: SourceText, branch: Branch) -> Duration:
    """The duration that a rule `duration` gave."""
    amount = integer_in(source, token_at(branch), negative=branch.data == "negative_duration")
    unit = _UNITS[word_of(branch_at(branch, 1)).removesuffix("s")]
    made = Duration(amount, unit, span=span_of(branch))
    try:
        _ = made.delta
    except OverflowError:
        raise SqlError(
            "SQL_NUMBER",
            source.shown("the duration is longer than can be counted", made.span),
            hint="Give a shorter one.",
        ) from None
    return made


def _short(text: str) -> str:
    return text if len(text) <= 30 else f"{text[:27]}..."  # noqa: PLR2004


_UNITS: dict[str, Unit] = {
    "day": "day",
    "hour": "hour",
    "minute": "minute",
    "second": "second",
    "millisecond": "millisecond",
}
