from __future__ import annotations

import polars as pl
import pytest

from penstock.kernel.sql.patterns import compiled
from penstock.kernel.sql.plain_pattern import plain_pattern

TEXTS = [
    "",
    "abac",
    "a1b22c",
    "x&id=12&y",
    "id=9",
    "ä b\n",
    "a.b-c_d/e",
    "\t \x0b",
    "aab\n",
    "٣ é9",
]
PLAIN = [
    "a(.)",
    r"(&|^)id=([^&]*)",
    r"\d+",
    r"[\d.]+",
    r"\w+",
    r"(\s)",
    r"[^\s]+",
    "a{2}",
    "(a|b)?c",
    r"\.",
    "[a-c]+",
    "^a.*",
    "é",
    r"[-\]x]+",
    r"\/",
]


@pytest.mark.parametrize("pattern", PLAIN)
def test_polars_finds_what_each_row_by_itself_would(pattern: str) -> None:
    same = plain_pattern(pattern)
    assert same is not None
    for group in range(compiled(pattern).groups + 1):
        found = [compiled(pattern).search(text) for text in TEXTS]
        wanted = [None if item is None else item[group] for item in found]
        assert pl.Series(TEXTS).str.extract(same, group).to_list() == wanted


@pytest.mark.parametrize(
    "pattern",
    [
        "a$",
        "(?:a)",
        "(?=a)",
        "(a)+",
        "a*+",
        r"\bx",
        r"(a)\1",
        "[a&&b]",
        "x{",
        "[]a]",
        r"\p{L}",
        "(",
    ],
)
def test_what_polars_might_read_otherwise_is_left_to_each_row(pattern: str) -> None:
    assert plain_pattern(pattern) is None
