"""Rules on topics: on the last row of each key, on each row, and on rows that do not come."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

import polars as pl

from penstock.kernel.port import Frame
from penstock.log.port import Log, Transaction
from penstock.log.record import TopicPartition
from penstock.schema.schema import Field
from penstock.schema.types import STRING
from penstock.watch.judge import Judge, judge_of
from penstock.watch.rule import Rule
from penstock.watch.sighting import CLEARS, HOLDS, KEY, NO_KEY, Sighting, sightings
from penstock.watch.topic_rows import AT, GONE, RECORD_KEY, TopicRows

_MILLISECOND = timedelta(milliseconds=1)


class TableObserver:
    """Sees the last row of each key; only those that are a reason for an alert are kept."""

    def __init__(self, rule: Rule, rows: TopicRows) -> None:
        self._rows = rows
        self._judge = topic_judge(rule, rows)
        self._kept: Frame | None = None

    def look(self, now: int, active: Collection[str]) -> list[Sighting]:
        """Read what came, and judge the keys that it is about."""
        del now
        wanted = pl.col(HOLDS) | pl.col(KEY).is_in(list(active))
        for frame in self._rows.read():
            latest = _last(self._judge.keyed(frame))
            judged = self._judge.judged(latest)
            verdict = judged.with_columns(
                pl.col(HOLDS) & ~latest[GONE], pl.col(CLEARS) | latest[GONE]
            )
            kept = [verdict.filter(wanted)]
            if self._kept is not None:
                kept.insert(0, self._kept.filter(~pl.col(KEY).is_in(verdict[KEY].to_list())))
            self._kept = pl.concat(kept)
        if self._kept is None:
            return unseen([], active)
        self._kept = self._kept.filter(wanted)
        return unseen(list(sightings(self._kept)), active)

    def commit(self, transaction: Transaction | None) -> None:
        """A table is read from its beginning by whoever watches next."""


class ChangeObserver:
    """Sees how the numbers of each key have changed over a time."""

    def __init__(self, rule: Rule, rows: TopicRows) -> None:
        self._rows = rows
        self._judge = topic_judge(rule, rows)
        self._recent = Recent(self._judge)

    def look(self, now: int, active: Collection[str]) -> list[Sighting]:
        """Read what came, and judge all keys: what was a while ago goes out of sight by itself."""
        for frame in self._rows.read():
            self._recent.add(self._judge.keyed(frame))
        rows = self._recent.latest(now)
        if rows is None:
            return unseen([], active)
        wanted = pl.col(HOLDS) | pl.col(KEY).is_in(list(active))
        judged = self._judge.judged(rows.filter(~pl.col(GONE)))
        return unseen(list(sightings(judged.filter(wanted))), active)

    def commit(self, transaction: Transaction | None) -> None:
        """A table is read from its beginning by whoever watches next."""


class Recent:
    """The rows of the latest time, and of each key the last one before it."""

    def __init__(self, judge: Judge) -> None:
        assert judge.rule.over is not None
        self._judge = judge
        self._over = judge.rule.over // _MILLISECOND
        self._rows: Frame | None = None

    def add(self, rows: Frame) -> None:
        """Take rows that have keys and a time `_at`."""
        self._rows = rows if self._rows is None else pl.concat([self._rows, rows])

    def latest(self, now: int) -> Frame | None:
        """Give the last row of each key, with what has changed; none before the first."""
        if self._rows is None:
            return None
        before = _last(self._rows.filter(pl.col(AT) <= now - self._over))
        self._rows = pl.concat([before, self._rows.filter(pl.col(AT) > now - self._over)])
        first = self._rows.unique(subset=[KEY], keep="first", maintain_order=True)
        return self._judge.changed(_last(self._rows), first)


class StreamObserver:
    """Sees each row of a stream once: which were seen is written down with the alerts."""

    def __init__(
        self, rule: Rule, rows: TopicRows, log: Log, group: str, *, new: bool = False
    ) -> None:
        self._rows = rows
        self._log = log
        self._group = group
        self._judge = topic_judge(rule, rows)
        self._over: set[str] = set()
        known = log.committed(group)
        self._committed: dict[TopicPartition, int] = {}
        if all(place in known for place in rows.offsets):
            rows.offsets.update({place: known[place] for place in rows.offsets})
            self._committed = dict(rows.offsets)
        elif not new:
            # What happened before anybody watched is no news.
            rows.skip()

    def look(self, now: int, active: Collection[str]) -> list[Sighting]:
        """Read what came, and give the last row of each key that matches."""
        del now
        found: dict[str, Sighting] = {}
        for frame in self._rows.read():
            judged = self._judge.judged(self._judge.keyed(frame.filter(~pl.col(GONE))))
            for seen in sightings(judged.filter(pl.col(HOLDS) | pl.col(CLEARS))):
                if seen.holds:
                    found[seen.key] = seen
                    self._over.discard(seen.key)
                elif self._judge.clear is not None:
                    self._over.add(seen.key)
        self._over.intersection_update({*active, *found})
        silent = [key for key in active if key not in found]
        asked = self._judge.clear is not None
        return [
            *found.values(),
            *(Sighting(key, False, key in self._over if asked else True) for key in silent),  # noqa: FBT003
        ]

    def commit(self, transaction: Transaction | None) -> None:
        """Write down which rows were seen."""
        moved = {at: to for at, to in self._rows.offsets.items() if self._committed.get(at) != to}
        if not moved:
            return
        if transaction is None:
            self._log.commit(self._group, moved)
        else:
            transaction.commit_offsets(self._group, moved)
        self._committed.update(moved)


class TopicAbsence:
    """Sees whether anything came to a topic lately."""

    def __init__(self, rule: Rule, log: Log) -> None:
        assert rule.absent is not None
        self._log = log
        self._topic = rule.place
        self._absent = rule.absent // _MILLISECOND

    def look(self, now: int, active: Collection[str]) -> list[Sighting]:
        """Ask the log for the first record of the latest time."""
        del active
        silent = self._topic not in self._log.topics() or not any(
            self._log.offset_at_time(self._topic, partition, now - self._absent + 1) is not None
            for partition in range(self._log.topic(self._topic).partitions)
        )
        return [Sighting(NO_KEY, silent, not silent, {"topic": self._topic})]

    def commit(self, transaction: Transaction | None) -> None:
        """Nothing is read."""


class KeyAbsence:
    """Sees which keys that have come once do not come any more."""

    def __init__(self, rule: Rule, rows: TopicRows) -> None:
        assert rule.absent is not None
        self._rows = rows
        self._judge = topic_judge(rule, rows)
        self._absent = rule.absent // _MILLISECOND
        self._last: Frame | None = None

    def look(self, now: int, active: Collection[str]) -> list[Sighting]:
        """Read what came, and give the keys whose last row is too old."""
        for frame in self._rows.read():
            rows = self._judge.keyed(frame).select(KEY, AT, GONE, *self._judge.told)
            known = rows if self._last is None else pl.concat([self._last, rows])
            self._last = _last(known).filter(~pl.col(GONE))
        if self._last is None:
            return unseen([], active)
        silent = pl.col(AT) <= now - self._absent
        verdict = self._last.select(
            KEY, silent.alias(HOLDS), (~silent).alias(CLEARS), *self._judge.told
        )
        wanted = pl.col(HOLDS) | pl.col(KEY).is_in(list(active))
        return unseen(list(sightings(verdict.filter(wanted))), active)

    def commit(self, transaction: Transaction | None) -> None:
        """The topic is read from its beginning by whoever watches next."""


def topic_judge(rule: Rule, rows: TopicRows) -> Judge:
    """Make a rule ready for the rows of a topic; without a key it is that of the records."""
    with_key = rows.schema.with_fields([Field(RECORD_KEY, STRING)])
    judge = judge_of(rule, with_key, rule.key or (RECORD_KEY,))
    rows.narrow((*judge.told, *(judge.numbers if rule.over is not None else ())))
    return judge


def unseen(found: list[Sighting], active: Collection[str]) -> list[Sighting]:
    """Add the active keys of which nothing is there any more: for them it is over."""
    there = {seen.key for seen in found}
    return [*found, *(Sighting(key, False, True) for key in active if key not in there)]  # noqa: FBT003


def _last(rows: Frame) -> Frame:
    return rows.unique(subset=[KEY], keep="last", maintain_order=True)
