"""What each grouping promises, tried on the choosers and on whole topologies."""

from __future__ import annotations

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from penstock.clock import ManualClock
from penstock.errors import ModelError
from penstock.inline.topology.grouping import Chooser, LoadAwareChooser, PartialKeyChooser, chooser
from penstock.model.topology import (
    ByFields,
    Direct,
    Grouping,
    LocalOrShuffle,
    PartialKey,
    Shuffle,
    ToAll,
    ToAny,
    ToLowest,
)
from penstock.model.topology_work import BoltCollector, Output, TaskContext, Tuple
from penstock.topology import TopologyBuilder, quiet, run_topology
from tests.conformance.runner import Case, Check, holds, same
from tests.inline.topology.exclaim import CallBolt, ListSpout
from tests.inline.topology.test_run import Pointing

MANY = 600


def tasks_of(given: Mapping[str, Any]) -> list[int]:
    tasks = given.get("tasks", 6)
    return list(range(tasks)) if isinstance(tasks, int) else list(tasks)


def made(given: Mapping[str, Any], near: Iterable[int] = ()) -> Chooser:
    """What chooses for a grouping by its name, over the first field."""
    fields = tuple(given.get("fields") or ())
    kinds: Mapping[str, Grouping] = {
        "all": ToAll(),
        "direct": Direct(),
        "fields": ByFields(fields),
        "global": ToLowest(),
        "load-aware shuffle": Shuffle(load_aware=True),
        "local-or-shuffle": LocalOrShuffle(),
        "none": ToAny(),
        "partial-key": PartialKey(fields),
        "shuffle": Shuffle(load_aware=bool(given.get("load_aware"))),
    }
    context = TaskContext("source", 99, 0, {}, frozenset(near), ManualClock())
    output = Output("default", fields or ("value",))
    return chooser(kinds[given["grouping"]], tasks_of(given), output, context, random.Random(7))


def chosen(one: Chooser, tuples: int, keys: int = 40) -> list[tuple[object, Sequence[int]]]:
    found: list[tuple[object, Sequence[int]]] = []
    for number in range(tuples):
        key = f"key{number % keys}"
        found.append((key, one.choose((key,))))
    return found


def counted(one: Chooser, tuples: int) -> Counter[int]:
    return Counter(task for _ in range(tuples) for task in one.choose(("key",)))


def check_fields(case: Case) -> None:
    if not case.given["fields"]:
        for key, tasks in chosen(made(case.given), MANY):
            same(list(tasks), [min(tasks_of(case.given))], f"tasks of {key}")
        same(case.expect, {"same_as": "global grouping"})
        return
    found: dict[object, Sequence[int]] = {}
    for key, tasks in chosen(made(case.given), MANY):
        same(len(tasks), 1, "tasks of a tuple")
        same(tasks, found.setdefault(key, tasks), f"task of {key}")


def check_partial_key(case: Case) -> None:
    one = made(case.given)
    assert isinstance(one, PartialKeyChooser)
    sent = dict.fromkeys(tasks_of(case.given), 0)
    for key, tasks in chosen(one, MANY):
        same(len(tasks), 1, "tasks of a tuple")
        candidates = one.candidates((key,))
        holds(tasks[0] in candidates, "one of two tasks")
        same(sent[tasks[0]], min(sent[task] for task in candidates), "the less loaded")
        sent[tasks[0]] += 1


def check_all(case: Case) -> None:
    for _, tasks in chosen(made(case.given), MANY):
        same(list(tasks), tasks_of(case.given), "tasks of a tuple")


def check_global(case: Case) -> None:
    for _, tasks in chosen(made(case.given), MANY):
        same(list(tasks), [min(tasks_of(case.given))], "tasks of a tuple")


def check_none(case: Case) -> None:
    for _, tasks in chosen(made(case.given), MANY):
        same(len(tasks), 1, "tasks of a tuple")
    counts = counted(made(case.given), 12_000)
    share = 12_000 / len(tasks_of(case.given))
    holds(all(abs(counts[t] - share) < share / 5 for t in tasks_of(case.given)), "about equal")


def check_shuffle(case: Case) -> None:
    tasks = tasks_of(case.given)
    tuples = case.given.get("tuples", MANY)
    order = [given[0] for _, given in chosen(made(case.given), tuples)]
    for start in range(tuples - len(tasks) + 1):
        same(sorted(order[start : start + len(tasks)]), sorted(tasks), f"round at {start}")


