from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from penstock.kernel.batch import READ, Arrival, Input, Memory, run_batch
from penstock.kernel.port import START_OF_TIME, Frame, Time
from penstock.kernel.program import Program
from penstock.kernel.watermark import Watermarks
from penstock.model.physical import Settings
from penstock.plan.planner import plan
from penstock.testing.inline import inline_plan

STREAM = {"columns": {"k": "string", "n": "int64", "at": "int64"}, "event_time": "at"}
SUMS: Mapping[str, object] = {
    "from": "in",
    "group_by": ["k"],
    "window": {"tumbling": "1s"},
    "measures": {"n": "sum(n)"},
}
BEST = {"from": "sums", "top_n": {"keys": [], "by": "n", "n": 1}}


def a_program(**sums: object) -> Program:
    described = {"streams": {"in": STREAM}, "outputs": {"sums": {**SUMS, **sums}, "best": BEST}}
    return Program(plan(inline_plan("p", described, "here"), Settings(buckets=4)))


def begin(program: Program) -> Memory:
    return Memory(Watermarks.start(program.physical.scans, 0), Time(START_OF_TIME, 0))


def arrival(*rows: tuple[str, int, int], partition: int = 0) -> Arrival:
    schema = {"k": pl.String, "n": pl.Int64, "at": pl.Int64}
    frame: Frame = pl.DataFrame(list(rows), schema=schema, orient="row")
    return Arrival(("scan-in", partition), frame.with_columns(_taken=pl.lit(0, pl.Int64)))


def test_a_batch_goes_through_all_levels_at_once() -> None:
    program = a_program()
    steps: list[str] = []
    rows = [arrival(("a", 1, 0), ("b", 2, 10), ("c", 0, 1_000))]
    done = run_batch(program, begin(program), Input(5, rows), steps.append)
    assert steps == [READ, "agg-1", "top-1"]
    assert {parcel.target for parcel in done.parcels} == {"out-sums", "out-best"}
    assert done.memory.time == Time(1_000, 5)


def test_the_same_batch_can_be_done_again() -> None:
    program = a_program()
    first = run_batch(program, begin(program), Input(0, [arrival(("a", 1, 0))])).memory
    kept = dict(first.states)
    again = [run_batch(program, first, Input(0, [arrival(("a", 1, 2_000))])) for _ in range(2)]
    assert first.states == kept
    one, two = ([p.frame.rows() for p in done.parcels] for done in again)
    assert one == two
    assert one


def test_a_bucket_without_rows_is_not_kept() -> None:
    program = a_program()
    memory = run_batch(program, begin(program), Input(0, [arrival(("a", 1, 0))])).memory
    assert {place[0] for place in memory.states} == {"agg-1"}
    memory = run_batch(program, memory, Input(0, [arrival(("b", 1, 9_000))])).memory
    assert {place for place in memory.states if place[0] == "agg-1"} != set()
    ended = run_batch(program, memory, Input(0, claims={("scan-in", 0): 20_000})).memory
    assert [place for place in ended.states if place[0] == "agg-1"] == []


def test_a_bucket_that_was_empty_knows_what_time_it_is() -> None:
    program = a_program()
    memory = run_batch(program, begin(program), Input(0, [arrival(("a", 1, 5_000))])).memory
    done = run_batch(program, memory, Input(0, [arrival(*((k, 1, 0) for k in "bcdefgh"))]))
    assert done.counts["agg-1"].late == 7


def test_nothing_is_stepped_where_neither_rows_nor_time_have_come() -> None:
    program = a_program()
    memory = run_batch(program, begin(program), Input(0, [arrival(("a", 1, 0))])).memory
    done = run_batch(program, memory, Input(0))
    assert done.counts == {}
    assert done.memory.states == memory.states


def test_two_pieces_of_a_partition_claim_the_later_watermark() -> None:
    program = a_program()
    rows = [
        arrival(("a", 1, 3_000)),
        arrival(("a", 1, 2_000)),
        arrival(("b", 1, 2_500), partition=1),
    ]
    done = run_batch(program, begin(program), Input(0, rows))
    assert done.memory.time.watermark == 2_500


def test_where_rows_are_not_heard_only_claims_move_the_watermark() -> None:
    program = a_program()
    rows = [arrival(("a", 1, 3_000))]
    done = run_batch(program, begin(program), Input(0, rows, heard=False))
    assert done.memory.time.watermark == START_OF_TIME
    done = run_batch(program, begin(program), Input(0, rows, {("scan-in", 0): 7}, heard=False))
    assert done.memory.time.watermark == 7


def test_the_memory_says_when_it_wants_to_be_woken() -> None:
    program = a_program(trigger={"every": "10s"})
    memory = begin(program)
    assert memory.wake_at is None
    memory = run_batch(program, memory, Input(3, [arrival(("a", 1, 0))])).memory
    assert memory.wake_at == 10_003
    done = run_batch(program, memory, Input(10_003))
    assert done.memory.wake_at is None
    assert done.parcels[0].target == "out-sums"
