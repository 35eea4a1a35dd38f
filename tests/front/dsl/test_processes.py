from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from typing_extensions import override

import penstock as ps
from penstock.errors import ModelError, PenstockError
from penstock.front.dsl.keyed import keys_of
from penstock.front.dsl.processes import OfClass
from penstock.front.dsl.stream import Grouped, Stream
from penstock.model.process import Process, Punctuation, StateField
from penstock.model.processor import Context, Row, Timer
from penstock.schema.types import FLOAT64, INT32, INT64, STRING

VISIT = {"user": str, "page": str, "at": "timestamp"}


@dataclass
class Alert:
    user: str
    visits: int


@dataclass
class Rejected:
    user: str
    why: str


class Absence(ps.Processor[Alert]):
    seen = ps.value_state(int, default=0)

    @override
    def process(self, row: Row, ctx: Context) -> Any:
        if row["page"] is None:
            ctx.side("rejected", Rejected(ctx.key, "no page"))
            return
        self.seen.value += 1
        ctx.set_timer(ctx.time + 60_000, name="absent")

    @override
    def on_timer(self, timer: Timer, ctx: Context) -> Iterator[Alert]:
        yield Alert(ctx.key, self.seen.value)
        self.seen.clear()


def visits() -> tuple[ps.App, Grouped]:
    app = ps.App("shop")
    stream = app.stream("visits", schema=VISIT, event_time="at")
    return app, stream.group_by("user")


def step_of(stream: Stream) -> Process:
    (found,) = (step for step in stream.relation.walk() if isinstance(step, Process))
    return found


def refused(code: str, build: Any) -> PenstockError:  # noqa: ANN401
    with pytest.raises(PenstockError) as caught:
        build()
    assert caught.value.code == code
    return caught.value


def test_a_class_says_its_results_its_states_and_its_name() -> None:
    _, grouped = visits()
    step = step_of(grouped.process(Absence, sides={"rejected": Rejected}))
    assert step.name == "Absence"
    assert step.gives.names == ("user", "visits")
    assert step.state == (StateField("seen", "value", INT64, default=0),)
    assert step.site.startswith("test_processes.py:")


def test_a_process_runs_with_its_side_outputs() -> None:
    app, grouped = visits()
    alerts = grouped.process(Absence, sides={"rejected": Rejected})
    alerts.to("alerts")
    alerts.side("rejected").to("rejected")
    run = app.test()
    run.push("visits", [{"user": "ada", "page": "/", "at": 0}, {"user": "bob", "at": 1000}])
    assert run.state("process-1")["seen"].to_dicts() == [{"user": "ada", "value": 1}]
    run.advance_watermark(59_999)
    assert run.rows("alerts") == []
    run.advance_watermark(60_000)
    assert run.rows("alerts") == [{"user": "ada", "visits": 1}]
    assert run.rows("rejected") == [{"user": "bob", "why": "no page"}]
    assert run.state("process-1") == {}
    assert len(run.physical.operators) == 1


def test_results_go_by_the_key_they_keep() -> None:
    _, grouped = visits()
    alerts = grouped.process(Absence, sides={"rejected": Rejected})
    assert keys_of(alerts.relation) == ("user",)
    assert alerts.schema.names == ("user", "visits")
    assert alerts.side("rejected").schema.names == ("user", "why")


def test_an_object_keeps_what_it_was_made_with() -> None:
    class Limit(ps.Processor[Alert]):
        seen = ps.value_state(int, default=0)

        def __init__(self, limit: int) -> None:
            self.limit = limit

        @override
        def process(self, row: Row, ctx: Context) -> Alert | None:
            self.seen.value += 1
            return Alert(ctx.key, self.limit) if self.seen.value == self.limit else None

    app, grouped = visits()
    told = grouped.process(Limit(2), name="limit").to("alerts")
    run = app.test()
    run.push("visits", [{"user": "ada", "page": "/", "at": at} for at in (0, 1, 2)])
    assert run.rows("alerts") == [{"user": "ada", "visits": 2}]
    assert step_of(told).name == "limit"


