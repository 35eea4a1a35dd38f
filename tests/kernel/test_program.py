from __future__ import annotations

import pickle
from collections.abc import Sequence

import polars as pl
import pytest

from penstock.kernel.parcel import NO_BUCKET, Parcel, Worked
from penstock.kernel.port import START_OF_TIME, Counts, Frame, State, Time
from penstock.kernel.program import Program
from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.expr import Call, Column, Literal
from penstock.model.measure import Measure
from penstock.model.physical import Settings
from penstock.model.plan import Plan, Sink
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Expect, Filter, Named, Project, Union
from penstock.plan.planner import plan
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, STRING

COLUMNS = Schema((Field("key", STRING), Field("n", INT64), Field("at", INT64)))


def a_stream(topic: str = "in") -> Stream:
    return Stream(topic, COLUMNS, "at")


def above(limit: int, source: Relation) -> Filter:
    return Filter(source, Call("gt", (Column("n"), Literal(limit))))


def program_of(
    *relations: Relation, settings: Settings | None = None, **sink: str | None
) -> Program:
    sinks = tuple(
        Sink(relation, f"out{number}", **sink)  # type: ignore[arg-type]
        for number, relation in enumerate(relations)
    )
    return Program(plan(Plan("p", sinks), settings or Settings(buckets=4)))


def rows(*given: tuple[str, int, int | None], raw: bool = False) -> Frame:
    schema = {"key": pl.String, "n": pl.Int64, "at": pl.Int64}
    frame = pl.DataFrame(list(given), schema=schema, orient="row")
    if raw:
        return frame.with_columns(_taken=pl.lit(0, pl.Int64))
    return frame.with_columns(
        _weight=pl.lit(1, pl.Int32), _time=pl.col("at"), _taken=pl.lit(0, pl.Int64)
    )


def many(count: int) -> Frame:
    return rows(*((f"k{n % 17}", n, n) for n in range(count)))


def targets(worked: Worked) -> list[tuple[str, int]]:
    return [(parcel.target, parcel.bucket) for parcel in worked.parcels]


def work_all(program: Program, keyed: str, parcels: Sequence[Parcel], time: Time) -> list[Worked]:
    return [
        program.work(keyed, State(), [parcel.frame], time)
        for parcel in parcels
        if parcel.target == keyed
    ]


def test_rows_for_an_output_need_no_bucket() -> None:
    worked = program_of(above(1, a_stream())).read("scan-in", rows(("a", 1, 0), ("b", 2, 0)))
    assert targets(worked) == [("out-out0", NO_BUCKET)]
    assert worked.parcels[0].frame["key"].to_list() == ["b"]
    assert worked.counts["scan-in->out-out0.0"] == Counts(taken=2, passed=1, filtered=1, given=1)


def test_rows_for_a_keyed_operator_are_split_by_the_bucket_of_their_key() -> None:
    program = program_of(Dedup(a_stream(), ("key",)))
    worked = program.read("scan-in", many(100), START_OF_TIME)
    assert {parcel.target for parcel in worked.parcels} == {"dedup-1"}
    buckets = [parcel.bucket for parcel in worked.parcels]
    assert buckets == sorted(set(buckets))
    assert set(buckets) <= set(range(4))
    homes: dict[str, set[int]] = {}
    for parcel in worked.parcels:
        for key in parcel.frame["key"].unique():
            homes.setdefault(key, set()).add(parcel.bucket)
    assert len(homes) == 17
    assert all(len(found) == 1 for found in homes.values())


def test_no_rows_are_no_parcels() -> None:
    program = program_of(Dedup(a_stream(), ("key",)))
    assert program.read("scan-in", many(0)).parcels == ()


def test_the_results_of_a_step_go_through_the_chains_after_it() -> None:
    program = program_of(above(1, Dedup(a_stream(), ("key",))), settings=Settings(buckets=1))
    read = program.read("scan-in", rows(("a", 1, 0), ("b", 2, 0), ("b", 3, 1)))
    (done,) = work_all(program, "dedup-1", read.parcels, Time(0, 0))
    assert targets(done) == [("out-out0", NO_BUCKET)]
    assert done.parcels[0].frame["n"].to_list() == [2]
    assert done.counts["dedup-1"].taken == 3
    assert done.counts["dedup-1->out-out0.0"].filtered == 1
    assert done.state is not None
    again = program.work("dedup-1", done.state, [rows(("b", 9, 2))], Time(0, 0))
    assert again.parcels == ()


