from __future__ import annotations

import random
import threading
from typing import Any

import pytest
from typing_extensions import override

from penstock.clock import ManualClock
from penstock.errors import ModelError, PenstockError, RunError, UsageError
from penstock.topology import (
    BasicBolt,
    Bolt,
    BoltCollector,
    Config,
    OutputDeclarer,
    Spout,
    SpoutCollector,
    TaskContext,
    TopologyBuilder,
    TopologyRun,
    Tuple,
    quiet,
    run_topology,
)
from tests.inline.topology.exclaim import CallBolt, EndBolt, Kept, ListSpout

ROWS = [("a",), ("b",), ("c",)]


class Bench:
    """A spout with three rows, and what it and the last bolt have heard."""

    def __init__(self, *bolts: Bolt, rows: list[Any] | None = None, **settings: Any) -> None:  # noqa: ANN401
        self.heard: list[tuple[str, object]] = []
        self.clock = ManualClock(1_000_000)
        builder = TopologyBuilder()
        builder.set_spout("spout", ListSpout(rows or ROWS, self.heard))
        before = "spout"
        for number, bolt in enumerate(bolts):
            builder.set_bolt(f"bolt{number}", bolt).shuffle_grouping(before)
            before = f"bolt{number}"
        self.config = Config(**{"message_timeout": "10s", **settings})
        self.run = TopologyRun(builder.create_topology(), self.config, clock=self.clock, seed=1)

    def told(self, what: str) -> list[object]:
        return [number for said, number in self.heard if said == what]


def silent(received: Tuple, collector: BoltCollector, context: TaskContext) -> None:
    """Take a tuple and never say a word."""


def test_what_is_never_acked_fails_after_its_time_and_comes_again() -> None:
    bench = Bench(CallBolt(silent))
    with bench.run as run:
        run.settle()
        assert bench.told("emitted") == [0, 1, 2]
        bench.clock.advance(9_999)
        run.settle()
        assert bench.told("failed") == []
        bench.clock.advance(5_001)
        run.settle()
        assert bench.told("failed") == [0, 1, 2]
        assert bench.told("emitted") == [0, 1, 2, 0, 1, 2]
        assert run.counts("spout").timed_out == 3
        assert bench.told("acked") == []


