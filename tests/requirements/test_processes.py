"""State and processes of the user's own (D13, D14, D26, D27, E01, E02, E18)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
from typing_extensions import override

import penstock as ps
from penstock.front.dsl.stream import Stream
from tests.requirements.events import Row, disordered, driver, event, guided

COUNT = {"k": str, "count": int}
ROWS = [event(n, n, "abc"[n * n % 3]) for n in range(40)]


class Counter(ps.Processor[Any]):
    """Counts the rows of a key, as anybody would by hand."""

    count = ps.value_state(int, default=0)

    @override
    def process(self, row: Row, ctx: ps.Context) -> Iterator[Row]:
        self.count.value += 1
        yield {"k": ctx.key, "count": self.count.value}


# E01
def test_every_event_is_passed_to_a_class_of_the_users_with_state_and_time() -> None:
    seen: list[tuple[Any, ...]] = []

    class Everything(Counter):
        @override
        def process(self, row: Row, ctx: ps.Context) -> Any:
            yield from super().process(row, ctx)
            seen.append((row["v"], ctx.key, ctx.time, self.count.value))

    run = driver(lambda stream: stream.group_by("k").process(Everything, schema=COUNT))
    run.push("events", [event(1, 10), event(2, 20, "b"), event(3, 30)])
    assert sorted(seen) == [(10, "a", 1000, 1), (20, "b", 2000, 1), (30, "a", 3000, 2)]
    assert [row["count"] for row in run.rows("out") if row["k"] == "a"] == [1, 2]


# E02
def test_a_declared_count_gives_what_the_one_by_hand_gives() -> None:
    def by_hand(stream: Stream) -> Stream:
        return stream.group_by("k").process(Counter, schema=COUNT)

    def declared(stream: Stream) -> Stream:
        return stream.group_by("k").trigger(ps.each_row()).count()

    found = []
    for describe in (by_hand, declared):
        run = driver(describe)
        for start in range(0, len(ROWS), 7):
            run.push("events", ROWS[start : start + 7])
        run.finish()
        found.append(sorted((row["k"], row["count"]) for row in run.rows("out")))
    assert found[0] == found[1]
    assert found[0][-1][0] == "b"


# D13
def test_a_task_that_remembers_fires_only_on_both_events() -> None:
    class Fraud(ps.Processor[Any]):
        """A small payment and then a large one within a minute."""

        small = ps.value_state(int, ttl="1 minute")

        @override
        def process(self, row: Row, ctx: ps.Context) -> Row | None:
            if row["v"] > 500 and self.small.value is not None:
                return {"k": ctx.key, "count": row["v"]}
            if row["v"] < 10:
                self.small.value = row["v"]
            return None

    def alarms(*rows: Row) -> list[int]:
        run = driver(lambda stream: stream.group_by("k").process(Fraud, schema=COUNT))
        for row in rows:
            run.push("events", [row])
        return [row["count"] for row in run.rows("out")]

    assert alarms(event(0, 5)) == []
    assert alarms(event(0, 600)) == []
    assert alarms(event(0, 5), event(59, 600)) == [600]
    assert alarms(event(0, 600), event(1, 5)) == []
    assert alarms(event(0, 5, "a"), event(1, 600, "b")) == []
    assert alarms(event(0, 5), event(60, 600)) == []


# D14
def test_the_state_shows_a_synopsis_of_all_rows_or_the_recent_ones_in_a_buffer() -> None:
    class Summary(ps.Processor[Any]):
        total = ps.value_state(int, default=0)
        largest = ps.value_state(int)
        recent = ps.list_state(int)

        @override
        def process(self, row: Row, ctx: ps.Context) -> None:
            self.total.value += row["v"]
            self.largest.value = max(self.largest.value or 0, row["v"])
            self.recent.append(row["v"])
            del self.recent[:-3]

    run = driver(lambda stream: stream.group_by("k").process(Summary, schema=COUNT))
    for n in range(10):
        run.push("events", [event(n, n)])
    state = run.state("process-1")
    assert state["total"].to_dicts() == [{"k": "a", "value": 45}]
    assert state["largest"].to_dicts() == [{"k": "a", "value": 9}]
    assert state["recent"].to_dicts() == [{"k": "a", "value": [7, 8, 9]}]


# D26
def test_windows_joins_and_processes_keep_their_state_in_one_way() -> None:
    def all_three(stream: Stream) -> Stream:
        counted = stream.group_by("k").process(Counter, schema={**COUNT})
        joined = counted.join(stream, on="k", within="1 minute")
        return joined.group_by("k").window(ps.tumbling("1 hour")).agg(n=ps.count())

    run = guided(all_three)
    run.push("events", [event(1), event(2, 1, "b")])
    for operator in ("process-1", "join-1", "agg-1"):
        tables = run.state(operator)
        assert tables, operator
        assert all(isinstance(table, pl.DataFrame) and table.height for table in tables.values())
    stored = run.snapshot()
    run.push("events", [event(3)])
    again = {name: run.state(name) for name in ("process-1", "join-1", "agg-1")}
    run.restore(stored)
    run.push("events", [event(3)])
    for operator, tables in again.items():
        for name, table in run.state(operator).items():
            assert table.equals(tables[name]), (operator, name)


# D27
def test_a_function_of_the_users_gets_puts_and_waits_by_key() -> None:
    class Sessions(ps.Processor[Any]):
        """A session of each key, closed ten seconds after its last row."""

        in_order = True
        pages = ps.map_state(str, int)
        opened = ps.value_state(int)

        @override
        def process(self, row: Row, ctx: ps.Context) -> None:
            if self.opened.value is None:
                self.opened.value = ctx.time
            page = f"p{row['v']}"
            self.pages[page] = self.pages.get(page, 0) + 1
            ctx.set_timer(ctx.time + 10_000, name="close")

        @override
        def on_timer(self, timer: ps.Timer, ctx: ps.Context) -> Iterator[Row]:
            yield {"k": f"{ctx.key} {self.opened.value} {timer.time}", "count": len(self.pages)}
            self.pages.clear()
            self.opened.clear()

    run = driver(lambda stream: stream.group_by("k").process(Sessions, schema=COUNT))
    for second, v, k in ((0, 1, "a"), (5, 2, "a"), (6, 1, "b"), (14, 1, "a"), (40, 1, "a")):
        run.push("events", [event(second, v, k)])
    assert run.rows("out") == [
        {"k": "b 6000 16000", "count": 1},
        {"k": "a 0 24000", "count": 2},
    ]
    run.finish()
    assert run.rows("out")[2:] == [{"k": "a 40000 50000", "count": 1}]
    assert run.state("process-1") == {}


# E18
def test_a_processor_with_a_store_and_punctuation_stands_beside_the_declared_steps() -> None:
    class Report(ps.Processor[Any]):
        total = ps.value_state(int, default=0)

        @override
        def process(self, row: Row, ctx: ps.Context) -> None:
            self.total.value += row["v"]

        @ps.punctuate(every="10s")
        def by_event_time(self, timer: ps.Timer, ctx: ps.Context) -> Row:
            return {"k": f"{ctx.key} {timer.time}", "count": self.total.value}

        @ps.punctuate(every="1 minute", domain="processing")
        def by_the_clock(self, timer: ps.Timer, ctx: ps.Context) -> Row:
            return {"k": f"{ctx.key} clock {timer.time}", "count": self.total.value}

    def beside(stream: Stream) -> Stream:
        kept = stream.filter(ps.col("v") > 0)
        reports = kept.group_by("k").process(Report, schema=COUNT)
        return reports.with_columns(count=ps.col("count") * 100)

    run = driver(beside)
    for second in (1, 4, 12, 25):
        run.push("events", [event(second, 1), event(second, -5)])
    assert run.rows("out") == [
        {"k": "a 10000", "count": 300},
        {"k": "a 20000", "count": 400},
    ]
    run.advance_clock(by="2 minutes")
    assert run.rows("out")[2:] == [
        {"k": "a clock 60000", "count": 400},
        {"k": "a clock 120000", "count": 400},
    ]


def test_rows_in_disorder_come_in_the_order_of_their_times_where_that_is_asked_for() -> None:
    seen: list[int] = []

    class Sorted(ps.Processor[Any]):
        in_order = True

        @override
        def process(self, row: Row, ctx: ps.Context) -> None:
            seen.append(row["v"])

    rows = [event(n, n) for n in range(30)]
    run = guided(lambda stream: stream.group_by().process(Sorted, schema=COUNT))
    run.push("events", disordered(rows, seed=1))
    run.finish()
    assert seen == list(range(30))
