from __future__ import annotations

from typing import Any

import pytest
from typing_extensions import override

from penstock.front.dsl.processes import Processor, punctuate
from penstock.front.dsl.states import list_state, value_state
from penstock.kernel.port import END_OF_TIME, START_OF_TIME, Counts, Time
from penstock.kernel.process import ProcessOperator
from penstock.model.processor import Context, Row, Timer
from tests.kernel.frames import NEVER, changes, delta, play
from tests.kernel.processes import an_operator

AT = {"key": str, "at": int, "what": str}


class Alarm(Processor[Any]):
    """Sets a timer for `n`, named by the row's mark, and tells when it fires."""

    @override
    def process(self, row: Row, ctx: Context) -> Any:
        ctx.set_timer(row["n"], name="it" if row["mark"] else None)

    @override
    def on_timer(self, timer: Timer, ctx: Context) -> Any:
        return {"key": ctx.key, "at": timer.time, "what": timer.name or timer.domain}


def alarm(processor: Any = Alarm, **words: Any) -> ProcessOperator:  # noqa: ANN401
    return an_operator(processor, schema=AT, **words)


def at(watermark: int, clock: int = 0) -> Time:
    return Time(watermark, clock)


def row(key: str, n: int, t: int = 0, *, mark: bool = False) -> dict[str, Any]:
    return {"key": key, "n": n, "t": t, "mark": mark}


def test_a_timer_fires_when_the_watermark_reaches_it_in_the_order_of_times() -> None:
    steps = play(
        alarm(),
        (delta(row("a", 30), row("b", 20), row("a", 10), row("b", 40)), at(5)),
        (delta(), at(9)),
        (delta(), at(30)),
    )
    assert [step.output.height for step in steps] == [0, 0, 3]
    assert changes(steps, "key", "at", "_time") == [
        (1, "a", 10, 10),
        (1, "b", 20, 20),
        (1, "a", 30, 30),
    ]
    assert steps[2].state.tables["_timers"].rows() == [(40, "b", "event", None)]


def test_the_state_is_gone_with_the_last_timer() -> None:
    steps = play(alarm(), (delta(row("a", 30)), at(5)), (delta(), at(30)))
    assert steps[1].state.tables == {}


def test_a_timer_that_is_due_when_it_is_set_fires_after_the_rows() -> None:
    class Late(Alarm):
        @override
        def process(self, row: Row, ctx: Context) -> Any:
            ctx.set_timer(row["n"])
            return {"key": ctx.key, "at": -1, "what": "row"}

    (step,) = play(alarm(Late), (delta(row("a", -50), row("a", 5)), at(5)))
    assert changes([step], "at") == [(1, -1), (1, -1), (1, -50), (1, 5)]


def test_a_timer_without_a_name_is_there_once_for_each_time() -> None:
    steps = play(alarm(), (delta(row("a", 8), row("a", 8)), at(0)), (delta(row("a", 8)), at(8)))
    assert changes(steps, "at") == [(1, 8)]


def test_a_timer_with_a_name_replaces_the_one_before() -> None:
    steps = play(
        alarm(),
        (delta(row("a", 10, mark=True), row("a", 20, mark=True), row("b", 10, mark=True)), at(0)),
        (delta(row("b", 30, mark=True)), at(10)),
        (delta(), at(40)),
    )
    assert changes(steps, "key", "at", "what") == [(1, "a", 20, "it"), (1, "b", 30, "it")]


def test_timers_are_deleted_by_name_or_by_time() -> None:
    class Undone(Alarm):
        @override
        def process(self, row: Row, ctx: Context) -> Any:
            ctx.set_timer(10)
            ctx.set_timer(11)
            ctx.set_timer(12, name="it")
            ctx.set_timer(13, name="other")
            if row["n"]:
                ctx.delete_timer(10)
                ctx.delete_timer(name="it")

    first = row("a", 0)
    steps = play(alarm(Undone), (delta(first, row("b", 1)), at(0)), (delta(), at(20)))
    assert sorted(changes(steps, "key", "at")) == [
        *((1, "a", n) for n in (10, 11, 12, 13)),
        *((1, "b", n) for n in (11, 13)),
    ]
    later = play(alarm(Undone), (delta(first), at(0)), (delta(row("a", 1)), at(20)))
    assert changes(later, "at") == [(1, 11), (1, 13)]


def test_the_timer_of_a_row_that_fails_is_not_set() -> None:
    class Failing(Alarm):
        @override
        def process(self, row: Row, ctx: Context) -> Any:
            ctx.set_timer(5)
            ctx.set_timer(7, name="it")
            if row["mark"]:
                ctx.delete_timer(5)
                ctx.set_timer(9, name="it")
                raise ValueError

    steps = play(
        alarm(Failing),
        (delta(row("a", 0), row("a", 0, mark=True), row("b", 0, mark=True)), at(0)),
        (delta(), at(10)),
    )
    assert changes(steps, "key", "at") == [(1, "a", 5), (1, "a", 7)]