def test_a_tree_is_acked_only_when_all_its_descendants_are() -> None:
    held: list[tuple[Tuple, BoltCollector]] = []

    def twice(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        collector.emit(("left",), anchors=received)
        collector.emit(("right",), anchors=received)
        collector.ack(received)

    def hold(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        held.append((received, collector))

    bench = Bench(CallBolt(twice, ("default", "side")), CallBolt(hold), rows=[("a",)])
    with bench.run as run:
        run.settle()
        assert len(held) == 2
        assert run.counts("bolt0").acked == 1
        first, second = held
        first[1].ack(first[0])
        run.settle()
        assert bench.told("acked") == []
        assert run.pending == 1
        second[1].ack(second[0])
        run.settle()
        assert bench.told("acked") == [0]
        assert run.pending == 0


def test_what_is_not_anchored_does_not_hold_a_tree_up() -> None:
    def loose(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        collector.emit(("x",))
        collector.ack(received)

    bench = Bench(CallBolt(loose, ("default", "word")), CallBolt(silent))
    with bench.run as run:
        run.settle()
        assert bench.told("acked") == [0, 1, 2]
        assert run.counts("bolt1").executed == 3


def test_a_tuple_with_two_anchors_holds_up_both_trees() -> None:
    held: list[tuple[Tuple, BoltCollector]] = []
    pair: list[Tuple] = []

    def join(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        pair.append(received)
        if len(pair) == 2:
            collector.emit(("both",), anchors=[*pair, pair[0]])
            for one in pair:
                collector.ack(one)

    def hold(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        held.append((received, collector))

    bench = Bench(CallBolt(join, ("default", "word")), CallBolt(hold), rows=[("a",), ("b",)])
    with bench.run as run:
        run.settle()
        assert bench.told("acked") == []
        ((received, collector),) = held
        collector.fail(received)
        run.step()
        assert bench.told("failed") == [0, 1]


def test_a_tuple_that_asks_for_more_time_has_it() -> None:
    held: list[tuple[Tuple, BoltCollector]] = []

    def hold(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        held.append((received, collector))

    bench = Bench(CallBolt(hold), rows=[("a",)])
    with bench.run as run:
        run.settle()
        for _ in range(5):
            bench.clock.advance(8_000)
            run.settle()
            held[0][1].reset_timeout(held[0][0])
        assert bench.told("failed") == []
        held[0][1].ack(held[0][0])
        run.settle()
        assert bench.told("acked") == [0]


def test_an_error_in_a_bolt_fails_its_tuple_and_the_cause_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tries: list[object] = []

    def second_time(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        tries.append(received[0])
        if tries.count(received[0]) == 1:
            raise ValueError("not yet")
        collector.ack(received)

    bench = Bench(CallBolt(second_time))
    with bench.run as run:
        run.settle()
        assert bench.told("failed") == [0, 1, 2]
        assert bench.told("acked") == [0, 1, 2]
        failure = run.failures[0]
        assert (failure.component, failure.task) == ("bolt0", 2)
        assert failure.cause.startswith("ValueError: not yet (test_run.py:")
        assert failure.tuple_text == "Tuple({'f0': 'a'} from spout)"
    assert "ValueError: not yet" in caplog.text


def test_an_error_in_a_bolt_may_stop_the_run(caplog: pytest.LogCaptureFixture) -> None:
    def divide(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        collector.emit((1 // 0,))

    bench = Bench(CallBolt(divide), on_error="stop")
    with pytest.raises(RunError, match="ZeroDivisionError") as raised, bench.run as run:
        run.settle()
    assert raised.value.code == "BOLT_FAILED"


@pytest.mark.parametrize("threads", [False, True])
def test_an_error_in_a_spout_stops_the_run_and_names_it(*, threads: bool) -> None:
    class Broken(ListSpout):
        @override
        def next_tuple(self) -> None:
            raise OSError("no feed")

    builder = TopologyBuilder()
    builder.set_spout("feed", Broken(ROWS, []))
    with pytest.raises(RunError, match=r'next_tuple of "feed".*OSError: no feed') as raised:
        run_topology(builder.create_topology(), Config(threads=threads))
    assert raised.value.code == "TASK_FAILED"


def test_no_more_are_under_way_than_a_spout_may_have() -> None:
    held: list[tuple[Tuple, BoltCollector]] = []

    def hold(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        held.append((received, collector))

    rows = [(n,) for n in range(10)]
    bench = Bench(CallBolt(hold), rows=rows, max_spout_pending=4)
    with bench.run as run:
        run.settle()
        assert bench.told("emitted") == [0, 1, 2, 3]
        held[2][1].ack(held[2][0])
        run.settle()
        assert bench.told("emitted") == [0, 1, 2, 3, 4]


def test_a_full_inbox_holds_up_those_before_it() -> None:
    heard: list[tuple[str, object]] = []
    seen: list[tuple[str, object]] = []
    most = 0

    class Slow(EndBolt):
        @override
        def _note(self, received: Tuple, collector: BoltCollector, context: TaskContext) -> None:
            nonlocal most
            most = max(most, run.waiting)
            super()._note(received, collector, context)

    builder = TopologyBuilder()
    builder.set_spout("spout", ListSpout([(n,) for n in range(60)], heard), 20)
    builder.set_bolt("slow", Slow(seen)).shuffle_grouping("spout")
    with TopologyRun(builder.create_topology(), Config(queue_size=5), clock=ManualClock()) as run:
        run.settle()
    assert {value for _, value in seen} == set(range(60))
    assert most <= 6


def test_tuples_may_go_in_a_circle() -> None:
    def again(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        number = received[0]
        assert isinstance(number, int)
        if number:
            collector.emit((number - 1,), anchors=received)
        collector.ack(received)

    heard: list[tuple[str, object]] = []
    builder = TopologyBuilder()
    builder.set_spout("spout", ListSpout([(9,), (4,)], heard))
    bolt = builder.set_bolt("again", CallBolt(again, ("default", "number")), 2)
    bolt.shuffle_grouping("spout").shuffle_grouping("again")
    config = Config(queue_size=1)
    with TopologyRun(builder.create_topology(), config, clock=ManualClock()) as run:
        run.settle()
        assert run.counts("again").executed == 15
    assert sorted(told for told in heard if told[0] == "acked") == [("acked", 0), ("acked", 1)]


def test_a_bolt_takes_two_inputs_and_emits_two_named_streams() -> None:
    def sort(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        even = len(str(received[0])) % 2 == 0
        collector.emit((received[0],), anchors=received, stream="even" if even else "odd")
        collector.ack(received)

    odd: list[tuple[str, object]] = []
    even: list[tuple[str, object]] = []
    heard: list[tuple[str, object]] = []
    builder = TopologyBuilder()
    builder.set_spout("short", ListSpout([("a",), ("bb",)], heard))
    builder.set_spout("long", ListSpout([("ccc",), ("dddd",)], heard))
    bolt = builder.set_bolt("sort", CallBolt(sort, ("even", "w"), ("odd", "w")))
    bolt.shuffle_grouping("short").shuffle_grouping("long")
    builder.set_bolt("odd", EndBolt(odd)).shuffle_grouping("sort", stream="odd")
    builder.set_bolt("even", EndBolt(even)).shuffle_grouping("sort", stream="even")
    run_topology(builder.create_topology(), until=quiet)
    assert sorted(odd) == [("sort", "a"), ("sort", "ccc")]
    assert sorted(even) == [("sort", "bb"), ("sort", "dddd")]
    assert sum(said == "acked" for said, _ in heard) == 4


def test_without_tracking_a_tuple_is_done_when_it_is_emitted() -> None:
    bench = Bench(CallBolt(silent), tracking=False)
    with bench.run as run:
        run.settle()
        assert bench.told("acked") == [0, 1, 2]


def test_a_basic_bolt_anchors_and_acks_by_itself() -> None:
    class Split(BasicBolt):
        @override
        def process(self, received: Tuple) -> list[tuple[str]]:
            return [(word,) for word in str(received[0]).split()]

        @override
        def declare_output_fields(self, declarer: OutputDeclarer) -> None:
            declarer.declare("word")

    seen: list[tuple[str, object]] = []
    bench = Bench(Split(), EndBolt(seen), rows=[("to be or",), ("not to be",)])
    with bench.run as run:
        run.settle()
    assert sorted(str(word) for _, word in seen) == ["be", "be", "not", "or", "to", "to"]
    assert bench.told("acked") == [0, 1]


def test_two_executors_run_four_tasks_and_no_task_is_in_two_threads() -> None:
    threads: dict[int, set[int]] = {}

    def note(received: Tuple, collector: BoltCollector, context: TaskContext) -> None:
        threads.setdefault(context.task, set()).add(threading.get_ident())
        collector.ack(received)

    heard: list[tuple[str, object]] = []
    builder = TopologyBuilder()
    builder.set_spout("spout", ListSpout([(n,) for n in range(200)], heard), 2)
    builder.set_bolt("green", CallBolt(note), 2).set_num_tasks(4).shuffle_grouping("spout")
    run = run_topology(builder.create_topology(), Config(threads=True, workers=2), until=quiet)
    assert {task: counts.executed for task, counts in run.task_counts("green").items()} == (
        dict.fromkeys((3, 4, 5, 6), 50)
    )
    assert all(len(found) == 1 for found in threads.values())
    assert threads[3] == threads[4] != threads[5] == threads[6]
    assert sum(said == "acked" for said, _ in heard) == 200


def test_a_run_is_the_same_for_the_same_seed() -> None:
    def ran(seed: int) -> list[int]:
        seen: list[int] = []

        def note(received: Tuple, collector: BoltCollector, context: TaskContext) -> None:
            seen.append(context.task)
            collector.ack(received)

        builder = TopologyBuilder()
        builder.set_spout("spout", ListSpout([(n,) for n in range(20)], []))
        builder.set_bolt("end", CallBolt(note), 5).none_grouping("spout")
        run_topology(builder.create_topology(), until=quiet, seed=seed)
        return seen

    assert ran(3) == ran(3) != ran(4)


def misused(call: Any, *streams: tuple[str, ...]) -> PenstockError:  # noqa: ANN401
    bench = Bench(CallBolt(call, *streams))
    with pytest.raises(PenstockError) as raised, bench.run as run:
        run.settle()
    return raised.value


def test_a_tuple_is_settled_once_and_anchored_to_before() -> None:
    def twice(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        collector.ack(received)
        collector.ack(received)

    def late(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        collector.ack(received)
        collector.emit(("x",), anchors=received)

    def strange(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        collector.ack(Tuple(("x",), bench_output()))

    assert misused(twice).code == "TUPLE_SETTLED"
    assert misused(late, ("default", "word")).code == "TUPLE_SETTLED"
    assert misused(strange).code == "TUPLE_FOREIGN"


def bench_output() -> Any:  # noqa: ANN401
    declarer = OutputDeclarer("bench")
    declarer.declare("word")
    return declarer.outputs[0]


def test_what_is_emitted_must_be_what_was_declared() -> None:
    def wide(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        collector.emit(("a", "b"), anchors=received)

    def text(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        collector.emit("a", anchors=received)

    def elsewhere(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        collector.emit(("a",), stream="others")

    def named(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        assert received["wrod"]

    assert misused(wide, ("default", "word")).code == "TUPLE_WIDTH"
    assert misused(text, ("default", "word")).code == "TUPLE_WIDTH"
    error = misused(elsewhere, ("other", "word"))
    assert (error.code, error.hint) == ("STREAM_UNDECLARED", 'Did you mean "other"?')
    assert misused(named).code == "TUPLE_FIELD"


class Pointing(Spout):
    """Emits to the task it is told to."""

    def __init__(self, *, direct: bool, plain: bool = False, task: int = 3) -> None:
        self.direct, self.plain, self.task = direct, plain, task
        self.done = False

    @override
    def open(self, config: Config, context: TaskContext, collector: SpoutCollector) -> None:
        self.collector = collector

    @override
    def declare_output_fields(self, declarer: OutputDeclarer) -> None:
        declarer.declare("word", direct=self.direct)

    @override
    def next_tuple(self) -> None:
        if not self.done:
            self.done = True
            if self.plain:
                self.collector.emit(("a",))
            else:
                self.collector.emit_direct(self.task, ("a",), message_id=1)


@pytest.mark.parametrize(
    ("direct", "plain", "task", "code"),
    [
        (True, True, 3, "STREAM_EMIT"),
        (False, False, 3, "STREAM_EMIT"),
        (True, False, 1, "GROUPING_TASK"),
    ],
)
def test_a_direct_stream_needs_a_task_that_takes_it(
    direct: bool, plain: bool, task: int, code: str
) -> None:
    builder = TopologyBuilder()
    builder.set_spout("spout", Pointing(direct=direct, plain=plain, task=task))
    bolt = builder.set_bolt("end", EndBolt([]), 3)
    (bolt.direct_grouping if direct else bolt.shuffle_grouping)("spout")
    with pytest.raises(ModelError) as raised:
        run_topology(builder.create_topology(), until=quiet)
    assert raised.value.code == code


def test_a_direct_stream_goes_to_the_task_that_is_named() -> None:
    builder = TopologyBuilder()
    builder.set_spout("spout", Pointing(direct=True))
    builder.set_bolt("end", EndBolt([]), 3).direct_grouping("spout")
    run = run_topology(builder.create_topology(), until=quiet)
    assert [counts.executed for counts in run.task_counts("end").values()] == [0, 1, 0]


def test_a_spout_that_cannot_be_copied_is_refused() -> None:
    spout = ListSpout(ROWS, [])
    spout.lock = threading.Lock()  # type: ignore[attr-defined]
    builder = TopologyBuilder()
    builder.set_spout("spout", spout)
    with pytest.raises(ModelError) as raised:
        TopologyRun(builder.create_topology())
    assert raised.value.code == "COMPONENT_COPY"


def test_all_that_was_opened_is_closed_when_one_does_not_open() -> None:
    closed: list[tuple[str, object]] = []

    class Closing(EndBolt):
        @override
        def close(self) -> None:
            self.seen.list.append(("closed", 0))

    class Broken(ListSpout):
        @override
        def open(self, config: Config, context: TaskContext, collector: SpoutCollector) -> None:
            raise OSError("no feed")

    builder = TopologyBuilder()
    builder.set_spout("spout", Broken(ROWS, []))
    builder.set_bolt("end", Closing(closed), 2).shuffle_grouping("spout")
    with pytest.raises(RunError, match="open of"):
        run_topology(builder.create_topology())
    assert closed == [("closed", 0)] * 2


@pytest.mark.parametrize(
    "setting",
    [{"workers": 0}, {"message_timeout": "0s"}, {"max_spout_pending": 0}, {"queue_size": -1}],
)
def test_a_setting_that_cannot_be_is_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(ModelError) as raised:
        Config(**setting)
    assert raised.value.code == "TOPOLOGY_SETTING"


def test_a_run_of_no_time_is_refused() -> None:
    builder = TopologyBuilder()
    builder.set_spout("spout", ListSpout(ROWS, []))
    with pytest.raises(UsageError) as raised:
        run_topology(builder.create_topology(), until="0s")
    assert raised.value.code == "TOPOLOGY_UNTIL"


def test_a_clock_that_is_set_back_does_not_keep_trees_open() -> None:
    bench = Bench(CallBolt(silent), rows=[("a",)])
    with bench.run as run:
        run.settle()
        bench.clock.advance(-900_000)
        run.settle()
        bench.clock.advance(15_001)
        run.settle()
        assert bench.told("failed") == [0]


def test_what_shares_a_list_is_not_copied() -> None:
    shared: list[tuple[str, object]] = []
    assert Kept(shared).__deepcopy__({}).list is shared


def test_a_run_may_be_stopped_and_go_on() -> None:
    bench = Bench(CallBolt(silent), rows=[("a",)])
    with bench.run as run:
        run.stop()
        run.run()
        assert bench.heard == []
        run.run(until=lambda run: run.pending == 1)
        assert bench.told("emitted") == [0]


def test_threads_that_fail_forget_and_raise_lose_nothing(caplog: pytest.LogCaptureFixture) -> None:
    chance = random.Random(5)

    def moody(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        mood = chance.random()
        if mood < 0.02:
            return
        if mood < 0.06:
            raise ValueError(mood)
        if mood < 0.1:
            collector.fail(received)
            return
        for _copy in range(2):
            collector.emit(received.values, anchors=received)
        collector.ack(received)

    heard: list[tuple[str, object]] = []
    seen: list[tuple[str, object]] = []
    builder = TopologyBuilder()
    builder.set_spout("spout", ListSpout([(n,) for n in range(400)], heard), 3)
    first = builder.set_bolt("first", CallBolt(moody, ("default", "n")), 4)
    first.shuffle_grouping("spout", load_aware=True)
    builder.set_bolt("second", CallBolt(moody, ("default", "n")), 2).fields_grouping("first", "n")
    builder.set_bolt("end", EndBolt(seen), 3).local_or_shuffle_grouping("second")
    config = Config(threads=True, workers=2, message_timeout="300ms", queue_size=20)
    run = run_topology(builder.create_topology(), config, until=quiet)
    acked = [number for said, number in heard if said == "acked"]
    assert sorted(acked, key=str) == sorted(range(400), key=str)
    for number in range(400):
        assert sum(value == number for _, value in seen) >= 4
    counts = run.counts("spout")
    assert counts.acked == 400
    assert counts.failed == sum(said == "failed" for said, _ in heard)
    assert counts.timed_out > 0