def test_a_function_is_given_its_state_by_name() -> None:
    app, grouped = visits()

    def count(row: Row, state: Any, ctx: Context) -> Alert:  # noqa: ANN401
        state.seen.value = (state.seen.value or 0) + 1
        return Alert(ctx.key, state.seen.value)

    counted = grouped.process(count, state={"seen": int})
    assert step_of(counted).name == "count"
    assert step_of(counted).gives.names == ("user", "visits")
    counted.to("out")
    run = app.test()
    run.push("visits", [{"user": "ada", "page": "/", "at": at} for at in (0, 1)])
    assert [row["visits"] for row in run.rows("out")] == [1, 2]


def test_a_lambda_needs_a_schema() -> None:
    _, grouped = visits()
    made = grouped.process(lambda *_: {"n": 1}, schema={"n": int})
    assert step_of(made).name == "lambda"
    refused("FUNCTION_SCHEMA", lambda: grouped.process(lambda *_: {"n": 1}))


def test_a_class_that_says_no_result_needs_a_schema() -> None:
    class Plain(ps.Processor[Any]):
        @override
        def process(self, row: Row, ctx: Context) -> Any:
            return None

    class Annotated(Plain):
        @override
        def process(self, row: Row, ctx: Context) -> Iterator[Alert]:
            yield Alert("", 0)

    _, grouped = visits()
    refused("FUNCTION_SCHEMA", lambda: grouped.process(Plain))
    assert step_of(grouped.process(Plain, schema=Alert)).gives.names == ("user", "visits")
    assert step_of(grouped.process(Annotated)).gives.names == ("user", "visits")


def test_states_are_declared_in_many_ways() -> None:
    class Many(ps.Processor[Alert]):
        one = ps.value_state("int32", was="uno")
        items = ps.list_state(float, ttl="1 hour")
        names = ps.map_state(str, int)

        @override
        def process(self, row: Row, ctx: Context) -> Any:
            return None

    class More(Many):
        extra = ps.value_state(str)

    _, grouped = visits()
    found = step_of(grouped.process(More)).state
    assert found == (
        StateField("one", "value", INT32),
        StateField("items", "list", FLOAT64, ttl=timedelta(hours=1)),
        StateField("names", "map", INT64, STRING),
        StateField("extra", "value", STRING),
    )
    assert found[0].was == "uno"


def test_punctuations_are_marked_methods() -> None:
    class Punctual(Absence):
        @ps.punctuate(every="10s")
        def report(self, timer: Timer, ctx: Context) -> Alert:
            return Alert(ctx.key, timer.time)

        @ps.punctuate(every="1 minute", domain="processing")
        def beat(self, timer: Timer, ctx: Context) -> Alert:
            return Alert(ctx.key, timer.time)

    _, grouped = visits()
    assert step_of(grouped.process(Punctual)).punctuations == (
        Punctuation("beat", timedelta(minutes=1), "processing"),
        Punctuation("report", timedelta(seconds=10)),
    )


def test_tables_of_rows_are_processed_together() -> None:
    def count(rows: Any, state: Any) -> tuple[Any, Any]:  # noqa: ANN401
        seen = rows.group_by("user", maintain_order=True).len("more")
        new = state.join(seen, on="user", maintain_order="left")
        new = new.select("user", seen=new["seen"] + new["more"].cast(int))
        results = rows.join(new, on="user", maintain_order="left").rename({"seen": "visits"})
        return results, new

    app, grouped = visits()
    state = {"seen": ps.value_state(int, default=0)}
    grouped.process_batches(count, schema=Alert, state=state).to("out")
    run = app.test()
    for at in (0, 5):
        run.push("visits", [{"user": user, "page": "/", "at": at} for user in ("ada", "bob")])
    assert run.rows("out") == [
        {"user": user, "visits": visits} for visits in (1, 2) for user in ("ada", "bob")
    ]
    assert run.state("process-1")["seen"].sort("user")["value"].to_list() == [2, 2]


def test_all_rows_together_are_a_group() -> None:
    app, grouped = visits()
    Stream(grouped.program, grouped.source).group_by().process(Absence).to("out")
    run = app.test()
    run.push("visits", [{"user": user, "page": "/", "at": 0} for user in "abc"])
    assert run.state("process-1")["seen"].to_dicts() == [{"value": 3}]


