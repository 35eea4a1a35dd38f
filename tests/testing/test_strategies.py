from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.testing.strategies import batch_splits, crashes, disordered_rows, partitionings

pytestmark = pytest.mark.slow

ROWS = disordered_rows({"n": st.integers(0, 9)}, disorder=500, max_rows=20)


@given(ROWS)
def test_no_row_is_further_behind_than_allowed(rows: list[dict[str, Any]]) -> None:
    latest = 0
    for row in rows:
        assert set(row) == {"n", "at"}
        assert row["at"] >= max(0, latest - 500)
        latest = max(latest, row["at"])


@given(st.data())
def test_batches_hold_all_rows_in_their_order(data: st.DataObject) -> None:
    rows = data.draw(ROWS)
    delivery = data.draw(batch_splits(rows))
    assert delivery.rows == rows
    assert all(batch.parts[0] for batch in delivery.batches)


@given(st.data())
def test_a_partition_keeps_the_order_of_its_rows(data: st.DataObject) -> None:
    rows = [{"n": number} for number in range(data.draw(st.integers(0, 20)))]
    delivery = data.draw(partitionings(rows, partitions=3))
    assert sorted(row["n"] for row in delivery.rows) == [row["n"] for row in rows]
    for partition in range(3):
        mine = [row["n"] for b in delivery.batches for row in b.parts.get(partition, ())]
        assert mine == sorted(mine)


@given(crashes(["read", "commit"], 3))
def test_a_crash_lies_within_the_run(crash: Any) -> None:  # noqa: ANN401
    assert 0 <= crash.action < 3
    assert crash.step in ("read", "commit")