def test_a_timer_of_the_clock_fires_before_the_rows_and_asks_to_be_woken() -> None:
    class Clocked(Alarm):
        seen = value_state(int, default=0)

        @override
        def process(self, row: Row, ctx: Context) -> Any:
            self.seen.value += 1
            ctx.set_timer(row["n"], domain="processing")

        @override
        def on_timer(self, timer: Timer, ctx: Context) -> Any:
            return {"key": f"{timer.domain} {ctx.clock}", "at": timer.time, "what": self.seen.value}

    operator = an_operator(Clocked, schema={**AT, "what": int})
    steps = play(
        operator,
        (delta(row("a", 100), row("a", 50)), at(1000, 10)),
        (delta(row("a", 300)), at(1000, 60)),
        (delta(), at(1000, 200)),
        (delta(), at(1000, 299)),
    )
    assert [step.wake_at for step in steps] == [50, 100, 300, 300]
    assert changes(steps, "key", "at", "what", "_time") == [
        (1, "processing 60", 50, 2, 50),
        (1, "processing 200", 100, 3, 100),
    ]


def test_a_timer_of_the_clock_that_is_due_when_a_row_sets_it_fires_in_the_same_step() -> None:
    class Clocked(Alarm):
        @override
        def process(self, row: Row, ctx: Context) -> Any:
            ctx.set_timer(row["n"], domain="processing")

    (step,) = play(alarm(Clocked), (delta(row("a", 100)), at(0, 100)))
    assert changes([step], "at") == [(1, 100)]
    assert step.wake_at is None


class Chain(Processor[Any]):
    """Each timer sets the next, as often as the row says."""

    left = value_state(int, default=0)

    @override
    def process(self, row: Row, ctx: Context) -> Any:
        self.left.value = row["n"]
        ctx.set_timer(ctx.time + 10)

    @override
    def on_timer(self, timer: Timer, ctx: Context) -> Any:
        if self.left.value:
            self.left.value -= 1
            ctx.set_timer(timer.time + 10)
        return {"key": ctx.key, "at": timer.time, "what": str(ctx.ended)}


def test_timers_that_timers_set_fire_in_the_same_step_where_they_are_due() -> None:
    steps = play(alarm(Chain), (delta(row("a", 5), row("b", 5, t=5)), at(35)), (delta(), at(1000)))
    assert changes(steps[:1], "key", "at") == [
        (1, "a", 10),
        (1, "b", 15),
        (1, "a", 20),
        (1, "b", 25),
        (1, "a", 30),
        (1, "b", 35),
    ]
    assert [time for _, key, time in changes(steps[1:], "key", "at") if key == "a"] == [40, 50, 60]


def test_a_timer_may_take_back_one_that_is_due_too() -> None:
    class Cancelling(Alarm):
        @override
        def process(self, row: Row, ctx: Context) -> Any:
            ctx.set_timer(1)
            ctx.set_timer(2)
            ctx.set_timer(3, name="it")
            ctx.set_timer(4, name="other")

        @override
        def on_timer(self, timer: Timer, ctx: Context) -> Any:
            if timer.time == 1:
                ctx.delete_timer(2)
                ctx.delete_timer(name="it")
                ctx.set_timer(50, name="other")
                ctx.set_timer(2)
                ctx.delete_timer(2)
            return super().on_timer(timer, ctx)

    steps = play(alarm(Cancelling), (delta(row("a", 0)), at(10)), (delta(), at(50)))
    assert changes(steps, "at") == [(1, 1), (1, 50)]


def test_a_timer_may_put_off_one_that_is_due_too() -> None:
    class Delaying(Alarm):
        @override
        def process(self, row: Row, ctx: Context) -> Any:
            ctx.set_timer(1)
            ctx.set_timer(3, name="it")

        @override
        def on_timer(self, timer: Timer, ctx: Context) -> Any:
            if timer.time == 1:
                ctx.set_timer(5, name="it")
            return super().on_timer(timer, ctx)

    (step,) = play(alarm(Delaying), (delta(row("a", 0)), at(10)))
    assert changes([step], "at") == [(1, 1), (1, 5)]


def test_at_the_end_of_the_input_a_chain_of_timers_ends() -> None:
    class Forever(Chain):
        @override
        def on_timer(self, timer: Timer, ctx: Context) -> Any:
            ctx.set_timer(timer.time + 10)
            return {"key": ctx.key, "at": timer.time, "what": str(ctx.ended)}

    steps = play(
        alarm(Forever),
        (delta(row("a", 0), row("a", 0, t=25)), at(12)),
        (delta(), at(END_OF_TIME)),
    )
    # Set by rows: 10 and 35. The first is followed up to the last that stood.
    assert changes(steps, "at", "what") == [
        (1, 10, "False"),
        (1, 20, "True"),
        (1, 30, "True"),
        (1, 35, "True"),
    ]
    assert steps[1].state.tables == {}


