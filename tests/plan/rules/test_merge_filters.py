from __future__ import annotations

from penstock.model.stateless import Filter
from penstock.plan.rules.merge_filters import merge_filters
from tests.plan.programs import a_stream, above, call


def test_two_filters_in_a_row_become_one_that_asks_both() -> None:
    stream = a_stream()
    twice = Filter(Filter(stream, above("n", 1), "a.py:1"), above("n", 2), "a.py:2")
    merged = merge_filters(twice)
    assert merged == Filter(stream, call("and", above("n", 1), above("n", 2)))
    assert isinstance(merged, Filter)
    assert merged.site == "a.py:1, a.py:2"


def test_one_filter_stays_as_it_is() -> None:
    once = Filter(a_stream(), above("n", 1))
    assert merge_filters(once) is once