def check_local_or_shuffle(case: Case) -> None:
    tasks = tasks_of(case.given)
    near = case.given.get("worker_tasks", tasks[::2])
    counts = counted(made(case.given, near), case.given.get("tuples", MANY))
    wanted = case.expect.get("counts")
    if wanted is not None:
        same({str(task): counts[task] for task in tasks}, wanted, "counts")
        return
    local = [task for task in tasks if task in near]
    same(counts, Counter(dict.fromkeys(local, MANY // len(local))), "counts of local tasks")
    same(set(counted(made(case.given), MANY)), set(tasks), "tasks where none is local")


def check_direct(case: Case) -> None:
    def run(*, direct: bool, plain: bool, by_direct: bool) -> list[int] | str:
        builder = TopologyBuilder()
        builder.set_spout("spout", Pointing(direct=direct, plain=plain, task=4))
        ends = CallBolt(lambda received, collector, _: collector.ack(received))
        bolt = builder.set_bolt("end", ends, case.given["tasks"])
        (bolt.direct_grouping if by_direct else bolt.shuffle_grouping)("spout")
        try:
            done = run_topology(builder.create_topology(), until=quiet)
        except ModelError as error:
            return error.code
        return [task for task, counts in done.task_counts("end").items() if counts.executed]

    same(run(direct=True, plain=False, by_direct=True), [4], "the task that was named")
    same(run(direct=False, plain=False, by_direct=True), "STREAM_DIRECT", "a stream not direct")
    same(run(direct=True, plain=True, by_direct=True), "STREAM_EMIT", "an ordinary emit")


PROPERTIES: Mapping[str, Callable[[Case], None]] = {
    "all": check_all,
    "direct": check_direct,
    "fields": check_fields,
    "global": check_global,
    "local-or-shuffle": check_local_or_shuffle,
    "none": check_none,
    "partial-key": check_partial_key,
    "shuffle": check_shuffle,
}


def grouping_property(case: Case) -> None:
    PROPERTIES[case.given["grouping"]](case)


def grouping_choose(case: Case) -> None:
    one = made(case.given)
    found = [list(one.choose((number,))) or None for number in range(case.given["tuples"])]
    same(found, case.expect["chosen"], "tasks")


def grouping_counts(case: Case) -> None:
    given, expect = case.given, case.expect
    one = made(given)
    tasks = tasks_of(given)
    if isinstance(one, LoadAwareChooser):
        each: Any = given.get("load_each")
        loads = given.get("load") or dict.fromkeys(tasks, each)
        one.refresh({int(task): load for task, load in loads.items()})
    counts = in_threads(one, given) if "threads" in given else counted(one, given["tuples"])
    if "counts" in expect:
        same({str(task): counts[task] for task in tasks}, expect["counts"], "counts")
    for task in tasks:
        share = counts[task] / counts.total()
        low, high = bounds(expect, task, share)
        holds(low <= share <= high, f"share {share} of task {task} is from {low} to {high}")


def bounds(expect: Mapping[str, Any], task: int, share: float) -> tuple[float, float]:
    if "share_each" in expect:
        return expect["share_each"] - expect["tolerance"], expect["share_each"] + expect[
            "tolerance"
        ]
    low, high = expect.get("share_between", {}).get(str(task), (share, share))
    return low, high


def in_threads(one: Chooser, given: Mapping[str, Any]) -> Counter[int]:
    parts: list[Counter[int]] = []
    threads = [
        threading.Thread(target=lambda: parts.append(counted(one, given["tuples_per_thread"])))
        for _ in range(given["threads"])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(parts, Counter())


def load_aware_shares(case: Case) -> None:
    first, *others = case.given["tasks"]
    one = LoadAwareChooser([first, *others], random.Random(7))
    wanted = case.expect[f"share_of_task_{first}_after_each_refresh"]
    for phase, shares in zip(case.given["phases"], wanted, strict=True):
        for share in shares:
            one.refresh({int(task): load for task, load in phase["load"].items()})
            got = one.shares[first]
            holds(abs(got - share) <= case.expect["tolerance"], f"share {got} is {share}")


class FirstTasks:
    """A grouping of the user's own: the first tasks by id."""

    def __init__(self, count: int) -> None:
        self.count = count

    def prepare(self, _context: TaskContext, _stream: str, tasks: Sequence[int]) -> None:
        self.tasks = tasks[: self.count]

    def choose(self, _values: Sequence[object]) -> Sequence[int]:
        return self.tasks


def grouping_pipeline(case: Case) -> None:
    if case.given["grouping"] == "fields":
        word_count(case)
    else:
        custom(case)


def word_count(case: Case) -> None:
    found = re.fullmatch(r"(\d+) times (\[.*\]) as byte arrays", case.given["input"])
    assert found is not None
    words = [word.encode() for word in json.loads(found[2])] * int(found[1])
    counts: dict[int, Counter[object]] = {}
    emitted: list[tuple[str, int]] = []

    def count(received: Tuple, collector: BoltCollector, context: TaskContext) -> None:
        own = counts.setdefault(context.task, Counter())
        word = received[0]
        own[word] += 1
        assert isinstance(word, bytes)
        emitted.append((word.decode(), own[word]))
        collector.ack(received)

    builder = TopologyBuilder()
    # A new object for each word, so that only its content can bring it to its task.
    rows = [(bytes(bytearray(word)),) for word in words]
    builder.set_spout("words", ListSpout(rows, []), case.given["spout_tasks"])
    bolt = builder.set_bolt("count", CallBolt(count), case.given["counter_tasks"])
    bolt.fields_grouping("words", "f0")
    run_topology(builder.create_topology(), until=quiet)
    wanted = [
        (word, number)
        for word, (first, last) in case.expect["output_multiset"]
        for number in range(first, last + 1)
    ]
    same(sorted(emitted), sorted(wanted), "running counts")


def custom(case: Case) -> None:
    found = re.fullmatch(r"custom: the first (\d+) tasks by id", case.given["grouping"])
    assert found is not None
    emitted: list[object] = []

    def note(received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        emitted.append(received[0])
        collector.ack(received)

    builder = TopologyBuilder()
    builder.set_spout("words", ListSpout([(word,) for word in case.given["input"]], []))
    bolt = builder.set_bolt("note", CallBolt(note), case.given["tasks"])
    bolt.custom_grouping("words", FirstTasks(int(found[1])))
    run_topology(builder.create_topology(), until=quiet)
    same(Counter(emitted), Counter(case.expect["output_multiset"]), "output")


GROUPING_CHECKS: Mapping[str, Check] = {
    "grouping_choose": grouping_choose,
    "grouping_counts": grouping_counts,
    "grouping_pipeline": grouping_pipeline,
    "grouping_property": grouping_property,
    "load_aware_shares": load_aware_shares,
}
