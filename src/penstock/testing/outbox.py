"""What a program under test has written: results, late rows and dead letters, by topic."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeAlias

import polars as pl

from penstock.errors import TopicError, did_you_mean
from penstock.kernel.changelog import fold_changelog, latest_by
from penstock.kernel.columns import frame_schema
from penstock.kernel.letter import LATE_COLUMNS
from penstock.kernel.parcel import Parcel, dead_target, late_target
from penstock.kernel.port import CONTROL, DEAD_COLUMNS, PANE_COLUMNS, TIME, WEIGHT, Frame
from penstock.kernel.settle import settle
from penstock.model.physical import Output
from penstock.model.upsert_key import upsert_keys

Row: TypeAlias = dict[str, Any]

_BATCH = "_batch"


class Outbox:
    """Collects what outputs are given, batch by batch, and reads it back."""

    def __init__(self, outputs: Iterable[Output]) -> None:
        self._outputs = {output.sink.topic: output for output in outputs}
        self._upserts = {
            output.id: output.sink for output in self._outputs.values() if output.sink.upsert
        }
        self._frames: dict[str, list[Frame]] = {}
        self._seen: dict[str, int] = {}

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that the program writes."""
        return tuple(self._outputs)

    def put(self, parcels: Iterable[Parcel]) -> None:
        """Take what one batch wrote."""
        gathered: dict[str, list[Frame]] = {}
        for parcel in parcels:
            gathered.setdefault(parcel.target, []).append(parcel.frame)
        for target, frames in gathered.items():
            kept = self._frames.setdefault(target, [])
            sink = self._upserts.get(target)
            if sink is None:
                kept += frames
            else:
                whole = pl.concat(frames, how="diagonal_relaxed")
                kept.append(settle(whole, sink.keys, sink.relation.schema.names))

    def frame(self, topic: str) -> Frame:
        """Give all that was written to a topic, with weights, times and panes."""
        output = self._output(topic)
        columns = {**frame_schema(output.sink.relation.schema), **CONTROL}
        return self._gathered(output.id, pl.DataFrame(schema=columns))

    def new(self, topic: str) -> Frame:
        """Give what was written to a topic since this was last asked."""
        frame = self.frame(topic)
        fresh = frame.slice(self._seen.get(topic, 0))
        self._seen[topic] = frame.height
        return fresh

    def rows(self, topic: str, frame: Frame) -> list[Row]:
        """Give rows as the topic holds them; those of a changelog with their weight."""
        relation = self._output(topic).sink.relation
        columns = [*relation.schema.names, *([WEIGHT] if relation.retracts else [])]
        return frame.select(columns).to_dicts()

    def changes(self, topic: str, frame: Frame) -> list[Row]:
        """Give rows with all that is known of them: weight, event time and pane."""
        columns = self._output(topic).sink.relation.schema.names
        panes = [name for name in PANE_COLUMNS if name in frame.columns]
        return frame.select(*columns, WEIGHT, TIME, *panes).to_dicts()

    def table(self, topic: str) -> Frame:
        """Give what the changes amount to: weights added up, or the last row of each key."""
        relation = self._output(topic).sink.relation
        frame, columns = self.frame(topic), list(relation.schema.names)
        sink = self._output(topic).sink
        if sink.upsert:
            by = list(sink.keys)
            last = (
                frame.unique(subset=by, keep="last", maintain_order=True) if by else frame.tail(1)
            )
            return last.filter(pl.col(WEIGHT) > 0).select(columns)
        keys = None if relation.retracts else upsert_keys(relation)
        if keys is None:
            return fold_changelog(frame, columns)
        return latest_by(frame, keys, columns) if keys else frame.select(columns).tail(1)

    def late(self, topic: str) -> list[Row]:
        """Give the rows that were too late on the way to a topic."""
        target = late_target(self._output(topic).id)
        return _letters(self._gathered(target, pl.DataFrame(schema=dict(LATE_COLUMNS))))

    def dead(self, topic: str) -> list[Row]:
        """Give the rows that failed on the way to a topic."""
        target = dead_target(self._output(topic).id)
        return _letters(self._gathered(target, pl.DataFrame(schema=dict(DEAD_COLUMNS))))

    def _gathered(self, target: str, empty: Frame) -> Frame:
        frames = self._frames.get(target, [])
        if not frames:
            return empty
        if len(frames) > 1:
            frames[:] = [pl.concat(frames, how="diagonal_relaxed")]
        return frames[0]

    def _output(self, topic: str) -> Output:
        if topic in self._outputs:
            return self._outputs[topic]
        raise TopicError(
            "TOPIC_MISSING",
            f'the program writes no topic "{topic}"',
            hint=did_you_mean(topic, self.topics) or f"It writes {', '.join(self.topics)}.",
        )


def _letters(frame: Frame) -> list[Row]:
    return [{**row, "row": json.loads(row["row"] or "null")} for row in frame.iter_rows(named=True)]
