from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any, get_args

import pyarrow as pa
import pytest

import penstock as ps
from penstock.clock import ManualClock
from penstock.errors import PenstockError, StateError
from penstock.inline.run import InlineOptions, InlineRun
from penstock.kernel.parcel import Parcel
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.model.job_settings import Guarantee
from penstock.model.physical import Physical

pytestmark = pytest.mark.slow

VIEWS = pa.schema([("user", pa.string()), ("n", pa.int64()), ("at", pa.int64())])
SCHEMA = {"user": "string", "n": "int64", "at": "int64"}
TO_THE_END = InlineOptions(until="end")


def publish(home: Path, rows: list[tuple[str, int, int]], *, topic: str = "views") -> None:
    with open_log(home) as log:
        if topic not in log.topics():
            log.create_topic(topic, schema=VIEWS)
        columns = [pa.array([row[number] for row in rows]) for number in range(3)]
        log.append(topic, 0, pa.Table.from_arrays(columns, schema=VIEWS))


def written(home: Path, topic: str) -> list[dict[str, Any]]:
    with open_log(home) as log:
        rows = [
            row
            for partition in range(log.topic(topic).partitions)
            for row in log.read(topic, partition, 0, ReadLimit()).rows.to_pylist()
        ]
    return [{name: value for name, value in row.items() if name[0] != "_"} for row in rows]


def totals() -> Physical:
    app = ps.App("totals")
    views = app.stream("views", schema=SCHEMA, event_time="at", max_ahead=None)
    views.group_by("user").agg(total=ps.sum("n")).to("out")
    return app.physical()


def histogram(count: Callable[[dict[str, Any]], dict[str, Any]] | None = None) -> Physical:
    app = ps.App("histogram")
    views = app.stream("views", schema=SCHEMA, event_time="at", max_ahead=None)
    if count is not None:
        views = views.map(count, schema=SCHEMA)
    by_user = views.group_by("user").refine(ps.retracting()).agg(n=ps.count())
    by_user.group_by("n").refine(ps.retracting()).agg(users=ps.count()).to("out")
    return app.physical()


def run(physical: Physical, home: Path, options: InlineOptions = TO_THE_END) -> InlineRun:
    started = InlineRun(physical, home=home, checkpoint=home / "job", options=options)
    started.run()
    return started


def test_every_event_gives_its_result_before_the_next_one(tmp_path: Path) -> None:
    publish(tmp_path, [("a", 1, 0), ("a", 2, 1), ("b", 5, 2), ("a", 4, 3)])
    run(totals(), tmp_path)
    assert [(row["user"], row["total"]) for row in written(tmp_path, "out")] == [
        ("a", 1),
        ("a", 3),
        ("b", 5),
        ("a", 7),
    ]


@pytest.mark.parametrize("guarantee", get_args(Guarantee))
def test_a_second_run_goes_on_where_the_first_ended(tmp_path: Path, guarantee: Guarantee) -> None:
    options = InlineOptions(until="caught up", guarantee=guarantee)
    publish(tmp_path, [("a", 1, 0)])
    run(totals(), tmp_path, options)
    publish(tmp_path, [("a", 2, 1)])
    run(totals(), tmp_path, options)
    assert [row["total"] for row in written(tmp_path, "out")] == [1, 3]


def test_with_exactly_once_a_failure_leaves_no_half_results(tmp_path: Path) -> None:
    publish(tmp_path, [("a", 1, 0), ("a", 2, 1), ("a", 3, 2)])
    broken = InlineRun(
        totals(),
        home=tmp_path,
        checkpoint=tmp_path / "job",
        options=InlineOptions(until="end", guarantee="exactly-once"),
    )
    seen = broken._append
    appended: list[object] = []

    def fails(parcel: Parcel, clock: int) -> None:
        appended.append(parcel)
        if len(appended) == 3:
            raise OSError("the disk is gone")
        seen(parcel, clock)

    broken._append = fails  # type: ignore[method-assign]
    with pytest.raises(PenstockError, match="INLINE_FAILED"):
        broken.run()
    assert written(tmp_path, "out") == []
    run(totals(), tmp_path, InlineOptions(until="end", guarantee="exactly-once"))
    assert [row["total"] for row in written(tmp_path, "out")] == [1, 3, 6]


