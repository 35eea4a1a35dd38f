from __future__ import annotations

from penstock.model.stateless import Filter, Rekey
from penstock.plan.rules.push_filter_before_rekey import push_filter_before_rekey
from tests.plan.programs import a_stream, above


def test_rows_are_filtered_before_they_get_a_key() -> None:
    after = Filter(Rekey(a_stream(), ("user",)), above("n", 1))
    assert push_filter_before_rekey(after) == Rekey(Filter(a_stream(), above("n", 1)), ("user",))


def test_a_filter_on_something_else_stays() -> None:
    only = Filter(a_stream(), above("n", 1))
    assert push_filter_before_rekey(only) is only
