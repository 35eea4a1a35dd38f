from __future__ import annotations

from pathlib import Path

from examples.running_average import app, averaged


def test_numbers_typed_in_the_console_are_averaged_and_words_are_not(tmp_path: Path) -> None:
    told = list(averaged(tmp_path, ["4\n", "9\n", "four\n", " -1.5 \n"]))
    assert told[:2] == ["average 4 of 1", "average 6.5 of 2"]
    assert told[2].startswith('not counted: [VALUE_UNREADABLE] column "number": "four"')
    assert told[3] == "average 3.83333 of 3"


def test_the_average_needs_a_sum_and_a_count() -> None:
    driver = app.test()
    driver.push("avg", [str(number).encode() for number in range(1000)])
    assert driver.table("average")[-1] == {"average": 499.5, "numbers": 1000}
    assert driver.state("agg-1")["fold"].height == 1