def test_a_chain_of_retracting_aggregates_is_right_after_every_event(tmp_path: Path) -> None:
    publish(tmp_path, [(user, 1, 0) for user in "aabbbc"])
    run(histogram(), tmp_path)
    with open_log(tmp_path) as log:
        rows = log.read("out", 0, 0, ReadLimit()).rows.to_pylist()
    table: dict[tuple[int, int], int] = {}
    for row in rows:
        key = (row["n"], row["users"])
        table[key] = table.get(key, 0) + row["_weight"]
    assert {key for key, weight in table.items() if weight} == {(1, 1), (2, 1), (3, 1)}
    assert set(table.values()) <= {0, 1}


def test_a_stage_works_on_an_event_while_the_one_before_it_works_on_the_next(
    tmp_path: Path,
) -> None:
    publish(tmp_path, [(f"u{number % 7}", 1, number) for number in range(60)])
    done = run(histogram(), tmp_path, InlineOptions(until="end", trace=True))
    spans = done.spans()
    first, second = (level.name for level in done._levels)
    overlapping = [
        (one.item, other.item)
        for one in spans
        for other in spans
        if one.stage == second
        and other.stage == first
        and one.item < other.item
        and one.began < other.ended
        and other.began < one.ended
    ]
    assert overlapping


def test_processing_time_fires_although_no_event_comes(tmp_path: Path) -> None:
    publish(tmp_path, [("a", 1, 0)])
    app = ps.App("waiting")
    views = app.stream("views", schema=SCHEMA, event_time="at", max_ahead=None)
    views.group_by("user").window(ps.global_window()).trigger(ps.after("50ms")).agg(
        total=ps.sum("n")
    ).to("out")
    started = InlineRun(app.physical(), home=tmp_path, checkpoint=tmp_path / "job")
    thread = Thread(target=started.run)
    thread.start()
    with open_log(tmp_path) as log:
        assert log.wait({ps.TopicPartition("out", 0): 0}, 20.0)
    started.stop()
    thread.join()
    assert [row["total"] for row in written(tmp_path, "out")] == [1]


def test_an_error_of_the_program_ends_the_run_with_its_code(tmp_path: Path) -> None:
    publish(tmp_path, [("a", 1, 0)])
    app = ps.App("strict")
    views = app.stream("views", schema=SCHEMA, event_time="at", max_ahead=None)
    views.expect("large", ps.col("n") > 10, otherwise="fail").to("out")
    with pytest.raises(PenstockError, match="EXPECTATION_FAILED"):
        run(app.physical(), tmp_path)


def test_a_snapshot_that_is_damaged_is_refused(tmp_path: Path) -> None:
    publish(tmp_path, [("a", 1, 0)])
    run(totals(), tmp_path)
    (kept,) = (tmp_path / "job" / "inline").glob("memory-*")
    kept.write_bytes(b"\x05\x00")
    with pytest.raises(StateError, match="SNAPSHOT_BROKEN"):
        run(totals(), tmp_path)


def test_a_clock_that_is_set_back_stands_still(tmp_path: Path) -> None:
    publish(tmp_path, [("a", 1, 0), ("a", 2, 1)])
    clock = ManualClock(1_000_000)
    run_ = InlineRun(
        totals(), home=tmp_path, checkpoint=tmp_path / "job", options=TO_THE_END, clock=clock
    )
    clock.advance(-500_000)
    run_.run()
    assert run_._intake.time.clock == 1_000_000


def test_what_came_last_becomes_visible_though_nothing_comes_after_it(tmp_path: Path) -> None:
    publish(tmp_path, [("a", 1, 0)])
    options = InlineOptions(guarantee="exactly-once", snapshot_every=0.05)
    started = InlineRun(totals(), home=tmp_path, checkpoint=tmp_path / "job", options=options)
    thread = Thread(target=started.run)
    thread.start()
    with open_log(tmp_path) as log:
        assert log.wait({ps.TopicPartition("out", 0): 0}, 20.0)
    started.stop()
    thread.join()
    assert [row["total"] for row in written(tmp_path, "out")] == [1]