def test_one_stream_feeds_several_targets() -> None:
    stream = a_stream()
    program = program_of(stream, Dedup(stream, ("key",)), settings=Settings(buckets=1))
    assert sorted(targets(program.read("scan-in", rows(("a", 1, 0))))) == [
        ("dedup-1", 0),
        ("out-out0", NO_BUCKET),
    ]


def test_deltas_are_taken_in_the_order_given() -> None:
    program = program_of(Dedup(a_stream(), ("key",)), settings=Settings(buckets=1))
    deltas = [rows(("a", 1, 0)), rows(), rows(("a", 2, 0), ("b", 3, 0))]
    done = program.work("dedup-1", State(), deltas, Time(0, 0))
    assert done.parcels[0].frame["n"].to_list() == [1, 3]


def test_no_deltas_let_time_pass() -> None:
    program = program_of(Dedup(a_stream(), ("key",)))
    done = program.work("dedup-1", State(), [], Time(5, 7))
    assert done.parcels == ()
    assert done.state is not None
    assert done.state.time == Time(5, 7)


def test_streams_of_a_union_reach_the_same_operator() -> None:
    one, two = a_stream("one"), a_stream("two")
    program = program_of(Dedup(Union((above(1, one), two)), ("key",)), settings=Settings(buckets=1))
    parcels = [
        *program.read("scan-one", rows(("a", 1, 0), ("b", 2, 0))).parcels,
        *program.read("scan-two", rows(("b", 3, 0), ("c", 1, 0))).parcels,
    ]
    deltas = [parcel.frame for parcel in parcels]
    done = program.work("dedup-1", State(), deltas, Time(0, 0))
    assert done.parcels[0].frame["n"].to_list() == [2, 1]


def test_dead_letters_go_beside_the_first_output_after_their_step() -> None:
    hopeful = Expect(a_stream(), "positive", Call("gt", (Column("n"), Literal(0))))
    kept = above(5, Dedup(hopeful, ("key",)))
    worked = program_of(kept).read("scan-in", rows(("a", -1, 0)))
    assert targets(worked) == [("dead:out-out0", NO_BUCKET)]
    assert worked.parcels[0].frame["row"].to_list() == ['{"key":"a","n":-1,"at":0}']
    none = program_of(kept, dead=None).read("scan-in", rows(("a", -1, 0)))
    assert none.parcels == ()
    assert sum(counts.dead for counts in none.counts.values()) == 1


def test_rows_as_the_log_has_them_are_stamped_and_parked_or_read() -> None:
    program = program_of(Project(a_stream(), (Named("n", Column("n")),)))
    taken = program.take("scan-in", rows(("a", 1, 7), ("b", 2, None), raw=True), START_OF_TIME, 9)
    assert targets(taken.worked) == [("dead:out-out0", NO_BUCKET), ("out-out0", NO_BUCKET)]
    assert taken.worked.parcels[1].frame.columns == ["n", "_weight", "_time", "_taken"]
    assert taken.worked.parcels[1].frame["_time"].to_list() == [7]
    assert taken.worked.counts["scan-in"] == Counts(taken=2, passed=1, dead=1, given=1)
    assert taken.candidate == 7
    assert taken.skew.most == 2


def test_rows_folded_before_the_exchange_give_the_same_results() -> None:
    summed = Aggregate(a_stream(), ("key",), (Measure("total", "sum", (Column("n"),)),))
    found = []
    for preaggregate in (True, False):
        program = program_of(summed, settings=Settings(buckets=3, preaggregate=preaggregate))
        read = program.read("scan-in", many(100))
        done = work_all(program, "agg-1", read.parcels, Time(50, 0))
        frames = [parcel.frame for worked in done for parcel in worked.parcels]
        totals = pl.concat(frames, how="diagonal").select("key", "total").unique("key", keep="last")
        found.append(sorted(totals.rows()))
    assert found[0] == found[1]
    assert len(found[0]) == 17


def test_a_program_travels_by_pickle_and_works_there() -> None:
    program = program_of(Dedup(a_stream(), ("key",)))
    program.operator("dedup-1")
    copy = pickle.loads(pickle.dumps(program))
    here, there = (p.read("scan-in", many(20)) for p in (program, copy))
    assert targets(here) == targets(there)


def test_a_step_that_loses_count_of_its_rows_is_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of(Dedup(a_stream(), ("key",)))
    monkeypatch.setattr(Counts, "balanced", property(lambda _: False))
    with pytest.raises(AssertionError, match="lost count"):
        program.work("dedup-1", State(), [], Time(0, 0))
