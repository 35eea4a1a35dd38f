from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import UsageError
from penstock.text.sizes import exact_size_text, parse_size, size_text


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", 0),
        ("1048576", 1048576),
        ("10B", 10),
        ("512KiB", 524288),
        ("64MiB", 67108864),
        ("1GB", 1_000_000_000),
        ("1 gb", 1_000_000_000),
        ("1.5KiB", 1536),
        ("8TiB", 8 * 2**40),
    ],
)
def test_a_size_is_read(text: str, count: int) -> None:
    assert parse_size(text) == count


@pytest.mark.parametrize("text", ["", "MiB", "-1", "64M", "64 apples", "1.KiB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="SIZE_FORMAT"):
        parse_size(text)


@given(st.integers(0, 2**60))
def test_an_exact_text_reads_the_same(count: int) -> None:
    assert parse_size(exact_size_text(count)) == count


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (2**40 * 3000, "3000 TiB")],
)
def test_a_size_is_written_for_people(count: int, text: str) -> None:
    assert size_text(count) == text
