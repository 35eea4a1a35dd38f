"""Text that is nearly JSON: unquoted names and values, commas too many, and `...` for the rest."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

_SPACE = re.compile(r"\s*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NAME = re.compile(r"[^\s:,{}\[\]\"][^:,{}\[\]\n]*")
_BARE = re.compile(r"[^\s,{}\[\]\"][^,{}\[\]\n]*")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,3})?")
_WORDS = {"null": None, "true": True, "false": False}
_REST = "..."


class Bare(str):
    """A value without quotes: text for a column of text, and what JSON says it is for others."""

    __slots__ = ()

    def meaning(self) -> Any:  # noqa: ANN401
        """Give the number or the word it is, else its text."""
        if _NUMBER.fullmatch(self):
            return int(self) if self.lstrip("-").isdigit() else Decimal(self)
        return _WORDS.get(self, str(self))


def parse_lenient(text: str) -> Any:  # noqa: ANN401
    """Read text that is nearly JSON; raises `ValueError` where it is not even that."""
    parser = _Parser(text)
    found = parser.value()
    parser.end()
    return found


class _Parser:
    """Reads from left to right, once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def value(self) -> Any:  # noqa: ANN401
        match self._peek():
            case "{":
                return self._object()
            case "[":
                return self._array()
            case '"':
                return self._string()
            case _:
                bare = Bare(self._match(_BARE, "a value").strip())
                return None if bare == "null" else bare

    def end(self) -> None:
        if self._peek():
            raise self._error("an end")

    def _object(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._at += 1
        while self._more("}"):
            if self._rest():
                continue
            quoted = self._peek() == '"'
            name = self._string() if quoted else self._match(_NAME, "a name").strip()
            if self._peek() != ":":
                raise self._error('":"')
            self._at += 1
            found[name] = self.value()
        return found

    def _array(self) -> list[Any]:
        found: list[Any] = []
        self._at += 1
        while self._more("]"):
            if not self._rest():
                found.append(self.value())
        return found

    def _more(self, close: str) -> bool:
        """Whether an item follows; commas before it, and the closing sign, are passed."""
        while self._peek() == ",":
            self._at += 1
        if self._peek() == close:
            self._at += 1
            return False
        return True

    def _rest(self) -> bool:
        """Pass `...`, which stands for what the writer left out."""
        if not self._text.startswith(_REST, self._at):
            return False
        self._at += len(_REST)
        if self._peek() not in (",", "]", "}"):
            raise self._error('"," after ...')
        return True

    def _string(self) -> str:
        text = self._match(_STRING, "the end of a text")
        return str(json.loads(text, strict=False))

    def _match(self, pattern: re.Pattern[str], expected: str) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            raise self._error(expected)
        self._at = found.end()
        return found[0]

    def _peek(self) -> str:
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at
        return self._text[self._at : self._at + 1]

    def _error(self, expected: str) -> ValueError:
        return ValueError(f"{expected} is expected at character {self._at}")
