from __future__ import annotations

import numpy as np
import pytest

from penstock.kernel.locate import Spot, locate
from penstock.kernel.pane import Panes
from penstock.kernel.trigger.machine import Machine
from penstock.model.trigger import DEFAULT

FEW, MANY = 10, 10**7


def panes() -> Panes:
    return Panes(Machine(DEFAULT, merging=False), None, timed=False)


def spot(*spots: tuple[int, int, int]) -> Spot:
    array = np.array(spots, dtype=np.int64).reshape(-1, 3)
    return Spot(array[:, 0], array[:, 1], array[:, 2])


@pytest.mark.parametrize("keys", [FEW, MANY])
@pytest.mark.parametrize("length", [10, 0])
def test_the_same_spot_has_the_same_pane(keys: int, length: int) -> None:
    last = keys - 1
    # Without one length windows are told apart by both bounds.
    other = 10 + length if length else 25
    found = panes()
    first = locate(found, spot((last, 0, 10), (2, 10, other), (last, 0, 10)), keys, 0)
    assert first.tolist() == [0, 1, 0]
    second = locate(found, spot((2, 10, other), (2, 0, 10), (last, 0, 10)), keys, 5)
    assert second.tolist() == [1, 2, 0]
    assert found["_key"].tolist() == [last, 2, 2]
    assert found["_pane"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("keys", [FEW, MANY])
def test_windows_that_start_together_are_different_where_they_end_apart(keys: int) -> None:
    found = panes()
    at = locate(found, spot((1, 0, 10), (1, 0, 20), (1, 0, 10)), keys, 0)
    assert at.tolist() == [0, 1, 0]


def test_a_pane_remembers_whether_its_window_was_complete_when_it_began() -> None:
    found = panes()
    locate(found, spot((0, 0, 10), (0, 10, 20)), FEW, 10)
    assert found["_over"].tolist() == [True, False]


def test_nothing_is_located_nowhere() -> None:
    assert locate(panes(), spot(), FEW, 0).tolist() == []
