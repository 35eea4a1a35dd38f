from __future__ import annotations

import random
from datetime import UTC, date, datetime

import polars as pl
import pytest

from penstock.kernel.fold.growth import grown
from penstock.kernel.port import Frame

NAMES = ("_pane", "_v0")


def counts(*rows: tuple[int, object, int], kind: pl.DataType | None = None) -> Frame:
    schema = {"_pane": pl.Int64(), "_v0": kind or pl.Int64(), "_count": pl.Int64()}
    return pl.DataFrame(rows, schema=schema, orient="row")


def added(held: Frame, come: Frame) -> Frame:
    together = pl.concat([held, come]).group_by(NAMES).agg(pl.col("_count").sum())
    return together.sort(NAMES)


@pytest.mark.parametrize("size", [3, 40, 400])
def test_counts_are_those_of_both_however_they_came(size: int) -> None:
    chance = random.Random(size)
    held = counts()
    expected = held
    for _ in range(30):
        pairs = {(chance.randrange(5), chance.randrange(-900, 900)) for _ in range(size)}
        come = counts(*((pane, value, chance.randrange(1, 4)) for pane, value in pairs))
        taken = grown(held, come, NAMES)
        assert taken is not None
        held, expected = taken, added(expected, come)
        assert held.sort(NAMES).equals(expected)


def test_few_new_rows_leave_all_others_where_they_stand() -> None:
    held = counts(*((1, value, 1) for value in range(0, 100, 2)))
    found = grown(held, counts((1, 7, 1), (0, 3, 1), (1, 4, 5)), NAMES)
    assert found is not None
    assert found[:50, :2].equals(held[:, :2])
    assert found[2, "_count"] == 6
    assert found[50:].rows() == [(0, 3, 1), (1, 7, 1)]


def test_many_new_rows_are_put_in_order() -> None:
    found = grown(counts((1, 5, 1), (2, 5, 1)), counts((3, 1, 1), (2, 1, 1), (1, 5, 2)), NAMES)
    assert found is not None
    assert found.rows() == [(1, 5, 3), (2, 1, 1), (2, 5, 1), (3, 1, 1)]


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        (pl.Int32(), -3, 2**31 - 1),
        (pl.Date(), date(1960, 1, 1), date(2024, 1, 1)),
        (pl.Datetime("ms", "UTC"), datetime(1960, 1, 1, tzinfo=UTC), datetime.now(UTC)),
    ],
)
def test_values_keep_their_type(kind: pl.DataType, one: object, other: object) -> None:
    held, come = counts((0, other, 1), kind=kind), counts((0, one, 1), (0, other, 1), kind=kind)
    found = grown(held, come, NAMES)
    assert found is not None
    assert found.equals(added(held, come))


def test_nothing_held_and_nothing_new_are_as_they_were() -> None:
    rows = counts((1, 5, 1))
    assert grown(counts(), rows, NAMES) is rows
    assert grown(rows, counts(), NAMES) is rows


def test_numbers_too_far_apart_are_left_to_others() -> None:
    assert grown(counts((1, -(2**62), 1)), counts((1, 2**62, 1)), NAMES) is None
