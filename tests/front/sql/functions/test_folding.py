from __future__ import annotations

import math
import pickle

import pytest

from penstock.front.sql.functions.folding import Correlation, Tally, TopRows


def test_a_correlation_forgets_what_is_taken_back() -> None:
    user = Correlation()
    sums = user.init()
    for x, y in ((1.0, 2.0), (2.0, 4.0), (3.0, 9.0), (None, 1.0)):
        sums = user.add(sums, x, y)
    assert user.result(user.retract(sums, 3.0, 9.0)) == pytest.approx(1.0)
    assert user.retract(sums, None, 1.0) == sums


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [([], math.nan), ([(1.0, 1.0)], math.nan), ([(1.0, 1.0), (1.0, 2.0)], math.nan)],
)
def test_a_correlation_of_too_little_is_not_a_number(
    pairs: list[tuple[float, float]], expected: float
) -> None:
    user = Correlation()
    sums = user.init()
    for x, y in pairs:
        sums = user.add(sums, x, y)
    assert math.isnan(user.result(sums)) == math.isnan(expected)


def test_a_tally_has_a_thousand_values_at_most() -> None:
    user = Tally()
    counts = user.init()
    for number in range(1001):
        counts = user.add(counts, str(number))
    counts = user.add(user.add(counts, "5"), None)
    assert len(user.result(counts)) == 1000
    assert counts["5"] == 2
    assert "1000" not in counts


def test_a_tally_forgets_what_is_taken_back() -> None:
    user = Tally()
    counts = user.merge({"a": 1, "b": 2}, {"a": 1})
    assert user.retract(user.retract(user.retract(counts, "a"), "a"), "c") == {"b": 2}
    assert user.retract(counts, None) == counts


def test_top_rows_are_the_greatest_and_of_equals_the_earlier() -> None:
    user = pickle.loads(pickle.dumps(TopRows(2)))
    rows = user.init()
    for value, name in ((1, "a"), (3, "b"), (None, "c"), (3, "d"), (2, "e")):
        rows = user.add(rows, {"sort_col": value, "col0": name})
    assert [row["col0"] for row in user.result(rows)] == ["b", "d"]
