"""Nodes become relations and sinks of the model, each node once."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from penstock.front.streams.folding import measure_of
from penstock.front.streams.node import (
    Aggregated,
    Codec,
    Count,
    Flow,
    Joined,
    Merged,
    Node,
    Repartitioned,
    Streamed,
    Topic,
    Written,
)
from penstock.front.streams.reading import (
    KEY,
    OTHER,
    RECORDS,
    VALUE,
    InWindow,
    OfBoth,
    Reader,
    Record,
    Rewrite,
)
from penstock.model.aggregate import Aggregate
from penstock.model.join import Join, Pick
from penstock.model.join_check import check_join
from penstock.model.latest import Latest
from penstock.model.plan import Sink
from penstock.model.refine import Refinement
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Apply, Union, Updates
from penstock.model.trigger import EACH_ROW
from penstock.model.watermark import BoundedDisorder
from penstock.model.window import Session

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
_IN_ORDER = BoundedDisorder(max_ahead=None)
_PICKS = (Pick(KEY, KEY, KEY), Pick(VALUE, VALUE), Pick(OTHER, None, VALUE))


@dataclass(frozen=True, slots=True)
class Lowered:
    """The relation of a node, and how its rows are read."""

    relation: Relation
    read: Reader
    codec: Codec | None = None
    """The serdes of its rows, where they are records of bytes as they are."""


class Lowering:
    """The relations and sinks of one application."""

    def __init__(self, application: str, *, cut: bool) -> None:
        self._application = application
        self._cut = cut
        self._done: dict[int, Lowered] = {}
        self.sinks: list[Sink] = []
        self.compacted: set[str] = set()

    def write(self, written: Written) -> None:
        """Add what the user writes."""
        flow = written.flow
        topic = written.topic
        if written.role == "nowhere":
            topic = f"{self._application}-{topic}"
        relation = self._records(flow, flow.codec, drop="keys" if flow.changelog else "none")
        self._sink(relation, topic, written.site, upsert=flow.changelog)

    def keep(self, node: Aggregated | Topic) -> str:
        """Add what makes a table one that can be asked; give the topic that holds it."""
        if isinstance(node, Topic):
            return node.name
        topic = f"{self._application}-{node.name}-changelog"
        changes = self._lowered(node)
        # Sessions that are merged leave their old windows: those must go from the topic, too.
        merging = node.frames is not None and isinstance(node.frames.window, Session)
        source = changes.relation if merging else Updates(changes.relation, node.site)
        rewrite = Rewrite(changes.read, (), node.codec)
        relation = Apply(source, node.name, rewrite, "flat_map", RECORDS, node.site)
        self._sink(relation, topic, node.site, upsert=merging)
        self.compacted.add(topic)
        return topic

    def _sink(self, relation: Relation, topic: str, site: str, *, upsert: bool = False) -> None:
        late, dead = f"{self._application}.late", f"{self._application}.dead"
        self.sinks.append(Sink(relation, topic, (KEY,), late, dead, site, upsert=upsert, raw=True))
        if upsert:
            self.compacted.add(topic)

    def _lowered(self, node: Node) -> Lowered:
        if id(node) not in self._done:
            self._done[id(node)] = self._lower(node)
        return self._done[id(node)]

    def _lower(self, node: Node) -> Lowered:
        match node:
            case Topic():
                return self._topic(node)
            case Repartitioned():
                return self._repartitioned(node)
            case Merged(flows, codec, site):
                inputs = tuple(self._records(flow, codec) for flow in flows)
                return _plain(Union(inputs, site), codec)
            case Aggregated():
                return self._aggregated(node)
            case Streamed():
                return self._streamed(node)
            case Joined():
                return self._joined(node)

    def _topic(self, node: Topic) -> Lowered:
        key = (KEY,) if node.table else ()
        source = Stream(node.name, RECORDS, watermark=_IN_ORDER, site=node.site, key=key)
        relation = Latest(source, key, site=node.site) if node.table else source
        return _plain(relation, node.codec)

    def _repartitioned(self, node: Repartitioned) -> Lowered:
        records = self._records(node.flow, node.codec, drop="keys")
        if not self._cut:
            return _plain(records, node.codec)
        topic = f"{self._application}-{node.name}-repartition"
        self._sink(records, topic, node.site)
        source = Stream(topic, RECORDS, watermark=_IN_ORDER, site=node.site)
        return _plain(source, node.codec)

    def _aggregated(self, node: Aggregated) -> Lowered:
        source = self._records(node.flow, node.taken, drop="values")
        frames = node.frames
        step = Aggregate(
            source,
            (KEY,),
            (measure_of(node.what, node.taken, node.codec, node.site),),
            None if frames is None else frames.window,
            None if frames is None else EACH_ROW,
            Refinement("retracting")
            if frames is None
            else Refinement("retracting", keep_late=frames.grace, stamp="latest"),
            site=node.site,
        )
        counted = isinstance(node.what, Count)
        record = Record(node.taken.keys, None if counted else node.codec.values)
        return Lowered(step, record if frames is None else InWindow(record))

    def _streamed(self, node: Streamed) -> Lowered:
        flow = node.flow
        if not flow.steps:
            lowered = self._lowered(flow.node)
            return replace(lowered, relation=Updates(lowered.relation, node.site))
        records = self._records(flow, flow.codec, drop="keys")
        return _plain(Updates(records, node.site), flow.codec)

    def _joined(self, node: Joined) -> Lowered:
        left, one = self._side(node.left)
        right, other = self._side(node.right)
        join = Join(left, right, ((KEY, KEY),), node.how, node.bound, _PICKS, site=node.site)
        check_join(join)
        return Lowered(join, OfBoth(one, other, node.joiner))

    def _side(self, flow: Flow) -> tuple[Relation, Record]:
        """Give the rows of one side of a join: a key, a value, and no more."""
        lowered = self._lowered(flow.node)
        if not flow.steps and flow.changelog and isinstance(lowered.read, Record):
            return lowered.relation, lowered.read
        records = self._records(flow, flow.codec, drop="keys")
        if flow.changelog:
            # What a function made of a table is one again: the last of each key.
            records = Latest(records, (KEY,), site=flow.node.site)
        return records, Record(flow.codec.keys, flow.codec.values)

    def _records(
        self, flow: Flow, codec: Codec, *, drop: Literal["none", "keys", "values"] = "none"
    ) -> Relation:
        """Give a flow as records of bytes; those without a key, or a value, left out."""
        lowered = self._lowered(flow.node)
        made = isinstance(flow.node, Repartitioned) and drop == "keys"
        if not flow.steps and lowered.codec == codec and (drop == "none" or made):
            return lowered.relation
        rewrite = Rewrite(
            lowered.read,
            flow.steps,
            codec,
            keyed=drop != "none",
            # A table has no row for what has no value.
            valued=drop == "values" or flow.changelog,
        )
        return Apply(lowered.relation, _called(flow), rewrite, "flat_map", RECORDS, flow.node.site)


def _plain(relation: Relation, codec: Codec) -> Lowered:
    return Lowered(relation, Record(codec.keys, codec.values), codec)


def _called(flow: Flow) -> str:
    """Name steps by what they do, as in `flat map values, map`."""
    names = (_CAPITAL.sub(" ", type(step).__name__).lower() for step in flow.steps)
    return ", ".join(names) or "records"
