"""Streams and tables of records: each step gives a new one, and the old one stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, overload

from penstock.errors import ModelError
from penstock.front.streams.meeting import (
    Group,
    Within,
    aggregated,
    frames_of,
    interval_join,
    stream_join,
    table_join,
)
from penstock.front.streams.node import (
    Codec,
    Count,
    Flow,
    Fold,
    Joiner,
    Merged,
    Reduce,
    Streamed,
    Topic,
)
from penstock.front.streams.program import Program, same_program
from penstock.front.streams.serde import Serde
from penstock.front.streams.step import (
    Choose,
    FlatMap,
    FlatMapValues,
    Keep,
    Look,
    Map,
    MapValues,
    SelectKey,
    Step,
)
from penstock.model.duration import Duration
from penstock.model.join import How
from penstock.model.site import user_site
from penstock.model.window import Window

Predicate: TypeAlias = Callable[[Any, Any], Any]
Reducer: TypeAlias = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True, repr=False)
class KStream:
    """Records that keep coming, and what is done with them."""

    program: Program
    flow: Flow

    def map(self, function: Callable[[Any, Any], Any]) -> KStream:
        """Make one record of each: `function(key, value)` gives a key and a value."""
        return self._then(Map(function), rekeyed=True)

    def flat_map(self, function: Callable[[Any, Any], Iterable[Any]]) -> KStream:
        """Make any number of records of each."""
        return self._then(FlatMap(function), rekeyed=True)

    def map_values(self, function: Callable[[Any], Any]) -> KStream:
        """Give each record another value; its key stays."""
        return self._then(MapValues(function))

    def flat_map_values(self, function: Callable[[Any], Iterable[Any]]) -> KStream:
        """Make any number of records of each, with the same key."""
        return self._then(FlatMapValues(function))

    def select_key(self, function: Callable[[Any, Any], Any]) -> KStream:
        """Give each record another key; its value stays."""
        return self._then(SelectKey(function), rekeyed=True)

    def filter(self, predicate: Predicate) -> KStream:
        """Keep the records that the predicate of key and value wants."""
        return self._then(Keep(predicate))

    def filter_not(self, predicate: Predicate) -> KStream:
        """Keep the records that the predicate does not want."""
        return self._then(Keep(predicate, unless=True))

    def peek(self, action: Callable[[Any, Any], object]) -> KStream:
        """Show each record to a function, and go on with it.

        Where several streams go on from here, each shows it.
        """
        return self._then(Look(action))

    def foreach(self, action: Callable[[Any, Any], object]) -> None:
        """Give each record to a function, which may bring it to another system.

        After a crash those since the last commit come again.
        """
        self.program.watch(self.flow.then(Look(action, last=True)))

    def branch(self, *predicates: Predicate) -> tuple[KStream, ...]:
        """Give a stream for each predicate: a record goes to the first that wants it."""
        return tuple(self._then(Choose(predicates, number)) for number in range(len(predicates)))

    def merge(self, *others: KStream) -> KStream:
        """Add the records of other streams."""
        for other in others:
            same_program(self.program, other.program)
        flows = (self.flow, *(other.flow for other in others))
        rekeyed = any(flow.rekeyed for flow in flows)
        node = Merged(flows, self.flow.codec, user_site())
        return KStream(self.program, Flow(node, node.codec, rekeyed=rekeyed))

    def group_by_key(
        self, *, key_serde: Serde | None = None, value_serde: Serde | None = None
    ) -> KGroupedStream:
        """Bring together the records of each key."""
        codec = self.flow.codec.changed(key_serde, value_serde)
        return KGroupedStream(Group(self.program, self.flow, codec))

    def group_by(
        self,
        function: Callable[[Any, Any], Any],
        *,
        key_serde: Serde | None = None,
        value_serde: Serde | None = None,
    ) -> KGroupedStream:
        """Bring together the records for which a function gives the same."""
        chosen = self.select_key(function)
        return chosen.group_by_key(key_serde=key_serde, value_serde=value_serde)

    def count_by_key(
        self,
        store: str | None = None,
        *,
        window: Window | None = None,
        grace: Duration | None = None,
        key_serde: Serde | None = None,
    ) -> KTable:
        """Count the records of each key; the table can be asked as `store`."""
        return self.group_by_key(key_serde=key_serde).windowed_by(window, grace=grace).count(store)

    def reduce_by_key(
        self,
        reducer: Reducer,
        store: str | None = None,
        *,
        window: Window | None = None,
        grace: Duration | None = None,
        key_serde: Serde | None = None,
        value_serde: Serde | None = None,
    ) -> KTable:
        """Put the values of each key together, two at a time."""
        grouped = self.group_by_key(key_serde=key_serde, value_serde=value_serde)
        return grouped.windowed_by(window, grace=grace).reduce(reducer, store)

    def aggregate_by_key(  # noqa: PLR0913  # all that one may say about an aggregate
        self,
        initial: Callable[[], Any],
        aggregator: Callable[[Any, Any, Any], Any],
        store: str | None = None,
        *,
        merger: Callable[[Any, Any], Any] | None = None,
        window: Window | None = None,
        grace: Duration | None = None,
        key_serde: Serde | None = None,
        value_serde: Serde | None = None,
    ) -> KTable:
        """Add the values of each key to a start value: `aggregator(key, value, so_far)`.

        `value_serde` is that of the results.
        """
        grouped = self.group_by_key(key_serde=key_serde).windowed_by(window, grace=grace)
        return grouped.aggregate(initial, aggregator, store, merger=merger, value_serde=value_serde)

    def join(
        self, other: KStream | KTable, joiner: Joiner, *, within: Within | None = None
    ) -> KStream:
        """Put each value together with that of the same key in a table, or in a stream.

        Records of two streams meet `within` a time of each other, or `(before, after)`.
        """
        return self._joined(other, joiner, "inner", within)

    def left_join(
        self, other: KStream | KTable, joiner: Joiner, *, within: Within | None = None
    ) -> KStream:
        """Join; a record without a partner meets None."""
        return self._joined(other, joiner, "left", within)

    def outer_join(self, other: KStream, joiner: Joiner, *, within: Within) -> KStream:
        """Join two streams; a record of either without a partner meets None."""
        return self._joined(other, joiner, "full", within)

    def through(
        self, topic: str, *, key_serde: Serde | None = None, value_serde: Serde | None = None
    ) -> KStream:
        """Write the records to a topic, and go on with what is read from it."""
        codec = self.flow.codec.changed(key_serde, value_serde)
        self.program.write(self.flow.written(codec), topic)
        return KStream(self.program, Flow(Topic(topic, codec, site=user_site()), codec))

    @overload
    def to(
        self, topic: str, /, *, key_serde: Serde | None = None, value_serde: Serde | None = None
    ) -> None: ...

    @overload
    def to(self, key_serde: Serde, value_serde: Serde, topic: str, /) -> None: ...

    def to(
        self,
        *words: str | Serde,
        key_serde: Serde | None = None,
        value_serde: Serde | None = None,
    ) -> None:
        """Write the records to a topic: `to("topic")`, or `to(key_serde, value_serde, "topic")`."""
        topic, codec = _address(self.flow.codec.changed(key_serde, value_serde), words)
        self.program.write(self.flow.written(codec), topic)

    def _then(self, step: Step, *, rekeyed: bool = False) -> KStream:
        return KStream(self.program, self.flow.then(step, rekeyed=rekeyed))

    def _joined(
        self, other: KStream | KTable, joiner: Joiner, how: How, within: Within | None
    ) -> KStream:
        same_program(self.program, other.program)
        flows, words = (self.flow, other.flow), (how, joiner)
        if isinstance(other, KTable):
            return KStream(self.program, stream_join(self.program, flows, words))
        if within is None:
            raise ModelError(
                "JOIN_UNBOUNDED",
                f"two streams are joined, and nothing says how long records are to be kept for"
                f" partners ({user_site()})",
                hint='Give `within="10 minutes"`.',
            )
        return KStream(self.program, interval_join(self.program, flows, words, within))


@dataclass(frozen=True, slots=True, repr=False)
class KTable:
    """One value a key, kept up to date."""

    program: Program
    flow: Flow

    def map_values(self, function: Callable[[Any], Any]) -> KTable:
        """Give each key another value; None takes the key out."""
        return KTable(self.program, self.flow.then(MapValues(function)))

    def filter(self, predicate: Predicate) -> KTable:
        """Keep the keys that the predicate of key and value wants."""
        return KTable(self.program, self.flow.then(Keep(predicate)))

    def filter_not(self, predicate: Predicate) -> KTable:
        """Keep the keys that the predicate does not want."""
        return KTable(self.program, self.flow.then(Keep(predicate, unless=True)))

    def join(self, other: KTable, joiner: Joiner) -> KTable:
        """Put together the values of the keys that both tables have."""
        return self._joined(other, joiner, "inner")

    def left_join(self, other: KTable, joiner: Joiner) -> KTable:
        """Join; a key that the other table does not have meets None."""
        return self._joined(other, joiner, "left")

    def outer_join(self, other: KTable, joiner: Joiner) -> KTable:
        """Join; a key that one of both tables does not have meets None."""
        return self._joined(other, joiner, "full")

    def to_stream(self) -> KStream:
        """Give its updates as a stream; that a key goes is left out."""
        flow = replace(self.flow, steps=(), changelog=False)
        return KStream(self.program, replace(flow, node=Streamed(self.flow, user_site())))

    def through(
        self, topic: str, *, key_serde: Serde | None = None, value_serde: Serde | None = None
    ) -> KTable:
        """Write the table to a topic, and go on with what is read from it."""
        codec = self.flow.codec.changed(key_serde, value_serde)
        self.program.write(self.flow.written(codec), topic)
        node = Topic(topic, codec, table=True, site=user_site())
        return KTable(self.program, Flow(node, codec, changelog=True))

    @overload
    def to(
        self, topic: str, /, *, key_serde: Serde | None = None, value_serde: Serde | None = None
    ) -> None: ...

    @overload
    def to(self, key_serde: Serde, value_serde: Serde, topic: str, /) -> None: ...

    def to(
        self,
        *words: str | Serde,
        key_serde: Serde | None = None,
        value_serde: Serde | None = None,
    ) -> None:
        """Write the table to a topic: each new value, and a tombstone for a key that goes."""
        topic, codec = _address(self.flow.codec.changed(key_serde, value_serde), words)
        self.program.write(self.flow.written(codec), topic)

    def _joined(self, other: KTable, joiner: Joiner, how: How) -> KTable:
        same_program(self.program, other.program)
        return KTable(self.program, table_join((self.flow, other.flow), (how, joiner)))


@dataclass(frozen=True, slots=True, repr=False)
class KGroupedStream:
    """Records brought together by key, waiting to be told what is computed of them."""

    group: Group

    def windowed_by(
        self, window: Window | None, *, grace: Duration | None = None
    ) -> KGroupedStream:
        """Say where in event time records are aggregated, and how long late ones may come."""
        return KGroupedStream(replace(self.group, frames=frames_of(window, grace)))

    def count(self, store: str | None = None) -> KTable:
        """Count the records of each key; the table can be asked as `store`."""
        return self._table(Count(), store)

    def reduce(self, reducer: Reducer, store: str | None = None) -> KTable:
        """Put the values of each key together, two at a time."""
        return self._table(Reduce(reducer), store)

    def aggregate(
        self,
        initial: Callable[[], Any],
        aggregator: Callable[[Any, Any, Any], Any],
        store: str | None = None,
        *,
        merger: Callable[[Any, Any], Any] | None = None,
        value_serde: Serde | None = None,
    ) -> KTable:
        """Add the values of each key to a start value: `aggregator(key, value, so_far)`.

        `merger` puts two results together, which sessions need; `value_serde` is that of the
        results.
        """
        return self._table(Fold(initial, aggregator, merger), store, value_serde)

    def _table(
        self, what: Count | Reduce | Fold, store: str | None, values: Serde | None = None
    ) -> KTable:
        return KTable(self.group.program, aggregated(self.group, what, store, values))


def _address(codec: Codec, words: tuple[str | Serde, ...]) -> tuple[str, Codec]:
    match words:
        case (str() as topic,):
            return topic, codec
        case (Serde() as keys, Serde() as values, str() as topic):
            return topic, codec.changed(keys, values)
        case _:
            raise ModelError(
                "STEP_ARGUMENT",
                f"to is given {words!r} ({user_site()})",
                hint='Give to("topic"), or to(key_serde, value_serde, "topic").',
            )