def test_the_changes_of_a_table_are_processed_by_what_heeds_weights() -> None:
    class Balance(ps.Processor[Alert]):
        changelog = True
        total = ps.value_state(int, default=0)

        @override
        def process(self, row: Row, ctx: Context) -> Alert:
            self.total.value += ctx.weight
            return Alert(row["page"], self.total.value)

    app, grouped = visits()
    latest = Stream(grouped.program, grouped.source).to_table("user")
    refused("PROCESS_RETRACTS", lambda: latest.changes().group_by("page").process(Absence))
    latest.changes().group_by("page").process(Balance).to("out")
    run = app.test()
    run.push("visits", [{"user": "ada", "page": "x", "at": 0}])
    run.push("visits", [{"user": "ada", "page": "y", "at": 1}])
    assert sorted(tuple(row.values()) for row in run.rows("out")) == [
        ("x", 0),
        ("x", 1),
        ("y", 1),
    ]


def test_what_is_no_process_is_refused() -> None:
    class Foreign:
        pass

    _, grouped = visits()
    wrong: list[Any] = [Foreign, 5]
    for given in wrong:
        refused("PROCESS_FORM", lambda given=given: grouped.process(given, schema=Alert))
    refused("PROCESS_FORM", lambda: grouped.process(Absence, state={"more": int}))


def test_a_window_or_a_trigger_is_refused() -> None:
    _, grouped = visits()
    refused("STEP_ORDER", lambda: grouped.window(ps.tumbling("1s")).process(Absence))
    refused("STEP_ORDER", lambda: grouped.trigger(ps.each_row()).process_batches(max, schema=Alert))


def test_a_side_output_that_is_not_declared_is_refused() -> None:
    _, grouped = visits()
    error = refused("SIDE_MISSING", lambda: grouped.process(Absence).side("rejected"))
    assert "test_processes.py" in error.fact
    alerts = grouped.process(Absence, sides={"rejected": Rejected})
    assert refused("SIDE_MISSING", lambda: alerts.side("rejcted")).hint == (
        'Did you mean "rejected"?'
    )


@pytest.mark.parametrize(
    ("code", "build"),
    [
        ("STATE_FIELD", lambda: ps.value_state(int, ttl="0s")),
        ("STATE_FIELD", lambda: ps.map_state("array<int64>", "int64")),
        ("TYPE_ANNOTATION", lambda: ps.value_state(object)),
        ("DURATION_FORMAT", lambda: ps.value_state(int, ttl="soon")),
        ("PROCESS_NAMES", lambda: visits()[1].process(Absence, sides={"": Rejected})),
        (
            "STATE_FIELD",
            lambda: visits()[1].process(lambda *_: None, schema=Alert, state={"_x": int}),
        ),
        ("PROCESS_COLUMN", lambda: visits()[1].process(Absence, schema={"_side": str})),
        ("PUNCTUATE_EVERY", lambda: Punctuation("x", timedelta(0))),
    ],
)
def test_what_contradicts_itself_is_refused(code: str, build: Any) -> None:  # noqa: ANN401
    refused(code, build)


def test_a_state_belongs_to_a_key_and_so_to_a_running_program() -> None:
    with pytest.raises(ModelError, match="STATE_UNBOUND"):
        Absence().seen.value += 1


def test_a_process_of_one_program_leaves_the_object_alone() -> None:
    own = Absence()
    OfClass(own).open({"seen": 5})
    assert vars(own) == {}
    assert vars(copy.copy(own)) == {}


def test_a_description_tells_what_it_remembers_and_when_it_is_called() -> None:
    class Told(Absence):
        in_order = True
        pages = ps.map_state(str, int, ttl="1 day")

        @ps.punctuate(every="10s")
        def report(self, timer: Timer, ctx: Context) -> Alert:
            return Alert(ctx.key, timer.time)

    app, grouped = visits()
    grouped.process(Told, sides={"rejected": Rejected}).to("alerts")
    told = [line.strip() for line in app.describe().splitlines()]
    start = next(number for number, line in enumerate(told) if "process Told by user" in line)
    assert told[start + 1 : start + 6] == [
        "rows and timers by their times",
        "remembers seen: value of int64",
        "remembers pages: map of string to int64, until 1d after it was last written",
        "calls report every 10s of event time",
        "gives rows beside to rejected",
    ]