def test_timers_that_set_one_another_without_end_are_called_off() -> None:
    class Stuck(Alarm):
        @override
        def on_timer(self, timer: Timer, ctx: Context) -> Any:
            ctx.set_timer(timer.time)

    steps = play(alarm(Stuck), (delta(row("a", 5), row("b", 50)), at(5)), (delta(), at(6)))
    assert steps[0].dead is not None
    assert "TIMER_LOOP" in steps[0].dead["error"][0]
    assert steps[1].state.tables["_timers"].rows() == [(50, "b", "event", None)]


def test_a_timer_that_raises_is_a_letter_with_its_key_and_leaves_no_trace() -> None:
    class Failing(Alarm):
        fired = list_state(int)

        @override
        def on_timer(self, timer: Timer, ctx: Context) -> Any:
            self.fired.append(timer.time)
            if timer.time == 2:
                ctx.set_timer(100)
                raise ValueError(ctx.key)
            return super().on_timer(timer, ctx)

    steps = play(
        alarm(Failing), (delta(*(row("a", n) for n in (1, 2, 3))), at(0)), (delta(), at(3))
    )
    assert changes(steps, "at") == [(1, 1), (1, 3)]
    assert steps[1].state.tables["fired"].rows() == [("a", [1, 3])]
    assert "_timers" not in steps[1].state.tables
    assert steps[1].counts == Counts(given=2)
    assert steps[1].dead is not None
    (letter,) = steps[1].dead.to_dicts()
    assert (letter["error"], letter["row"], letter["time"]) == (
        "ValueError: a",
        '{"key":"a"}',
        2,
    )


def test_a_result_of_a_timer_that_does_not_fit_is_a_letter() -> None:
    class Misfit(Alarm):
        @override
        def on_timer(self, timer: Timer, ctx: Context) -> Any:
            return {"key": ctx.key, "at": "x" if timer.time == 2 else timer.time, "what": ""}

    (step,) = play(alarm(Misfit), (delta(row("a", 1), row("a", 2), row("b", 2)), at(5)))
    assert changes([step], "key", "at") == [(1, "a", 1)]
    assert step.dead is not None
    assert sorted(step.dead["row"]) == ['{"key":"a"}', '{"key":"b"}']


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda ctx: ctx.set_timer(1.5), "TIMER_TIME"),
        (lambda ctx: ctx.set_timer(True), "TIMER_TIME"),
        (lambda ctx: ctx.set_timer(1, domain="clock"), "TIMER_DOMAIN"),
        (lambda ctx: ctx.delete_timer(1, domain="clock"), "TIMER_DOMAIN"),
        (lambda ctx: ctx.delete_timer(), "TIMER_DELETE"),
        (lambda ctx: ctx.delete_timer(1, name="it"), "TIMER_DELETE"),
    ],
)
def test_what_makes_no_sense_of_a_timer_is_refused(ask: Any, code: str) -> None:  # noqa: ANN401
    (step,) = play(alarm(lambda *given: ask(given[-1])), (delta(row("a", 1)), NEVER))
    assert step.dead is not None
    assert code in step.dead["error"][0]


def test_a_timer_that_nobody_hears_is_a_letter() -> None:
    def deaf(row: Row, state: Any, ctx: Context) -> None:  # noqa: ANN401
        ctx.set_timer(1)

    class Deaf(Processor[Any]):
        @override
        def process(self, row: Row, ctx: Context) -> Any:
            ctx.set_timer(1)

    for processor in (deaf, Deaf):
        (step,) = play(alarm(processor), (delta(row("a", 1)), at(5)))
        assert step.dead is not None
        assert "TIMER_UNHEARD" in step.dead["error"][0]


def test_a_function_may_have_one_for_timers_beside_it() -> None:
    def waits(row: Row, state: Any, ctx: Context) -> None:  # noqa: ANN401
        state.seen.value += 1
        ctx.set_timer(5)

    def fires(timer: Timer, state: Any, ctx: Context) -> Row:  # noqa: ANN401
        return {"key": ctx.key, "at": state.seen.value, "what": timer.domain}

    operator = alarm(waits, on_timer=fires, state={"seen": value_state(int, default=0)})
    (step,) = play(operator, (delta(row("a", 1), row("a", 1)), at(5)))
    assert changes([step], "at", "what") == [(1, 2, "event")]


class Report(Processor[Any]):
    total = value_state(int, default=0)

    @override
    def process(self, row: Row, ctx: Context) -> Any:
        self.total.value += row["n"]

    @punctuate(every="10ms")
    def report(self, timer: Timer, ctx: Context) -> Row:
        return {"key": ctx.key, "at": timer.time, "what": str(self.total.value)}


