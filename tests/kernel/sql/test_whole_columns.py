"""What is computed on whole columns, where an argument is a constant, is what each row gives."""

from __future__ import annotations

from datetime import date, time
from typing import Any

import pytest

from penstock.schema.types import BYTES, DATE, INT32, INT64, STRING, TIME, Type
from tests.front.sql.functions.evaluated import evaluate

TEXTS = (None, "", "a", "ab", "aab", "ßx-日本", "-", "--", "b-a-b", "  a b ", "aaaaaaaaaaaa", "é")
LENGTHS = (-1, 0, 1, 3, 7)


def both(text: str, constant: object, kind: Type, values: tuple[Any, ...], over: Type) -> None:
    """Compare a function of a column and a constant with that of two columns."""
    shown = f"'{constant}'" if kind == STRING else str(constant)
    whole = evaluate(text.format(shown), {"V": over}, [(value,) for value in values])
    rows = [(value, constant) for value in values]
    assert whole == evaluate(text.format("C"), {"V": over, "C": kind}, rows)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("filling", ["x", "日-", "abc"])
def test_a_text_is_filled_up(length: int, filling: str) -> None:
    for function in ("LPAD", "RPAD"):
        text = f"{function}(V, {{0}}, '{filling}')"
        both(text, length, INT32, TEXTS, STRING)


@pytest.mark.parametrize("between", ["-", "日", ", "])
def test_texts_are_joined(between: str) -> None:
    both("CONCAT_WS({0}, V, NULL, V, 'z')", between, STRING, TEXTS, STRING)


@pytest.mark.parametrize("part", ["", "a", "-", "日本", "b-", "aa", "q", "."])
def test_the_place_of_a_part_is_that_of_letters(part: str) -> None:
    found = evaluate(f"INSTR(V, '{part}')", {"V": STRING}, [(value,) for value in TEXTS])
    assert found == evaluate(f"INSTR(V, '{part}', 1)", {"V": STRING}, [(v,) for v in TEXTS])
    assert found == [0 if not text else text.find(part) + 1 for text in TEXTS]


def test_a_text_is_chosen_or_found_among_others() -> None:
    rows = [(place,) for place in (None, -1, 0, 1, 2, 3, 4)]
    found = evaluate("ELT(V, 'a', NULL, 'c')", {"V": INT32}, rows)
    assert found == [None, None, None, "a", None, "c", None]
    texts = [(text,) for text in (None, "a", "b", "")]
    assert evaluate("FIELD(V, NULL, 'b', 'a', 'a')", {"V": STRING}, texts) == [0, 3, 2, 0]


@pytest.mark.parametrize("encoding", ["utf8", "UTF8", "ascii"])
def test_a_text_becomes_bytes(encoding: str) -> None:
    both("TO_BYTES(V, {0})", encoding, STRING, TEXTS, STRING)


@pytest.mark.parametrize("encoding", ["hex", "base64", "utf8", "ascii"])
def test_bytes_become_a_text(encoding: str) -> None:
    values = (None, b"", b"a", b"\x00\xff", "日本".encode())
    both("FROM_BYTES(V, {0})", encoding, STRING, values, BYTES)


@pytest.mark.parametrize("pattern", ["yyyy-MM-dd", "dd/MM", "yyyy", "EEE d", "HH:mm yyyy"])
def test_a_day_is_written(pattern: str) -> None:
    days = [None, 0, 1, -1, (date(2024, 2, 29) - date(1970, 1, 1)).days]
    both("DATETOSTRING(V, {0})", pattern, STRING, tuple(days), INT32)


FORMS = ("d MMM yy", "hh.mm a", "EEEE, MMMM d uuuu h:m:s a", "D", "DDD E H.SSSSSS", "%d M dd")


@pytest.mark.parametrize("form", FORMS)
def test_a_moment_is_written(form: str) -> None:
    millis = (None, 0, 1, -1, 951_782_399_123, 1_709_251_199_999, 43_200_000, 253_402_300_799_999)
    both("TIMESTAMPTOSTRING(V, {0})", form, STRING, millis, INT64)


@pytest.mark.parametrize("form", ["yyyy-MM-dd", "HH:mm", "yyyy-MM-dd HH:mm:ss"])
@pytest.mark.parametrize("moments", [(5,), (5, 59_999), (-1, -86_400_000), (-1, 0), (None, 7)])
def test_moments_of_one_day_or_minute_are_written_as_others(
    form: str, moments: tuple[int | None, ...]
) -> None:
    both("TIMESTAMPTOSTRING(V, {})", form, STRING, moments, INT64)


@pytest.mark.parametrize("form", ["d MMM yy", "EEEE MMMM D", "yyyy MM"])
def test_a_date_is_written(form: str) -> None:
    days = (None, date(1970, 1, 1), date(2024, 2, 29), date(1, 1, 1), date(9999, 12, 31))
    both("FORMAT_DATE(V, {0})", form, STRING, days, DATE)


@pytest.mark.parametrize("form", ["hh.mm a", "H:m:s", "HH:mm:ss.SSS", "SSSSSS"])
def test_a_time_of_day_is_written(form: str) -> None:
    times = (None, time(0), time(12), time(23, 59, 59, 123_000), time(9, 5))
    both("FORMAT_TIME(V, {0})", form, STRING, times, TIME)
