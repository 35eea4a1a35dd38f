"""What it costs to keep state near or far: in this process, in files, in the log, in a database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

import penstock as ps
from bench.measure import seconds
from bench.result import Measure, Result
from bench.scale import Scale
from penstock.inline.choose_store import choose_store
from penstock.inline.run import InlineOptions, InlineRun
from penstock.inline.state_store import Cut, StateStore
from penstock.kernel.codec import encode
from penstock.kernel.port import State
from penstock.log.open import open_log
from penstock.setting_value import StateKind

EVENTS = pa.schema([("sensor", pa.int64()), ("value", pa.float64())])
_BUCKETS = 8
_METHOD = (
    "First, events one at a time, with a snapshot after each: the milliseconds an event takes from"
    " the log to its result in the log, its state stored with it. Then a snapshot alone, of a"
    " larger state of which one bucket of eight has changed. What a program works with is always"
    " in its own process; what is measured is how far away its copy is. The database is a SQLite"
    " file on this machine: a server adds its way there and back."
)
_STORES: tuple[StateKind, ...] = ("memory", "local", "changelog", "external")


def run(scale: Scale) -> Result:
    """Measure the way of an event, and a snapshot of each store."""
    keys, events = scale.of(100_000, 1_000), scale.of(300, 10)
    with scale.home() as home:
        measures = (*_of_events(scale, home, events), *_of_snapshots(scale, home, keys))
    return Result(
        name="state_place",
        title="State near and far",
        method=_METHOD,
        baseline="the store `local`: files of the checkpoint",
        scale=scale.name,
        sizes={"keys": keys, "events": events},
        measures=measures,
    )


def _of_events(scale: Scale, home: Path, events: int) -> Iterator[Measure]:
    row = pa.Table.from_pylist([{"sensor": 1, "value": 1.0}], EVENTS)
    with open_log(home) as log:
        log.create_topic("events", schema=EVENTS)
        for _ in range(events):
            log.append("events", 0, row)
    costs: dict[StateKind, list[float]] = {kind: [] for kind in _STORES}
    numbers = count()
    for _ in range(scale.pairs + 1):
        for kind, found in costs.items():
            found.append(_run(home, kind, next(numbers)) / events)
    yield from _measures("an event and its state, stored in", costs)


def _run(home: Path, kind: StateKind, number: int) -> float:
    """Give the milliseconds that all events take, with a snapshot after each."""
    app = ps.App(f"{kind}-{number}")
    stream = app.stream("events", schema=EVENTS)
    stream.group_by("sensor").agg(total=ps.sum("value")).to(app.name)
    options = InlineOptions(until="caught up", snapshot_every=0, state=kind)
    made = InlineRun(app.physical(), home=home, checkpoint=home / app.name, options=options)
    return 1000 * seconds(made.run)


def _of_snapshots(scale: Scale, home: Path, keys: int) -> Iterator[Measure]:
    state = pl.DataFrame({"sensor": np.arange(keys // _BUCKETS), "total": 1.0})
    blob = encode(State({"rows": state}), "bench")
    costs: dict[StateKind, list[float]] = {kind: [] for kind in _STORES}
    with open_log(home) as log:
        stores = {
            kind: choose_store(kind, home / kind, log, kind, str(home / "state.sqlite"))
            for kind in _STORES
        }
        numbers = count(1)
        for _ in range(scale.pairs + 1):
            number = next(numbers)
            for kind, store in stores.items():
                costs[kind].append(1000 * _stored(store, number, blob))
    yield from _measures("a snapshot in", costs)


def _measures(label: str, costs: Mapping[StateKind, list[float]]) -> Iterator[Measure]:
    for kind, found in costs.items():
        yield Measure(
            label=f"{label} the store {kind}",
            unit="ms",
            ours=tuple(found[1:]),
            baseline=() if kind == "local" else tuple(costs["local"][1:]),
            lower_is_better=True,
        )


def _stored(store: StateStore, number: int, blob: bytes) -> float:
    buckets = frozenset(("agg-1", bucket) for bucket in range(_BUCKETS))
    changed = buckets if number == 1 else frozenset((("agg-1", number % _BUCKETS),))
    cut = Cut(number, b"header", buckets, changed, frozenset(), encode=lambda _: blob)

    def store_it() -> None:
        store.write(cut, None)
        store.note(number)

    return seconds(store_it)
