from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.kernel.codec import decode, encode
from penstock.kernel.fold.fold import Fold, Groups
from penstock.kernel.port import State
from penstock.model.measure import Measure
from tests.kernel.fold.oracle import (
    BY,
    Row,
    fold_of,
    frame_of,
    in_parts,
    mean,
    measure,
    once,
    quantile,
    ranked,
    standing,
    table_of,
    variance,
)

pytestmark = pytest.mark.slow


def bins(values: list[Any]) -> list[dict[str, Any]]:
    counts = [0, 0, 0]
    for value in values:
        counts[min(max(int(value // 3), 0), 2)] += 1
    return [
        {"low": 3.0 * index, "high": 3.0 * index + 3, "count": count}
        for index, count in enumerate(counts)
    ]


def first(rows: list[Row]) -> float | None:
    return min(rows, key=lambda row: row.time).x if rows else None


def last(rows: list[Row]) -> float | None:
    return max(enumerate(rows), key=lambda item: (item[1].time, item[0]))[1].x if rows else None


# Values are small multiples of 1/4, so that sums are exact and results can be compared as they are.
BY_VALUES: dict[str, tuple[Measure, Callable[[list[Any]], Any]]] = {
    "sum": (measure("sum"), lambda values: sum(values) if values else None),
    "avg": (measure("avg"), mean),
    "count": (measure("count"), len),
    "min": (measure("min"), lambda values: min(values, default=None)),
    "max": (measure("max"), lambda values: max(values, default=None)),
    "count_distinct": (measure("count_distinct"), lambda values: len(set(values))),
    "approx": (measure("approx_count_distinct"), lambda values: len(set(values))),
    "quantile": (measure("quantile", q=0.3), lambda values: quantile(values, 0.3)),
    "top_k": (measure("top_k", k=2), lambda values: ranked(values)[::-1][:2]),
    "top_k_distinct": (
        measure("top_k_distinct", k=2),
        lambda values: sorted(set(values))[::-1][:2],
    ),
    "variance": (measure("variance"), variance),
    "stddev": (
        measure("stddev"),
        lambda values: None if variance(values) is None else math.sqrt(variance(values) or 0.0),
    ),
    "histogram": (measure("histogram", bins=3, low=0.0, high=9.0), bins),
    "collect_list": (measure("collect_list"), list),
    "collect_set": (measure("collect_set"), once),
    "first by arrival": (
        measure("first", by="arrival"),
        lambda values: values[0] if values else None,
    ),
    "last by arrival": (
        measure("last", by="arrival"),
        lambda values: values[-1] if values else None,
    ),
}
BY_ROWS: dict[str, tuple[Measure, Callable[[list[Row]], Any]]] = {
    name: (item, lambda rows, of=of: of([row.x for row in rows]))
    for name, (item, of) in BY_VALUES.items()
} | {
    "first": (measure("first"), first),
    "last": (measure("last", by="time"), last),
}
MEASURES = [
    Measure(name, item.function, item.arguments, item.settings)
    for name, (item, _) in BY_ROWS.items()
]
TIMED = ("first", "last")

rows = st.builds(
    Row,
    key=st.sampled_from(["a", "b", None]),
    x=st.none() | st.integers(-8, 48).map(lambda value: value / 4),
    time=st.integers(0, 19),
)
streams = st.lists(rows, max_size=25)
cuts = st.lists(st.integers(0, 30), max_size=4)
# Each example checks all measures at once, so fewer of them do.
fewer = settings(max_examples=settings().max_examples // 4)


@st.composite
def changelogs(draw: st.DrawFn) -> list[Row]:
    """Rows of which some are taken back later."""
    log: list[Row] = []
    left: list[Row] = []
    for row in draw(streams):
        log.append(row)
        left.append(row)
        if draw(st.booleans()):
            gone = left.pop(draw(st.integers(0, len(left) - 1)))
            log.append(Row(gone.key, gone.n, gone.x, gone.time, weight=-1))
    return log


def expected(log: list[Row], name: str) -> dict[Any, Any]:
    """For each group what plain Python makes of the rows that are left."""
    groups: dict[Any, list[Row]] = {}
    for row in log:
        start = row.time // 10 * 10
        groups.setdefault((row.key, start, start + 10), []).append(row)
    found = {}
    for key, members in groups.items():
        left = standing(members, lambda row: (row.x, row.time) if name in TIMED else row.x)
        result = BY_ROWS[name][1]([row for row in left if row.x is not None])
        found[key] = 0.0 if name == "sum" and not left else result
    return found


def alike(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)
    return bool(one == other)


def assert_right(fold: Fold, groups: Groups, log: list[Row]) -> None:
    found = table_of(fold, groups)
    for index, item in enumerate(MEASURES):
        wanted = expected(log, item.name)
        assert found.keys() == wanted.keys()
        for key, value in wanted.items():
            assert alike(found[key][index + 1], value), (item.name, key, found[key], value)


@fewer
@given(log=streams, parts=cuts)
def test_any_split_of_rows_gives_what_plain_python_gives(log: list[Row], parts: list[int]) -> None:
    fold = fold_of(*MEASURES)
    assert_right(fold, in_parts(fold, log, parts), log)


@fewer
@given(log=changelogs(), parts=cuts)
def test_any_split_of_a_changelog_gives_what_is_left_of_it(
    log: list[Row], parts: list[int]
) -> None:
    fold = fold_of(*MEASURES, retracts=True)
    assert_right(fold, in_parts(fold, log, parts), log)


@fewer
@given(log=streams)
def test_what_is_added_and_taken_back_leaves_nothing(log: list[Row]) -> None:
    fold = fold_of(*MEASURES, retracts=True)
    back = [Row(row.key, row.n, row.x, row.time, weight=-1) for row in log]
    groups = fold.merge([fold.fold(frame_of(part), BY) for part in (log, back)], BY)
    assert_right(fold, groups, log + back)
    assert [name for name, table in groups.sets.items() if table.height] == []


@fewer
@pytest.mark.parametrize("retracts", [False, True])
@given(log=streams, parts=cuts, order=st.randoms(use_true_random=False))
def test_parts_of_a_packable_fold_may_come_in_any_order(
    retracts: bool, log: list[Row], parts: list[int], order: Random
) -> None:
    chosen = [item for item in MEASURES if fold_of(item, retracts=retracts).packable]
    assert len(chosen) == 13
    fold = fold_of(*chosen, retracts=retracts)
    edges = sorted({0, len(log), *(cut for cut in parts if cut < len(log))})
    pieces = [fold.fold(frame_of(log[a:b]), BY) for a, b in pairwise(edges)]
    whole = table_of(fold, fold.fold(frame_of(log), BY))
    order.shuffle(pieces)
    merged = table_of(fold, fold.merge([fold.fold(frame_of([]), BY), *pieces], BY))
    assert merged.keys() == whole.keys()
    for name, row in whole.items():
        assert all(alike(a, b) for a, b in zip(merged[name], row, strict=True))


@fewer
@given(log=changelogs())
def test_accumulators_survive_being_stored(log: list[Row]) -> None:
    fold = fold_of(*MEASURES, retracts=True)
    groups = fold.fold(frame_of(log), BY)
    state = decode(encode(State(fold.tables(groups)), "f"), "f")
    assert all(name.startswith("fold") for name in state.tables)
    assert table_of(fold, fold.groups(state.tables)) == table_of(fold, groups)
