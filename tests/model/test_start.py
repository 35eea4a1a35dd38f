from __future__ import annotations

import pytest

from penstock.model.source import Stream
from penstock.model.start import BEGINNING, Start, start_words
from penstock.model.words import step_words
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (BEGINNING, "the first record"),
        (Start("latest"), "the last record"),
        (Start("latest", known=((0, 7), (1, 9))), "the last record as of offsets 0: 7, 1: 9"),
        (Start("offset", 3), "offset 3"),
        (Start("time", 1_000), "the first record of 1970-01-01T00:00:01"),
    ],
)
def test_where_reading_begins_is_said(start: Start, words: str) -> None:
    assert start_words(start) == words
    stream = Stream("s", Schema((Field("n", INT64),)), start=start)
    assert (f"from {words}" in step_words(stream).details) == (start != BEGINNING)
