"""However the rows of a process come, and wherever it dies, it does what a plain loop does."""

from __future__ import annotations

import heapq
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typing_extensions import override

import penstock as ps
from penstock.model.physical import Settings
from penstock.model.processor import Context, Row, Timer
from penstock.testing.driver import TestDriver
from penstock.testing.strategies import (
    Delivery,
    batch_splits,
    crashes,
    disordered_rows,
    partitionings,
)

pytestmark = pytest.mark.slow

DISORDER = 2_000
LATER = 1_000_000
BAD = -9
COLUMNS = {"k": st.one_of(st.sampled_from("abc"), st.none()), "n": st.integers(BAD, 9)}
ROWS = disordered_rows(COLUMNS, disorder=DISORDER, step=1_500, max_rows=24)
SETTINGS = st.builds(Settings, buckets=st.sampled_from([1, 2, 5]))
CALM = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
RESULT = {"k": str, "at": int, "what": str, "total": int, "kept": str}
SCHEMA = {"k": str, "n": int, "at": int}


class Busy(ps.Processor[Any]):
    """Does a bit of everything: each kind of state, timers that are replaced, set, deleted."""

    total = ps.value_state(int, default=0)
    pulse = ps.value_state(int, default=0, ttl="3s")
    times = ps.list_state(int)
    counts = ps.map_state(int, int)

    @override
    def process(self, row: Row, ctx: Context) -> Any:
        n = row["n"]
        self.total.value += n
        self.pulse.value += 1
        self.times.append(ctx.time)
        self.counts[n % 3] = self.counts.get(n % 3, 0) + 1
        if n % 3 == 0:
            ctx.set_timer(ctx.time + 1_500, name="idle")
        elif n % 3 == 1:
            ctx.set_timer(ctx.time + 700)
        else:
            ctx.delete_timer(name="idle")
        if n == BAD:
            message = "bad"
            raise ValueError(message)
        yield self._told(ctx, "row")

    @override
    def on_timer(self, timer: Timer, ctx: Context) -> Any:
        yield self._told(ctx, timer.name or "plain")
        if timer.name == "idle":
            self.times.clear()
        elif self.counts.get(1, 0) > 1:
            self.counts[1] -= 1
            ctx.set_timer(timer.time + 500)
        else:
            self.counts.pop(1, None)

    def _told(self, ctx: Context, what: str) -> Row:
        kept = f"{self.pulse.value} {list(self.times)} {sorted(self.counts.items())}"
        return {
            "k": ctx.key,
            "at": ctx.time,
            "what": what,
            "total": self.total.value,
            "kept": kept,
        }


class Loop:
    """What `Busy` does with one key's rows in the order of their times, without a house."""

    def __init__(self, key: str | None) -> None:
        self.key = key
        self.total = 0
        self.pulse: tuple[int, int] | None = None
        self.times: list[int] = []
        self.counts: dict[int, int] = {}
        self.idle: int | None = None
        self.plain: set[int] = set()
        self.told: list[tuple[Any, ...]] = []

    def run(self, rows: list[Row]) -> list[tuple[Any, ...]]:
        for row in sorted(rows, key=lambda row: row["at"]):
            self.fire(row["at"])
            if row["n"] != BAD:
                self.take(row["at"], row["n"])
        self.fire(LATER)
        return self.told

    def take(self, at: int, n: int) -> None:
        self.total += n
        self.pulse = (self.seen(at) + 1, at)
        self.times.append(at)
        self.counts[n % 3] = self.counts.get(n % 3, 0) + 1
        if n % 3 == 0:
            self.idle = at + 1_500
        elif n % 3 == 1:
            self.plain.add(at + 700)
        else:
            self.idle = None
        self.tell(at, "row")

    def fire(self, until: int) -> None:
        while True:
            line = [(at, "") for at in self.plain]
            line += [(self.idle, "idle")] if self.idle is not None else []
            due = [entry for entry in line if entry[0] <= until]
            if not due:
                return
            at, name = heapq.nsmallest(1, due)[0]
            self.tell(at, name or "plain")
            if name:
                self.idle = None
                self.times = []
                continue
            self.plain.discard(at)
            if self.counts.get(1, 0) > 1:
                self.counts[1] -= 1
                self.plain.add(at + 500)
            else:
                self.counts.pop(1, None)

    def seen(self, at: int) -> int:
        if self.pulse is None or at >= self.pulse[1] + 3_000:
            return 0
        return self.pulse[0]

    def tell(self, at: int, what: str) -> None:
        kept = f"{self.seen(at)} {self.times} {sorted(self.counts.items())}"
        self.told.append((self.key, at, what, self.total, kept))


