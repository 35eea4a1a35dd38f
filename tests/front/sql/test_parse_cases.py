"""The statements of the shared cases, which are many and of many kinds."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator

import pytest

from penstock.errors import SqlError
from penstock.front.sql.format import format_statement
from penstock.front.sql.parse import parse_script, parse_statement
from tests.conformance.runner import SHARED

CASES = SHARED / "ksql" / "cases.jsonl"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CASES.exists(), reason="the shared cases are not here"),
]


def statements() -> list[str]:
    """All statements but the last of a case that is to fail."""
    found: list[str] = []
    for line in CASES.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        good = case["statements"][:-1] if case["expected_error"] else case["statements"]
        found += good
    return found


def test_every_good_statement_is_read_and_written_as_the_same() -> None:
    for text in statements():
        for statement in parse_script(text):
            assert parse_statement(format_statement(statement)) == statement


def mutated(texts: list[str], count: int) -> Iterator[str]:
    chance = random.Random(20240229)
    words = re.findall(r"\w+|'[^']*'|[^\w\s]", " ".join(texts))
    for _ in range(count):
        parts = re.findall(r"\s+|\w+|'[^']*'|[^\w\s]", chance.choice(texts))
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(parts))
            other = chance.choice([*words[:2000], *"'\"`()[]{}<>;,.$\\\0é\n@#|", ""])
            match chance.randrange(4):
                case 0:
                    parts[at] = other
                case 1:
                    parts.insert(at, other)
                case 2:
                    parts[at] = parts[at][:-1]
                case _:
                    parts = parts[: at + 1]
        yield "".join(parts)


def test_a_spoilt_statement_is_read_or_refused_with_its_place() -> None:
    facts: list[str] = []
    for text in mutated(statements(), 200):
        try:
            parse_script(text)
        except SqlError as error:
            facts.append(error.fact)
    assert len(facts) > 50
    assert [fact for fact in facts if not re.match(r"line \d+, column \d+: ", fact)] == []
    assert [fact for fact in facts if "^" not in fact] == []
