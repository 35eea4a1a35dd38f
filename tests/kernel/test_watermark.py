from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.kernel.port import END_OF_TIME, START_OF_TIME
from penstock.kernel.watermark import (
    NOWHERE,
    Watermarks,
    advance,
    explain,
    explain_text,
    time_text,
)
from penstock.model.physical import Scan
from penstock.model.source import Stream
from penstock.model.watermark import BoundedDisorder
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64

IDLE = 60_000


def a_scan(name: str, idle: timedelta | None = timedelta(minutes=1)) -> Scan:
    columns = Schema((Field("at", INT64),))
    stream = Stream(name, columns, "at", BoundedDisorder(idle=idle))
    return Scan(name, stream, (), ("at",))


def two_scans() -> Watermarks:
    return Watermarks.start((a_scan("a"), a_scan("b")), 0)


def test_nothing_is_known_before_the_first_row() -> None:
    assert two_scans().current(0) == START_OF_TIME


def test_the_slowest_partition_counts() -> None:
    marks = advance(two_scans(), {("a", 0): 10, ("a", 1): 7, ("b", 0): 9}, 5)
    assert marks.reached == 7
    assert advance(marks, {("a", 1): 12}, 6).reached == 9


def test_a_scan_that_has_brought_nothing_holds_the_others() -> None:
    assert advance(two_scans(), {("a", 0): 10}, 5).reached == START_OF_TIME


def test_a_silent_scan_is_left_out_when_it_has_been_idle_since_the_start() -> None:
    marks = advance(two_scans(), {("a", 0): 10}, IDLE - 1)
    assert marks.reached == START_OF_TIME
    assert marks.wake_at(IDLE - 1) == IDLE
    assert advance(marks, {}, IDLE).reached == 10


def test_an_idle_partition_is_left_out_until_it_brings_rows_again() -> None:
    marks = advance(two_scans(), {("a", 0): 10, ("b", 0): 3}, 0)
    marks = advance(marks, {("a", 0): 20}, IDLE - 1)
    assert marks.reached == 3
    marks = advance(marks, {}, IDLE)
    assert marks.reached == 20
    marks = advance(marks, {("b", 0): 5}, IDLE)
    assert marks.reached == 20  # it never goes back
    assert advance(marks, {("a", 0): 40}, IDLE).reached == 20
    assert advance(marks, {("a", 0): 40, ("b", 0): 30}, IDLE).reached == 30


def test_the_watermark_stays_when_all_are_idle() -> None:
    marks = advance(two_scans(), {("a", 0): 10, ("b", 0): 3}, 0)
    assert marks.wake_at(0) is None
    assert advance(marks, {}, 10 * IDLE).reached == 3


def test_a_source_that_is_never_idle_is_waited_for() -> None:
    marks = Watermarks.start((a_scan("a"), a_scan("b", idle=None)), 0)
    marks = advance(marks, {("a", 0): 10}, 0)
    assert marks.wake_at(0) is None
    assert advance(marks, {("a", 0): 11}, 100 * IDLE).reached == START_OF_TIME


def test_rows_that_say_nothing_keep_a_partition_awake() -> None:
    marks = advance(two_scans(), {("a", 0): None, ("b", 0): 3}, 0)
    assert marks.reached == START_OF_TIME
    marks = advance(marks, {("a", 0): None}, IDLE - 1)
    assert advance(marks, {("b", 0): 9}, IDLE).reached == START_OF_TIME


def test_the_end_of_a_source_does_not_become_idle() -> None:
    marks = advance(two_scans(), {("a", 0): END_OF_TIME, ("b", 0): END_OF_TIME}, 0)
    assert marks.reached == END_OF_TIME
    assert marks.wake_at(0) is None


def test_a_clock_set_back_does_not_make_a_partition_idle_sooner() -> None:
    marks = advance(two_scans(), {("a", 0): 1, ("b", 0): 1}, 1000)
    marks = advance(marks, {("a", 0): 2, ("b", 0): 2}, 0)
    assert marks.marks["a", 0].active_at == 1000


def test_watermarks_are_stored_as_a_table_and_read_back() -> None:
    scans = (a_scan("a"), a_scan("b"))
    marks = advance(Watermarks.start(scans, 4), {("a", 0): 10, ("b", 3): None}, 7)
    assert Watermarks.from_frame(scans, marks.to_frame()) == marks
    only_a = Watermarks.from_frame(scans[:1], marks.to_frame())
    assert set(only_a.marks) == {("a", 0)}


def test_it_is_explained_which_partition_holds_the_watermark_and_since_when() -> None:
    marks = advance(two_scans(), {("a", 0): 10_000, ("a", 1): 7_000}, 1_000)
    rows = explain(marks, 1_000).to_dicts()
    assert [row["partition"] for row in rows if row["holds"]] == [NOWHERE]
    marks = advance(marks, {("b", 0): 9_000}, 2_000)
    assert explain_text(marks, 2_000).splitlines() == [
        "watermark 1970-01-01 00:00:07.000",
        "  a[0]: 1970-01-01 00:00:10.000 since 1970-01-01 00:00:01.000",
        "  a[1]: 1970-01-01 00:00:07.000 since 1970-01-01 00:00:01.000, holds",
        "  b[0]: 1970-01-01 00:00:09.000 since 1970-01-01 00:00:02.000",
    ]
    marks = advance(marks, {("b", 0): 9_500}, 1_000 + IDLE)
    assert "  a[1]: 1970-01-01 00:00:07.000 since 1970-01-01 00:00:01.000, idle" in explain_text(
        marks, 1_000 + IDLE
    )
    assert "b: no row yet, holds" in explain_text(two_scans(), 0)


@pytest.mark.parametrize(
    ("time", "text"),
    [(START_OF_TIME, "start"), (END_OF_TIME, "end"), (2**60, str(2**60))],
)
def test_times_without_a_date_are_written_by_name_or_number(time: int, text: str) -> None:
    assert time_text(time) == text