def test_a_punctuation_by_event_time_is_called_at_each_multiple() -> None:
    steps = play(
        alarm(Report),
        (delta(row("a", 1, t=3), row("b", 1, t=12)), at(3)),
        (delta(row("a", 1, t=15)), at(31)),
    )
    assert changes(steps, "key", "at", "what") == [
        (1, "a", 10, "2"),
        (1, "a", 20, "2"),
        (1, "b", 20, "1"),
        (1, "a", 30, "2"),
        (1, "b", 30, "1"),
    ]


def test_a_punctuation_goes_on_while_the_key_remembers_something() -> None:
    steps = play(
        alarm(Report),
        (delta(row("a", 1, t=3)), at(3)),
        (delta(row("a", -1, t=4)), at(11)),
        (delta(), at(50)),
        (delta(row("a", 1, t=52)), at(61)),
        (delta(), at(END_OF_TIME)),
    )
    assert changes(steps, "at", "what") == [(1, 10, "0"), (1, 60, "1"), (1, 70, "1")]
    assert list(steps[2].state.tables) == []
    assert list(steps[4].state.tables) == ["total"]


def test_a_punctuation_by_the_clock_leaves_out_what_it_missed() -> None:
    class ByClock(Report):
        @override
        @punctuate(every="10ms", domain="processing")
        def report(self, timer: Timer, ctx: Context) -> Row:
            return {"key": ctx.key, "at": timer.time, "what": str(ctx.clock)}

    steps = play(
        alarm(ByClock),
        (delta(row("a", 1)), at(START_OF_TIME, 5)),
        (delta(), at(START_OF_TIME, 10)),
        (delta(), at(START_OF_TIME, 47)),
    )
    assert [step.wake_at for step in steps] == [10, 20, 50]
    assert changes(steps, "at", "what") == [(1, 10, "10"), (1, 20, "47")]


class Ordered(Processor[Any]):
    """Tells rows and timers in the order they come."""

    in_order = True
    seen = list_state(int)

    @override
    def process(self, row: Row, ctx: Context) -> Any:
        self.seen.append(row["n"])
        ctx.set_timer(ctx.time + 10)
        return {"key": ctx.key, "at": ctx.time, "what": "row"}

    @override
    def on_timer(self, timer: Timer, ctx: Context) -> Any:
        seen = ",".join(map(str, self.seen))
        return {"key": ctx.key, "at": timer.time, "what": seen}


def test_in_order_rows_wait_for_the_watermark_and_timers_come_between_them() -> None:
    rows = [row("a", 1, t=20), row("a", 2, t=5), row("b", 3, t=7), row("a", 4, t=15)]
    expected = [
        (1, "a", 5, "row"),
        (1, "b", 7, "row"),
        (1, "a", 15, "2"),
        (1, "a", 15, "row"),
        (1, "b", 17, "3"),
        (1, "a", 20, "row"),
        (1, "a", 25, "2,4,1"),
        (1, "a", 30, "2,4,1"),
    ]
    whole = play(alarm(Ordered), (delta(*rows), at(0)), (delta(), at(END_OF_TIME)))
    assert changes(whole, "key", "at", "what") == expected
    assert whole[0].state.tables["_rows"].height == 4
    split = play(
        alarm(Ordered),
        (delta(*rows[:2]), at(6)),
        (delta(*rows[2:]), at(7)),
        (delta(), at(16)),
        (delta(), at(END_OF_TIME)),
    )
    assert changes(split, "key", "at", "what") == expected


def test_in_order_a_row_behind_the_watermark_is_late() -> None:
    steps = play(alarm(Ordered), (delta(row("a", 1, t=9)), at(9)), (delta(row("a", 2, t=8)), at(9)))
    assert steps[1].counts == Counts(taken=1, late=1)
    assert steps[1].late is not None
    assert steps[1].late["_reason"][0].startswith("behind the watermark")


def test_in_order_a_punctuation_begins_again_with_the_next_row_after_it_lapsed() -> None:
    class Lapsing(Report):
        in_order = True

    rows = [row("a", 1, t=3), row("a", -1, t=4), row("a", 7, t=42)]
    for cut in (at(3), at(40), at(END_OF_TIME)):
        steps = play(alarm(Lapsing), (delta(*rows), cut), (delta(), at(END_OF_TIME)))
        assert changes(steps, "at", "what") == [(1, 10, "0"), (1, 50, "7")]


def test_in_order_the_timers_of_the_last_rows_fire_at_the_end() -> None:
    steps = play(alarm(Ordered), (delta(row("a", 1, t=5)), at(END_OF_TIME)))
    assert changes(steps, "at", "what") == [(1, 5, "row"), (1, 15, "1")]
