"""What a program shows in the console."""

from __future__ import annotations

import pytest

import penstock.streams as ks
from penstock.testing.streams_driver import StreamsDriver


def test_l08_each_word_is_printed_with_its_count(capsys: pytest.CaptureFixture[str]) -> None:
    builder = ks.KStreamBuilder()
    words = builder.stream("Words").map(lambda _, word: (word, word))
    counts = words.count_by_key("Counts").to_stream()
    counts.foreach(lambda word, count: print(f"Word: {word} / Count: {count}"))  # noqa: T201
    driver = StreamsDriver(builder)
    for word in ("tea", "milk", "tea"):
        driver.pipe("Words", None, word)
    assert capsys.readouterr().out.splitlines() == [
        "Word: tea / Count: 1",
        "Word: milk / Count: 1",
        "Word: tea / Count: 2",
    ]
