from __future__ import annotations

import pytest

from penstock.model.stateless import Filter
from penstock.plan.rules.drop_true_filter import drop_true_filter
from tests.plan.programs import a_stream, above, lit


def test_a_filter_that_is_always_true_is_left_out() -> None:
    stream = a_stream()
    assert drop_true_filter(Filter(stream, lit(value=True))) is stream


@pytest.mark.parametrize("condition", [lit(value=False), lit(None), above("n", 1)])
def test_any_other_filter_stays(condition: object) -> None:
    only = Filter(a_stream(), condition)  # type: ignore[arg-type]
    assert drop_true_filter(only) is only