def an_app(processor: Any, **words: Any) -> ps.App:  # noqa: ANN401
    app = ps.App("processes")
    rows = app.stream("in", schema=SCHEMA, event_time="at", lateness=f"{DISORDER}ms", idle=None)
    rows.group_by("k").process(processor, schema=RESULT, **words).to("out")
    return app


def run(
    app: ps.App, delivery: Delivery, data: st.DataObject, *, clock: int | None = None
) -> TestDriver:
    """Deliver rows with settings, pauses and a crash of chance, to their end."""
    driver = TestDriver(app, settings=data.draw(SETTINGS), clock=clock)
    batches = list(delivery.to("in"))
    point = data.draw(st.none() | crashes(driver.steps, len(batches) + 1))
    for number, batch in enumerate([*batches, None]):
        if point is not None and point.action == number:
            driver.crash_after(point.step)
        if batch is None:
            driver.advance_watermark(LATER)
        else:
            driver.push_together(batch)
    driver.finish()
    return driver


def once_a_time(rows: list[Row]) -> list[Row]:
    """Leave out rows of a key at a time that another has: which is first depends on delivery."""
    return list({(row["k"], row["at"]): row for row in rows}.values())


def by_key(rows: list[Row]) -> dict[str | None, list[Row]]:
    found: dict[str | None, list[Row]] = {}
    for row in rows:
        found.setdefault(row["k"], []).append(row)
    return found


def told(driver: TestDriver) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in RESULT) for row in driver.rows("out")]


def check_in_order(found: list[Row], data: st.DataObject) -> None:
    rows = once_a_time(found)
    delivery = data.draw(partitionings(rows, partitions=2, max_batches=4))
    driver = run(an_app(Busy, in_order=True), delivery, data)
    assert driver.late("out") == []
    expected = {key: Loop(key).run(mine) for key, mine in by_key(rows).items()}
    for key, wanted in expected.items():
        assert [row for row in told(driver) if row[0] == key] == wanted
    assert len(told(driver)) == sum(map(len, expected.values()))
    assert len(driver.dead_letters("out")) == sum(row["n"] == BAD for row in rows)


@given(ROWS, st.data())
@settings(max_examples=60, suppress_health_check=CALM)
def test_in_order_a_process_does_what_a_loop_over_sorted_rows_does(
    found: list[Row], data: st.DataObject
) -> None:
    check_in_order(found, data)


@pytest.mark.soak
@given(ROWS, st.data())
@settings(max_examples=10_000, suppress_health_check=CALM)
def test_10000_processes_in_order_do_what_a_loop_does(
    found: list[Row], data: st.DataObject
) -> None:
    check_in_order(found, data)


