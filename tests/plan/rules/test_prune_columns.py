from __future__ import annotations

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.measure import Measure
from penstock.model.plan import Plan, Sink
from penstock.model.stateless import Apply, Expect, Filter, Rekey, Restamp, Union
from penstock.model.top_n import TopN
from penstock.model.trigger import AfterRow, Repeat
from penstock.model.window import (
    Buffered,
    ByCount,
    ByDelta,
    ByPunctuation,
    Custom,
    Session,
    Tumbling,
)
from penstock.plan.planner import plan
from penstock.plan.rules.prune_columns import prune_columns
from tests.plan.programs import (
    COLUMNS,
    MINUTE,
    a_stream,
    above,
    call,
    col,
    count_by,
    lit,
    program,
    running_sum,
    select,
)


def columns_read(program: Plan) -> tuple[str, ...]:
    (scan,) = plan(program).scans
    return scan.columns


def test_only_the_columns_that_some_step_reads_are_read() -> None:
    seen = Filter(a_stream(), call("eq", col("page"), lit("/")))
    assert columns_read(program(count_by(seen, "user"))) == ("user", "page")


def test_what_is_written_keeps_all_its_columns_and_their_order() -> None:
    for relation in (
        a_stream(),
        Filter(a_stream(), above("n", 1)),
        select(a_stream(), "page", "user"),
        Dedup(a_stream(), ("user",)),
        count_by(a_stream(), "user"),
    ):
        (sink,) = prune_columns(program(relation)).sinks
        assert sink.relation.schema == relation.schema


def test_code_of_the_user_may_read_any_column() -> None:
    mapped = Apply(a_stream(), "f", lambda row: row, "map", COLUMNS)
    assert columns_read(program(count_by(mapped, "user"))) == COLUMNS.names
    custom = Custom("mine", lambda time, _: [(time, time + 1)])
    by_window = Aggregate(a_stream(), (), (Measure("rows", "count"),), custom)
    assert columns_read(program(by_window)) == COLUMNS.names


def test_a_row_to_be_parked_is_kept_whole_and_one_to_be_dropped_is_not() -> None:
    parked = Expect(a_stream(), "some", above("n", 0), "park")
    assert columns_read(program(count_by(parked, "user"))) == COLUMNS.names
    dropped = Expect(a_stream(), "some", above("n", 0), "drop")
    assert columns_read(program(count_by(dropped, "user"))) == ("user", "n")


def test_late_rows_are_whole_where_the_user_named_their_topic() -> None:
    counted = count_by(a_stream(), "user")
    assert columns_read(Plan("p", (Sink(counted, "out"),))) == ("user",)
    assert columns_read(Plan("p", (Sink(counted, "out", late=None),))) == ("user",)
    assert columns_read(Plan("p", (Sink(counted, "out", late="tardy"),))) == COLUMNS.names


def test_keys_times_and_orders_are_read() -> None:
    best = TopN(Rekey(Restamp(a_stream(), "at"), ("page",)), ("region",), "n", 3)
    assert columns_read(program(running_sum(best, "n"))) == ("region", "page", "n", "at")


def test_copies_without_a_key_are_alike_in_all_columns() -> None:
    assert columns_read(program(running_sum(Dedup(a_stream(), ()), "n"))) == COLUMNS.names
    assert columns_read(program(running_sum(Dedup(a_stream(), ("user",)), "n"))) == ("user", "n")


def test_windows_and_triggers_read_columns_too() -> None:
    rows = (Measure("rows", "count"),)
    by_gap = Aggregate(a_stream(), (), rows, Session(col("n")))
    assert columns_read(program(by_gap)) == ("n",)
    asked = Repeat(AfterRow(call("eq", col("page"), lit("/"))))
    by_row = Aggregate(a_stream(), (), rows, Tumbling(MINUTE), asked)
    assert columns_read(program(by_row)) == ("page",)
    by_delta = Aggregate(
        a_stream(), (), rows, Buffered("sliding", ByDelta("n", 2), ByPunctuation(above("n", 1)))
    )
    assert columns_read(program(by_delta)) == ("n",)


def test_rows_of_which_nothing_is_read_are_still_counted() -> None:
    rows = (Measure("rows", "count"),)
    assert columns_read(program(Aggregate(a_stream(), (), rows))) == ("at",)
    timeless = a_stream(event_time=None)
    assert columns_read(program(Aggregate(timeless, (), rows))) == ("user",)
    buffered = Buffered("tumbling", ByCount(3))
    through = Filter(Filter(timeless, lit(None)), lit(None))
    assert columns_read(program(Aggregate(through, (), rows, buffered))) == ("user",)


def test_the_streams_of_a_union_are_narrowed_alike() -> None:
    one = Apply(a_stream("one"), "f", lambda row: row, "map", COLUMNS)
    other = Filter(a_stream("other"), above("n", 1))
    physical = plan(program(count_by(Union((one, other)), "user")))
    assert [scan.columns for scan in physical.scans] == [COLUMNS.names, ("user", "n")]
    (keyed,) = physical.operators
    assert keyed.relation.inputs[0].schema.names == ("user",)


def test_a_stream_read_twice_gives_what_both_need() -> None:
    stream = a_stream()
    assert columns_read(program(count_by(stream, "user"), running_sum(stream, "n"))) == (
        "user",
        "n",
    )


def test_a_column_that_nothing_reads_is_not_computed() -> None:
    made = select(a_stream(), "user", more=call("add", col("n"), lit(1)))
    assert columns_read(program(count_by(made, "user"))) == ("user",)
