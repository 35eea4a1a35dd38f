"""Two versions of a schema side by side, line by line."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["same", "added", "removed", "changed"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A line of the one and the line beside it; none where only the other has one."""

    kind: Kind
    left: str | None
    right: str | None


def schema_lines(text: str) -> list[str]:
    """Write a schema in lines: JSON indented, other languages as they are."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False).splitlines()
    except ValueError:
        return text.splitlines()


def side_by_side(left: Sequence[str], right: Sequence[str]) -> Iterator[Pair]:
    """Give the lines of both in order, what differs beside one another."""
    for word, a, b, c, d in difflib.SequenceMatcher(a=left, b=right, autojunk=False).get_opcodes():
        kind: Kind = "same" if word == "equal" else "changed"
        for one, other in zip_longest(left[a:b], right[c:d]):
            shown: Kind = "added" if one is None else "removed" if other is None else kind
            yield Pair(shown, one, other)