class Arrivals(ps.Processor[Any]):
    """Counts rows as they come; its timers tell only their own time."""

    total = ps.value_state(int, default=0)
    last = ps.list_state(int)

    @override
    def process(self, row: Row, ctx: Context) -> Any:
        self.total.value += row["n"]
        self.last.append(row["n"])
        del self.last[:-3]
        ctx.set_timer(ctx.time // 1_000 * 1_000 + 1_000)
        if row["n"] == BAD:
            message = "bad"
            raise ValueError(message)
        return told_of(ctx, "row", self.total.value, list(self.last))

    @override
    def on_timer(self, timer: Timer, ctx: Context) -> Any:
        return told_of(ctx, "timer", 0, [])


def told_of(ctx: Context, what: str, total: int, kept: list[int]) -> Row:
    return {"k": ctx.key, "at": ctx.time, "what": what, "total": total, "kept": str(kept)}


@given(ROWS, st.data())
@settings(max_examples=60, suppress_health_check=CALM)
def test_by_arrival_a_process_does_what_a_loop_over_rows_does(
    rows: list[Row], data: st.DataObject
) -> None:
    driver = run(an_app(Arrivals), data.draw(batch_splits(rows, max_batches=5)), data)
    for key, mine in by_key(rows).items():
        good = [row for row in mine if row["n"] != BAD]
        numbers = [row["n"] for row in good]
        rows_told = [
            (key, row["at"], "row", sum(numbers[: at + 1]), str(numbers[max(0, at - 2) : at + 1]))
            for at, row in enumerate(good)
        ]
        own = [row for row in told(driver) if row[0] == key]
        assert [row for row in own if row[2] == "row"] == rows_told
        timers = [row[1] for row in own if row[2] == "timer"]
        wanted = sorted({row["at"] // 1_000 * 1_000 + 1_000 for row in good})
        # A late one may be set anew after it has fired.
        assert sorted(set(timers)) == wanted
    assert len(driver.dead_letters("out")) == sum(row["n"] == BAD for row in rows)


class Clocked(ps.Processor[Any]):
    """Tells the sum of what came since the last pause of two seconds by the clock."""

    total = ps.value_state(int, default=0)

    @override
    def process(self, row: Row, ctx: Context) -> Any:
        self.total.value += row["n"]
        ctx.set_timer(ctx.clock + 2_000, name="pause", domain="processing")

    @override
    def on_timer(self, timer: Timer, ctx: Context) -> Any:
        yield {"k": ctx.key, "at": timer.time, "what": "pause", "total": self.total.value}
        self.total.clear()


@given(
    st.lists(
        st.tuples(st.integers(0, 3_000), st.sampled_from("ab"), st.integers(1, 9)), max_size=15
    ),
    st.data(),
)
@settings(max_examples=40, suppress_health_check=CALM)
def test_timers_of_the_clock_fire_when_it_reaches_them(
    arrivals: list[tuple[int, str, int]], data: st.DataObject
) -> None:
    app = ps.App("clocked")
    rows = app.stream("in", schema=SCHEMA, event_time="at")
    schema = {name: kind for name, kind in RESULT.items() if name != "kept"}
    rows.group_by("k").process(Clocked, schema=schema).to("out")
    driver = TestDriver(app, settings=data.draw(SETTINGS), clock=0)
    expected: list[tuple[str, int, int]] = []
    sums: dict[str, tuple[int, int]] = {}
    now = 0

    def passed(to: int) -> None:
        for key, (due, total) in sorted(sums.items(), key=lambda item: item[1]):
            if due <= to:
                expected.append((key, due, total))
                del sums[key]

    for pause, key, n in arrivals:
        driver.advance_clock(by=pause)
        now += pause
        passed(now)
        if data.draw(st.booleans()):
            driver.crash_after(data.draw(st.sampled_from(driver.steps)))
        driver.push("in", [{"k": key, "n": n, "at": now}])
        sums[key] = (now + 2_000, sums.get(key, (0, 0))[1] + n)
    driver.advance_clock(by=10_000)
    passed(now + 10_000)
    found = [(row["k"], row["at"], row["total"]) for row in driver.rows("out")]
    assert sorted(found) == sorted(expected)
    assert driver.wake_at is None


def summed(rows: pl.DataFrame, state: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A running total of each key, with tables."""
    both = rows.join(state, on="k", how="left", nulls_equal=True, maintain_order="left")
    running = pl.col("n").cum_sum().over("k") + pl.col("total")
    after = both.with_columns(running.alias("total"), what=pl.lit("row"), kept=pl.lit(""))
    return after, after.group_by("k", maintain_order=True).last().select("k", "total")


@given(ROWS, st.data())
@settings(max_examples=40, suppress_health_check=CALM)
def test_tables_and_rows_give_the_same(rows: list[Row], data: st.DataObject) -> None:
    app = ps.App("tables")
    stream = app.stream("in", schema=SCHEMA, event_time="at", lateness="2s")
    state = {"total": ps.value_state(int, default=0)}
    stream.group_by("k").process_batches(summed, schema=RESULT, state=state).to("out")
    driver = run(app, data.draw(batch_splits(rows, max_batches=5)), data)
    assert driver.dead_letters("out") == []
    for key, mine in by_key(rows).items():
        totals = [row[3] for row in told(driver) if row[0] == key]
        assert totals == [sum(row["n"] for row in mine[: at + 1]) for at in range(len(mine))]
