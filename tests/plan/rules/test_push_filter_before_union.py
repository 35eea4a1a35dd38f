from __future__ import annotations

from penstock.model.stateless import Filter, Union
from penstock.plan.rules.push_filter_before_union import push_filter_before_union
from tests.plan.programs import a_stream, above


def test_each_stream_of_a_union_is_filtered_by_itself() -> None:
    one, other = a_stream("one"), a_stream("other")
    after = Filter(Union((one, other)), above("n", 1))
    before = Union((Filter(one, above("n", 1)), Filter(other, above("n", 1))))
    assert push_filter_before_union(after) == before


def test_a_filter_on_something_else_stays() -> None:
    only = Filter(a_stream(), above("n", 1))
    assert push_filter_before_union(only) is only
