from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from penstock.errors import UsageError
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64
from penstock.testing.expectation import match_letters, match_rows

SCHEMA = Schema((Field("n", INT64), Field("m", INT64)))
NOON = datetime(1970, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("want", "found"),
    [
        (1, 1),
        (1.0, 1.0 + 1e-12),
        (3, 3.0),
        (float("nan"), float("nan")),
        ("12:00", NOON),
        ("12h", NOON),
        (NOON, NOON),
        (12 * 3_600_000, NOON),
        ("1970-01-02", date(1970, 1, 2)),
        ("2s", 2_000),
        ("text", "text"),
        ([1, 2.0], [1, 2.0]),
        ({"a": [1]}, {"a": [1]}),
        (None, None),
    ],
)
def test_values_are_the_same_however_they_are_written(want: Any, found: Any) -> None:  # noqa: ANN401
    match_rows([{"n": want}], [{"n": found, "m": 0}], SCHEMA, "here")


@pytest.mark.parametrize(
    ("want", "found"),
    [
        (1, 2),
        (1.0, 1.1),
        ("noon", NOON),
        ([1], [1, 2]),
        ({"a": 1}, {"b": 1}),
        (True, "true"),
        (0, None),
        ("2s", True),
    ],
)
def test_values_that_differ_are_told_apart(want: Any, found: Any) -> None:  # noqa: ANN401
    with pytest.raises(AssertionError, match="here: not as expected"):
        match_rows([{"n": want}], [{"n": found}], SCHEMA, "here")


def test_rows_may_come_in_any_order_and_each_is_used_once() -> None:
    match_rows([{"n": 1}, {"n": 1, "m": 2}], [{"n": 1, "m": 2}, {"n": 1, "m": 3}], SCHEMA, "")
    with pytest.raises(AssertionError):
        match_rows([{"n": 1}, {"n": 1}], [{"n": 1, "m": 2}], SCHEMA, "")


def test_what_is_taken_back_must_be_said() -> None:
    taken_back = [{"n": 1, "_weight": -1}]
    match_rows([{"n": 1, "_weight": -1}], taken_back, SCHEMA, "")
    with pytest.raises(AssertionError):
        match_rows([{"n": 1}], taken_back, SCHEMA, "")


def test_a_column_that_no_result_has_is_refused() -> None:
    with pytest.raises(UsageError, match="TRANSCRIPT_COLUMN"):
        match_rows([{"nn": 1}], [], SCHEMA, "here")


def test_letters_are_matched_by_their_row_and_a_part_of_their_error() -> None:
    letter = {"row": {"n": 1}, "error": "ValueError: seven", "step": "map", "time": 5}
    match_letters([{"n": 1, "_error": "seven", "_step": "map", "_time": 5}], [letter], "")
    for wrong in ({"n": 2}, {"_error": "eight"}, {"_step": "filter"}):
        with pytest.raises(AssertionError):
            match_letters([wrong], [letter], "")
