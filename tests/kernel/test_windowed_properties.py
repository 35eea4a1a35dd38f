"""What must hold however the rows are cut into batches, packed, and refined."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.kernel.changelog import fold_changelog
from penstock.model.expr import Call, Column, Literal
from penstock.model.measure import Measure
from penstock.model.parts import triggers_in
from penstock.model.refine import Mode, Refinement, Stamp
from penstock.model.trigger import (
    DEFAULT,
    EACH_ROW,
    AfterDelay,
    AfterRow,
    AfterRows,
    AfterWatermark,
    AllOf,
    Always,
    AnyOf,
    Never,
    Repeat,
    Trigger,
    Until,
    WhenClosed,
    WhenWatermark,
)
from penstock.model.trigger import Sequence as InTurn
from penstock.model.window import Global, Hopping, Session, Tumbling, Window
from tests.kernel.bench import SUM, Bench, ms

pytestmark = pytest.mark.slow

Row = tuple[str, int, int]

ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(-5, 5), st.integers(-20, 60)),
    min_size=1,
    max_size=14,
)
DISTINCT = Measure("different", "count_distinct", (Column("v"),))
WINDOWS: Sequence[Window | None] = (
    Tumbling(ms(10), ms(3)),
    Hopping(ms(15), ms(10)),
    Hopping(ms(20), ms(5)),
    Session(ms(6)),
    Session(ms(6), touching=False),
    Session(Column("v")),
    Global(),
    None,
)
POSITIVE = Call("gt", (Column("v"), Literal(0)))
# Triggers that never end: no row is lost whatever they do.
ENDLESS: Sequence[Trigger] = (
    DEFAULT,
    EACH_ROW,
    Never(),
    Repeat(Always()),
    Repeat(AfterRows(3)),
    Repeat(AfterRows(2, exact=False)),
    Repeat(AfterDelay(ms(3))),
    Repeat(AfterRow(POSITIVE)),
    Repeat(AnyOf((AfterRows(2), AfterWatermark()))),
    Repeat(AllOf((AfterRows(2), AfterDelay(ms(2))))),
    Repeat(InTurn((AfterRows(1), AfterRows(2)))),
    WhenClosed(AfterRows(2), AfterRows(1)),
    WhenClosed(AfterDelay(ms(2)), AfterRows(2)),
)


def needs_end(trigger: Trigger) -> bool:
    ends = (WhenWatermark, AfterWatermark, WhenClosed)
    return any(isinstance(part, ends) for part in triggers_in(trigger))


def cut(rows: Sequence[Row], sizes: Sequence[int]) -> list[list[Row]]:
    batches, left, index = [], list(rows), 0
    while left:
        size = sizes[index % len(sizes)]
        batches.append(left[:size])
        left, index = left[size:], index + 1
    return batches


def windows_of(window: Window | None, rows: Sequence[Row]) -> dict[tuple[Any, ...], list[int]]:
    """The batch answer: the values of each key and window."""
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    if isinstance(window, Session):
        return _sessions(window, rows)
    for key, value, time in rows:
        match window:
            case Tumbling():
                start = time - (time - 3) % 10
                groups[key, start, start + 10].append(value)
            case Hopping(size, slide):
                length, every = size // ms(1), slide // ms(1)
                for start in range(-60, 80, every):
                    if start <= time < start + length:
                        groups[key, start, start + length].append(value)
            case _:
                groups[key, None, None].append(value)
    return groups


def _sessions(window: Session, rows: Sequence[Row]) -> dict[tuple[Any, ...], list[int]]:
    sessions: list[list[Any]] = []
    for key, value, time in sorted(rows, key=lambda row: (row[0], row[2])):
        gap = window.gap // ms(1) if isinstance(window.gap, timedelta) else max(0, value)
        last = sessions[-1] if sessions and sessions[-1][0] == key else None
        meets = last is not None and (time <= last[2] if window.touching else time < last[2])
        if meets and last is not None:
            last[2] = max(last[2], time + gap)
            last[3].append(value)
        else:
            sessions.append([key, time, time + gap, [value]])
    return {(key, start, end): values for key, start, end, values in sessions}


def standing(bench: Bench) -> dict[tuple[Any, ...], tuple[int, int]]:
    """The table that a changelog leaves behind."""
    windowed = "window_start" in bench.output.columns
    bounds = ["window_start", "window_end"] if windowed else []
    table = fold_changelog(bench.output, ["k", *bounds, "total", "different"])
    found = {}
    for row in table.iter_rows(named=True):
        times = [row[name] for name in bounds] or [None, None]
        span = [None if t is None else round(t.timestamp() * 1000) for t in times]
        group = (row["k"], *span)
        assert group not in found
        found[group] = (row["total"], row["different"])
    return found


def expected(window: Window | None, rows: Sequence[Row]) -> dict[tuple[Any, ...], tuple[int, int]]:
    groups = windows_of(window, rows)
    return {group: (sum(values), len(set(values))) for group, values in groups.items()}


@settings(max_examples=30, deadline=None)
@given(
    ROWS,
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
    st.sampled_from(WINDOWS),
    st.sampled_from(ENDLESS),
    st.booleans(),
    st.lists(st.sampled_from(("clock", "watermark", "")), min_size=1, max_size=5),
)
def test_the_folded_changelog_is_the_batch_answer(
    rows: list[Row],
    sizes: list[int],
    window: Window | None,
    trigger: Trigger,
    packed: bool,
    between: list[str],
) -> None:
    if window is None and needs_end(trigger):
        trigger = EACH_ROW
    how = Refinement("retracting")
    bench = Bench(window, trigger, how, 10**6, (SUM, DISTINCT), packed=packed)
    for number, batch in enumerate(cut(rows, sizes)):
        bench.rows(*batch, clock=number * 2)
        what = between[number % len(between)]
        if what == "clock":
            bench.clock(number * 2 + 1)
        elif what == "watermark":
            bench.watermark(number * 9 - 20)
    bench.end()
    assert standing(bench) == expected(window, rows)
    assert bench.state.rows == 0
    assert bench.counts.passed == len(rows)


@settings(max_examples=20, deadline=None)
@given(
    ROWS,
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
    st.sampled_from(WINDOWS),
    st.sampled_from(("discarding", "accumulating")),
)
def test_panes_add_up_or_the_last_one_counts(
    rows: list[Row], sizes: list[int], window: Window | None, mode: Mode
) -> None:
    bench = Bench(window, EACH_ROW, Refinement(mode), 10**6)
    for batch in cut(rows, sizes):
        bench.rows(*batch)
    bench.end()
    found: dict[tuple[Any, ...], int] = {}
    for pane in bench.panes():
        group = (pane.key, pane.window)
        found[group] = pane.value + (found.get(group, 0) if mode == "discarding" else 0)
    if isinstance(window, Session):
        # Sessions that became others had results too; those that are left must be right.
        expected_sums = {
            (key, (start, end)): sum(values)
            for (key, start, end), values in windows_of(window, rows).items()
        }
        if mode == "accumulating":
            assert expected_sums.items() <= found.items()
        else:
            assert sum(found.values()) == sum(value for _, value, _ in rows)
        return
    sums = defaultdict(int)
    for (key, start, end), values in windows_of(window, rows).items():
        sums[key, (start, end)] = sum(values)
    if window is None or isinstance(window, Global):
        none = None if window is None else (0, 0)
        sums = {(key, none): total for (key, _), total in sums.items()}  # type: ignore[assignment]
    assert found == sums


ANY_TRIGGER: Sequence[Trigger] = (
    *ENDLESS,
    AfterRows(3),
    Until(Repeat(AfterRows(2)), AfterRows(5)),
    InTurn((AfterRows(1), AfterRows(2), AfterWatermark())),
    AfterRow(POSITIVE),
    WhenClosed(),
)


def by_row(trigger: Trigger) -> bool:
    """Whether batches do not matter: it is asked after every row or not at all."""
    return trigger not in (DEFAULT, Repeat(Always()), Repeat(AfterRows(2, exact=False)))


@settings(max_examples=30, deadline=None)
@given(
    ROWS,
    st.integers(2, 6),
    st.sampled_from([window for window in WINDOWS if window is not None]),
    st.sampled_from([trigger for trigger in ANY_TRIGGER if by_row(trigger)]),
    st.sampled_from(("discarding", "accumulating", "retracting")),
    st.sampled_from(("end", "earliest", "latest")),
)
def test_a_batch_gives_the_panes_that_its_rows_give_one_by_one(
    rows: list[Row], size: int, window: Window, trigger: Trigger, mode: Mode, stamp: Stamp
) -> None:
    def panes(batch_size: int) -> tuple[list[Any], list[Any]]:
        bench = Bench(window, trigger, Refinement(mode, stamp=stamp), 15, (SUM, DISTINCT))
        for number in range(0, len(rows), size):
            for batch in cut(rows[number : number + size], [batch_size]):
                bench.rows(*batch)
            bench.clock(number * 2)
            bench.watermark(number * 3 - 20)
        bench.end()
        given = [row for frame in bench.outputs for row in frame.rows()]
        return sorted(map(repr, given)), sorted(bench.late_rows())

    whole, single = panes(size), panes(1)
    # Rows that are late alone may be saved by others of their batch.
    assert whole == single or (isinstance(window, Session) and whole[1] != single[1])


@settings(max_examples=30, deadline=None)
@given(ROWS, st.lists(st.integers(1, 6), min_size=1, max_size=4), st.booleans())
def test_windows_that_share_slices_give_what_others_give(
    rows: list[Row], sizes: list[int], packed: bool
) -> None:
    def run(trigger: Trigger) -> tuple[Any, ...]:
        bench = Bench(Hopping(ms(20), ms(5)), trigger, measures=(SUM, DISTINCT), packed=packed)
        for number, batch in enumerate(cut(rows, sizes)):
            bench.rows(*batch)
            bench.watermark(number * 9 - 20)
        bench.end()
        given = sorted(map(repr, bench.output.rows()))
        return given, sorted(bench.late_rows()), bench.counts

    assert run(DEFAULT) == run(Repeat(AfterWatermark()))


@st.composite
def changelogs(draw: st.DrawFn) -> tuple[list[tuple[str, int, int, int]], list[Row]]:
    """Rows that come and go, in any order, and those that are left."""
    rows = draw(ROWS)
    stays = draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    changes = [(*row, 1) for row in rows]
    changes += [(*row, -1) for row, stay in zip(rows, stays, strict=True) if not stay]
    left = [row for row, stay in zip(rows, stays, strict=True) if stay]
    return draw(st.permutations(changes)), left


@settings(max_examples=40, deadline=None)
@given(
    changelogs(),
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
    st.sampled_from(WINDOWS),
    st.sampled_from(ENDLESS),
    st.booleans(),
)
def test_rows_taken_back_leave_no_trace(
    changes: tuple[list[tuple[str, int, int, int]], list[Row]],
    sizes: list[int],
    window: Window | None,
    trigger: Trigger,
    packed: bool,
) -> None:
    if window is None and needs_end(trigger):
        trigger = EACH_ROW
    how = Refinement("retracting")
    measures = (SUM, DISTINCT)
    bench = Bench(window, trigger, how, 10**6, measures, packed=packed, changelog=True)
    for number, batch in enumerate(cut(changes[0], sizes)):  # type: ignore[arg-type]
        bench.rows(*batch, clock=number * 2)
        bench.watermark(number * 9 - 20)
    bench.end()
    assert standing(bench) == expected(window, changes[1])
    assert bench.state.rows == 0


@settings(max_examples=20, deadline=None)
@given(ROWS, st.lists(st.integers(1, 6), min_size=1, max_size=4), st.sampled_from(ENDLESS))
def test_sessions_are_cut_alike_however_their_rows_come(
    rows: list[Row], sizes: list[int], trigger: Trigger
) -> None:
    def table(order: list[Row], size: list[int]) -> dict[tuple[Any, ...], tuple[int, int]]:
        window = Session(ms(6), max_size=ms(15))
        bench = Bench(window, trigger, Refinement("retracting"), 10**6, (SUM, DISTINCT))
        for number, batch in enumerate(cut(order, size)):
            bench.rows(*batch, clock=number)
        bench.end()
        return standing(bench)

    assert table(rows, sizes) == table(sorted(rows), [len(rows)])
