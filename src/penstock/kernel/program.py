"""A physical plan that works: rows in, parcels out, in this process and without a clock.

The same program runs in the test driver and in Spark's workers. It travels there by pickle,
so operators and chains are built where they are first needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import polars as pl
from typing_extensions import override

from penstock.kernel.arrival import observe, stamp
from penstock.kernel.chain import ChainRunner
from penstock.kernel.columns import frame_schema
from penstock.kernel.letter import late_letters
from penstock.kernel.operators import joiner_of, operator_of
from penstock.kernel.parcel import (
    NO_BUCKET,
    Parcel,
    Taken,
    Worked,
    after_target,
    dead_target,
    late_target,
    split,
)
from penstock.kernel.port import (
    CONTROL,
    END_OF_TIME,
    ORIGIN,
    PANE_COLUMNS,
    PORT,
    START_OF_TIME,
    UNTIL,
    Counts,
    Frame,
    Joiner,
    Operator,
    State,
    Step,
    Time,
)
from penstock.kernel.unread import ALL_READ, Unread
from penstock.model.join import Join
from penstock.model.member import member_of, own_id
from penstock.model.physical import Chain, Keyed, Output, Physical, Scan
from penstock.model.settle import Settle
from penstock.model.stateless import Apply, Expect, Restamp
from penstock.schema.schema import Schema


class Program:
    """Does the work of a physical plan, one batch of one bucket at a time."""

    def __init__(self, physical: Physical) -> None:
        self.physical = physical
        self.scans: Mapping[str, Scan] = {scan.id: scan for scan in physical.scans}
        self.keyed: Mapping[str, Keyed] = {item.id: item for item in physical.operators}
        self.outputs: Mapping[str, Output] = {item.id: item for item in physical.outputs}
        self._operators: dict[str, Operator] = {}
        self._joiners: dict[str, Joiner] = {}
        self._chains: dict[tuple[str, str], ChainRunner] = {}
        self._empty: dict[tuple[str, int], Frame] = {}

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return Program, (self.physical,)

    def take(
        self,
        scan: str,
        rows: Frame,
        watermark: int,
        clock: int | None,
        *,
        chains: bool = True,
        unread: Unread = ALL_READ,
    ) -> Taken:
        """Take one partition's rows as the log has them: `needed_columns` and `_taken`.

        They are stamped, those without a usable time parked, and the rest `read`; without
        `chains` the rest is a parcel for `follow`. What is `unread` came beside them.
        """
        source = self.scans[scan]
        seen = observe(source.stream, stamp(source.stream, rows), clock)
        own = {*source.columns} if _parks(source) else {*ORIGIN}
        origin = [name for name in ORIGIN if name in rows.columns and name not in own]
        useful = seen.rows.select(*source.columns, *CONTROL, *origin)
        worked = self.read(scan, useful, watermark) if chains else _unfollowed(scan, useful)
        counts = {scan: seen.counts + unread.counts, **worked.counts}
        parked = (*self.dead(scan, unread.letters), *self.dead(scan, seen.dead))
        done = replace(worked, parcels=(*parked, *worked.parcels), counts=counts)
        return Taken(done, seen.candidate, seen.skew)

    def read(self, scan: str, rows: Frame, watermark: int = START_OF_TIME) -> Worked:
        """Take a scan's rows through its chains; `watermark` is that of the step before."""
        return self.follow(scan, rows, watermark)

    def follow(self, origin: str, rows: Frame, watermark: int) -> Worked:
        """Take what a scan or a keyed operator gave through the chains after it."""
        counts: dict[str, Counts] = {}
        schema = self._gives(origin)
        parcels = [
            parcel
            for chain in self._chains_of(origin)
            for parcel in self._follow(origin, chain, (rows, schema), watermark, counts)
        ]
        return Worked(tuple(parcels), counts)

    def work(
        self,
        keyed: str,
        state: State,
        deltas: Sequence[Frame],
        time: Time,
        *,
        chains: bool = True,
    ) -> Worked:
        """Take one step of one bucket, and its results through the chains after it.

        Without `chains` the results are a parcel for `follow`.
        """
        item = self.keyed[keyed]
        behind = item.delay // timedelta(milliseconds=1)
        known = replace(state, time=_delayed(state.time, behind))
        step = self._step(item, known, deltas, _delayed(time, behind))
        counts: dict[str, Counts] = {}
        _count(counts, keyed, step.counts)
        parcels = list(self._beside(item, step))
        if not step.output.is_empty():
            before = state.time.watermark
            followed = self.follow(keyed, step.output, before) if chains else None
            after = followed or _unfollowed(keyed, step.output)
            parcels += after.parcels
            counts.update(after.counts)
        return Worked(tuple(parcels), counts, replace(step.state, time=time), step.wake_at)

    def operator(self, keyed: str) -> Operator:
        """Give the operator of a keyed step, built when it is first asked for."""
        if keyed not in self._operators:
            self._operators[keyed] = operator_of(self.keyed[keyed])
        return self._operators[keyed]

    def joiner(self, keyed: str) -> Joiner:
        """Give the operator of a join, built when it is first asked for."""
        if keyed not in self._joiners:
            self._joiners[keyed] = joiner_of(self.keyed[keyed])
        return self._joiners[keyed]

    def output_after(self, target: str, member: str | None = None) -> Output | None:
        """Give the first output that rows for a target reach, or that of a member's part."""
        waiting, seen = [target], set[str]()
        while waiting:
            found = waiting.pop(0)
            if found in self.outputs:
                return self.outputs[found]
            if found not in seen:
                seen.add(found)
                waiting += [
                    chain.target
                    for chain in self._chains_of(found)
                    if member is None or member_of(chain.target) == member
                ]
        return None

    def dead(self, target: str, letters: Frame | None) -> Iterator[Parcel]:
        """Give the parcel that brings dead letters beside the first output after a target."""
        if letters is None or letters.is_empty():
            return
        # Statements that share a scan have each its own letters of it.
        members = dict.fromkeys(member_of(chain.target) for chain in self._chains_of(target))
        for member in members or (None,):
            output = self.output_after(target, member)
            if output and output.sink.dead_topic:
                yield Parcel(dead_target(output.id), NO_BUCKET, letters)

    def _gives(self, origin: str) -> Schema:
        if origin in self.keyed:
            return self.keyed[origin].relation.schema
        source = self.scans[origin]
        known = source.stream.columns
        return Schema(tuple(known.field(name) for name in source.columns))

    def _chains_of(self, id_: str) -> tuple[Chain, ...]:
        if id_ in self.keyed:
            return self.keyed[id_].chains
        return self.scans[id_].chains if id_ in self.scans else ()

    def _follow(
        self,
        origin: str,
        chain: Chain,
        rows: tuple[Frame, Schema],
        watermark: int,
        counts: dict[str, Counts],
    ) -> Iterator[Parcel]:
        frame, schema = rows
        if (origin, chain.id) not in self._chains:
            self._chains[origin, chain.id] = ChainRunner(chain.steps, schema, id=chain.id)
        runner = self._chains[origin, chain.id]
        done = runner.run(frame)
        for step, count in done.counts.items():
            _count(counts, step, count)
        yield from self.dead(chain.target, self._of_topic(origin, done.dead))
        if not done.frame.is_empty():
            own, there = runner.schema.names, done.frame.columns
            ended = [name for name in ORIGIN if name in there and name not in own]
            kept = done.frame.drop(ended) if ended else done.frame
            yield from self._send(chain, kept, watermark)

    def _of_topic(self, origin: str, letters: Frame | None) -> Frame | None:
        """Let letters that know their record say of which topic it is."""
        if letters is None or origin not in self.scans:
            return letters
        topic = pl.lit(self.scans[origin].stream.topic)
        return letters.with_columns(
            pl.when(pl.col("offset").is_not_null()).then(topic).alias("topic")
        )

    def _send(self, chain: Chain, frame: Frame, watermark: int) -> Iterator[Parcel]:
        target = chain.target
        if target in self.outputs:
            yield Parcel(target, NO_BUCKET, frame)
            return
        settings = self.physical.settings
        rows = frame.drop(PANE_COLUMNS, strict=False)
        if isinstance(self.keyed[target].relation, Join):
            joiner = self.joiner(target)
            if settings.preaggregate:
                rows = joiner.pack(rows, watermark, chain.port)
            rows = rows.with_columns(pl.lit(chain.port, dtype=pl.Int8).alias(PORT))
            yield from split(rows, target, joiner.ports[chain.port], settings.buckets)
            return
        operator = self.operator(target)
        if not isinstance(self.keyed[target].relation, Settle):
            rows = rows.drop(UNTIL, strict=False)
        if settings.preaggregate:
            rows = operator.pack(rows, watermark)
        yield from split(rows, target, operator.keys, settings.buckets)

    def _step(self, keyed: Keyed, state: State, deltas: Sequence[Frame], time: Time) -> Step:
        if not isinstance(keyed.relation, Join):
            return self.operator(keyed.id).step(state, self._delta(keyed, deltas), time)
        sides: list[list[Frame]] = [[] for _ in keyed.relation.inputs]
        for delta in deltas:
            if not delta.is_empty():
                sides[delta[PORT][0]].append(delta.drop(PORT))
        joined = [self._delta(keyed, side, port) for port, side in enumerate(sides)]
        return self.joiner(keyed.id).step(state, joined, time)

    def _delta(self, keyed: Keyed, deltas: Sequence[Frame], port: int = 0) -> Frame:
        filled = [delta for delta in deltas if not delta.is_empty()]
        if len(filled) == 1:
            return filled[0]
        if filled:
            same = all(delta.schema == filled[0].schema for delta in filled[1:])
            return pl.concat(filled, how="vertical" if same else "diagonal_relaxed")
        if (keyed.id, port) not in self._empty:
            columns = frame_schema(keyed.relation.inputs[port].schema)
            self._empty[keyed.id, port] = pl.DataFrame(schema={**columns, **CONTROL})
        return self._empty[keyed.id, port]

    def _beside(self, keyed: Keyed, step: Step) -> Iterator[Parcel]:
        yield from self.dead(keyed.id, step.dead)
        output = self.output_after(keyed.id)
        if output is None or not output.sink.late_topic:
            return
        for late, source in zip((step.late, step.late_right), keyed.relation.inputs, strict=False):
            if late is not None and not late.is_empty():
                site, columns = keyed.relation.site, source.schema.names
                letters = late_letters(late, columns, step=own_id(keyed.id), site=site)
                yield Parcel(late_target(output.id), NO_BUCKET, letters)


def _parks(scan: Scan) -> bool:
    """Whether a step after a scan, and before the next keyed one, may give up a row."""
    steps = [step for chain in scan.chains for step in chain.steps]
    return any(isinstance(step, Apply | Expect | Restamp) for step in steps)


def _unfollowed(origin: str, rows: Frame) -> Worked:
    return Worked(() if rows.is_empty() else (Parcel(after_target(origin), NO_BUCKET, rows),))


def _delayed(time: Time, behind: int) -> Time:
    """Give the time of an operator that reads results which come late."""
    if not behind or not START_OF_TIME < time.watermark < END_OF_TIME:
        return time
    return replace(time, watermark=max(START_OF_TIME, time.watermark - behind))


def _count(counts: dict[str, Counts], step: str, found: Counts) -> None:
    assert found.balanced, f"step {step} lost count of its rows: {found}"
    counts[step] = counts.get(step, Counts()) + found
