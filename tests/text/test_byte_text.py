from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.text.byte_text import bytes_of_json, json_value, line_text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain", "plain"),
        ("é😀".encode(), "é😀"),
        (b"\xff\x00", "\\xff\\x00"),
        (b"two\nlines", "two\\nlines"),
        (b"\x1b[31m", "\\x1b[31m"),
        (b"a\\b", "a\\b"),
        ("\u2028".encode(), "\\u2028"),
        (b"", ""),
        (None, "null"),
    ],
)
def test_bytes_are_shown_on_one_line(data: bytes | None, text: str) -> None:
    assert line_text(data) == text


def test_a_tab_may_be_kept() -> None:
    assert line_text(b"a\tb") == "a\\tb"
    assert line_text(b"a\tb", keep="\t") == "a\tb"


@given(st.binary())
def test_shown_bytes_hold_nothing_a_terminal_obeys(data: bytes) -> None:
    assert line_text(data).isprintable()


@given(st.none() | st.binary())
def test_json_keeps_every_byte(data: bytes | None) -> None:
    assert bytes_of_json(json.loads(json.dumps(json_value(data)))) == data


@pytest.mark.parametrize("value", [3, ["a"], {"base64": 1}, {"base64": "?"}, {"other": "YQ=="}])
def test_other_json_is_no_bytes(value: object) -> None:
    with pytest.raises(ValueError, match=r"|"):
        bytes_of_json(value)
