from __future__ import annotations

import pickle
import re
from functools import cache
from pathlib import Path

import pytest

from penstock import errors
from tests.house.survey import ROOT, Raised, error_names, modules, raised, table

LISTED = [code.strip("`") for code, *_ in table(ROOT / "docs" / "errors.md")]
NAMES = ("Arrow", "Java", "Kafka", "Penstock", "Python", "PySpark", "Spark")


@cache
def raised_here() -> tuple[Raised, ...]:
    return tuple(raised(modules()))


@cache
def codes() -> frozenset[str]:
    return frozenset(error.code for error in raised_here() if error.code)


def test_every_code_is_a_literal_that_can_be_found() -> None:
    assert [error.place for error in raised_here() if error.code is None] == []
    assert len(codes()) > 20


def test_every_code_is_written_like_a_code() -> None:
    assert [code for code in codes() if not re.fullmatch(r"[A-Z]+(_[A-Z]+)*", code)] == []


def test_every_code_is_listed_once_and_in_order() -> None:
    assert sorted(codes() - set(LISTED)) == []
    assert sorted(set(LISTED) - codes()) == []
    assert sorted(set(LISTED)) == LISTED


def test_every_code_has_its_meaning() -> None:
    assert [row for row in table(ROOT / "docs" / "errors.md") if len(row) != 2 or not row[1]] == []


def test_every_code_has_a_test() -> None:
    # This folder lists codes in general and so proves none in particular.
    tests = [file for file in modules(ROOT / "tests") if file.parent != Path(__file__).parent]
    words = {word for file in tests for word in re.findall(r"\b[A-Z_]+\b", file.read_text())}
    assert sorted(codes() - words) == []


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    drawn = set(re.findall(r"^[│├└─ ]*(\w+Error)\b", errors.__doc__ or "", re.MULTILINE))
    assert drawn == error_names()


@pytest.mark.parametrize("name", sorted(error_names()))
def test_an_error_survives_the_way_between_processes(name: str) -> None:
    error = getattr(errors, name)("SOME_CODE", "a fact", hint="Do this.")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (copy.code, copy.fact, copy.hint) == ("SOME_CODE", "a fact", "Do this.")
    assert str(copy) == "[SOME_CODE] a fact\nDo this."


def test_a_code_that_is_not_a_literal_is_found(tmp_path: Path) -> None:
    file = tmp_path / "sample.py"
    file.write_text(
        'raise TopicError("TOPIC_X", "a")\n'
        "raise errors.LogError(code, f'b {name}')\n"
        "x = RecordError('RECORD_Y', 'c')\n"
        "raise ValueError('NOT_OURS')\n"
    )
    assert list(raised([file])) == [
        ("TOPIC_X", "a", "sample.py:1"),
        (None, "b {}", "sample.py:2"),
        ("RECORD_Y", "c", "sample.py:3"),
    ]


def test_facts_begin_small_and_end_without_a_stop() -> None:
    facts = [error for error in raised_here() if error.fact]
    assert len(facts) > 20
    assert [error.place for error in facts if error.fact.endswith((".", "!"))] == []
    assert [error.place for error in facts if _begins_large(error.fact)] == []


def _begins_large(fact: str) -> bool:
    return bool(re.match(r"[A-Z][a-z]", fact)) and not fact.startswith(NAMES)
