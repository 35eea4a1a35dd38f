"""Joins of two streams as anybody would do them who has all rows at once: by all pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from random import Random
from typing import Any, TypeAlias, get_args

from penstock.kernel.port import END_OF_TIME, Time
from penstock.model.expr import Call, Column
from penstock.model.join import How, Join
from penstock.model.join_bound import Bound, Interval, SameWindow, Whole
from penstock.model.physical import Settings
from penstock.model.plan import Plan, Sink
from penstock.model.source import Stream
from penstock.model.watermark import BoundedDisorder
from penstock.model.window import Hopping, Session, Tumbling
from penstock.schema.schema import Field
from penstock.schema.types import INT64
from penstock.testing.driver import TestDriver
from tests.kernel.joins import LEFT, RIGHT, JoinBench, a_join, ms

Row: TypeAlias = tuple[int | None, int, int]
"""Key, value and time."""
Weighed: TypeAlias = tuple[int | None, int, int, int]
Rows: TypeAlias = Counter[Row]
Span: TypeAlias = tuple[int, int] | None
Placed: TypeAlias = tuple[Row, Span, int]
"""A row in a window that holds it, or in none, and its weight."""
Result: TypeAlias = tuple[int | None, ...]

_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a join of rows amounts to once the watermark is here."""

    join: Join
    watermark: int
    wait: int
    """How long a row that is alone waits for partners that come late."""

    def of(self, left: Rows, right: Rows) -> Counter[Result]:
        """Add up what came out of all pairs, and of rows that are alone."""
        found: Counter[Result] = Counter()
        sessions = self._sessions([*left, *right])
        mine, others = (list(self._placed(rows, sessions)) for rows in (left, right))
        pairs = [(one, other) for one in mine for other in others if self._meet(one, other)]
        if self.join.how not in ("semi", "anti"):
            for (row, span, weight), (partner, _, count) in pairs:
                found[row[0], row[1], partner[1], _time(span, row, partner)] += weight * count
        partners = _partners([(one[:2], other[2]) for one, other in pairs])
        for one in mine:
            row, span, weight = one
            alone = partners[row, span] <= 0
            result = (row[0], row[1], *self._missing, _time(span, row))
            if self.join.how == "semi":
                found[result] += 0 if alone else weight
            elif self.join.keeps_left and alone:
                found[result] += self._shown(one, is_left=True)
        partners = _partners([(other[:2], one[2]) for one, other in pairs])
        for placed in others:
            row, span, _ = placed
            if self.join.keeps_right and partners[row, span] <= 0:
                found[row[0], None, row[1], _time(span, row)] += self._shown(placed, is_left=False)
        return Counter({row: count for row, count in found.items() if count})

    @property
    def _missing(self) -> tuple[None, ...]:
        return () if self.join.how in ("semi", "anti") else (None,)

    def _placed(self, rows: Rows, sessions: Mapping[Row, Span]) -> Iterator[Placed]:
        for row, weight in rows.items():
            for span in [sessions[row]] if sessions else spans(self.join.bound, row[2]):
                yield row, span, weight

    def _sessions(self, rows: list[Row]) -> dict[Row, Span]:
        """Give the session of each row, where rows meet in sessions; none is ever late."""
        if not isinstance(self.join.bound, SameWindow):
            return {}
        window = self.join.bound.window
        if not isinstance(window, Session):
            return {}
        assert isinstance(window.gap, timedelta)
        gap = window.gap // _MILLISECOND
        found: dict[Row, Span] = {}
        for key in {row[0] for row in rows}:
            times = sorted({row[2] for row in rows if row[0] == key})
            begins = [
                time
                for place, time in enumerate(times)
                if key is None or not place or time > times[place - 1] + gap
            ]
            for start, following in zip(begins, [*begins[1:], END_OF_TIME], strict=True):
                inside = [time for time in times if start <= time < following]
                span = (start, inside[-1] + gap)
                found |= {row: span for row in rows if row[0] == key and row[2] in inside}
        return found

    def _meet(self, one: Placed, other: Placed) -> bool:
        (key, value, time), span, _ = one
        (other_key, other_value, other_time), other_span, _ = other
        if key is None or key != other_key or span != other_span:
            return False
        if isinstance(self.join.bound, Interval):
            bound, apart = self.join.bound, ms(other_time - time)
            low = apart > -bound.before or (apart == -bound.before and not bound.open_before)
            high = apart < bound.after or (apart == bound.after and not bound.open_after)
            if not (low and high):
                return False
        return self.join.condition is None or value <= other_value

    def _shown(self, placed: Placed, *, is_left: bool) -> int:
        row, span, weight = placed
        bound = self.join.bound
        if row[0] is None or self.join.eager or isinstance(bound, Whole):
            return weight
        reached = self.watermark - self.wait
        if isinstance(bound, Interval):
            ahead = bound.after if is_left else bound.before
            is_open = bound.open_after if is_left else bound.open_before
            last = row[2] + ahead / _MILLISECOND
            over = reached >= last if is_open else reached > last
        else:
            assert span is not None
            over = reached >= span[1]
        return max(weight, 0) if over else 0


def spans(bound: Bound, time: int) -> list[Span]:
    """Give the windows of a time; none where rows do not meet in windows."""
    if not isinstance(bound, SameWindow):
        return [None]
    window = bound.window
    assert isinstance(window, Tumbling | Hopping)
    size = window.size // _MILLISECOND
    slide = size if isinstance(window, Tumbling) else window.slide // _MILLISECOND
    last = time // slide * slide
    return [(start, start + size) for start in range(last, time - size, -slide)]


def _time(span: Span, *rows: Row) -> int:
    return max(row[2] for row in rows) if span is None else span[1] - 1


def _partners(found: list[tuple[tuple[Row, Span], int]]) -> Counter[tuple[Row, Span]]:
    counted: Counter[tuple[Row, Span]] = Counter()
    for placed, weight in found:
        counted[placed] += weight
    return counted


def random_bound(chance: Random, *, sessions: bool = False) -> Bound:
    """Give a bound of rows in time; none of it is long."""
    kinds = ["interval", "interval", "tumbling", "hopping"]
    kind = chance.choice([*kinds, "session"] if sessions else kinds)
    if kind == "session":
        return SameWindow(Session(ms(2)))
    if kind == "tumbling":
        return SameWindow(Tumbling(ms(chance.choice([3, 5]))))
    if kind == "hopping":
        return SameWindow(Hopping(ms(chance.choice([4, 6])), ms(2)))
    before = chance.randint(-4, 6)
    after = chance.randint(-before, 6)
    opens = [chance.random() < 0.3 for _ in range(2)]
    return Interval(ms(before), ms(after), open_before=opens[0], open_after=opens[1])


@dataclass(slots=True)
class RandomRun:
    """A join of random rows, some of them taken back, under a watermark that moves at random."""

    seed: int
    chance: Random = field(init=False)
    relation: Join = field(init=False)
    keep_late: int = field(init=False)
    rows: tuple[Rows, Rows] = field(init=False, default_factory=lambda: (Counter(), Counter()))
    added: tuple[list[Row], list[Row]] = field(init=False, default_factory=lambda: ([], []))
    now: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.chance = chance = Random(self.seed)
        how: How = chance.choice(get_args(How))
        changelog = (chance.random() < 0.4, chance.random() < 0.4)
        smaller = Call("le", (Column("a"), Column("b")))
        conditional = how not in ("semi", "anti") and chance.random() < 0.3
        own = chance.choice([0, 0, 2])
        self.keep_late = max(own, chance.choice([0, 0, 3]))
        self.relation = a_join(
            how,
            random_bound(chance),
            changelog=changelog,
            eager=chance.random() < 0.5,
            condition=smaller if conditional else None,
            keep_late=own,
        )

    def check(self) -> None:
        """Take some batches, and compare what came out so far after each."""
        bench = JoinBench(self.relation, self.keep_late)
        wait = 0 if self.relation.keep_late else self.keep_late
        told: Counter[Result] = Counter()
        for _ in range(self.chance.randint(1, 6)):
            left, right = self._batch(0, bench.time), self._batch(1, bench.time)
            bench.time = self._moved(bench.time)
            bench.both(left, right)
            self._add(told, bench.new())
            expected = Expectation(self.relation, bench.time.watermark, wait).of(*self.rows)
            assert told == expected, (self.seed, self.relation, left, right, bench.time)

    def _add(self, told: Counter[Result], changes: list[tuple[int, ...]]) -> None:
        given = {change[1:] for change in changes if change[0] > 0}
        back = {change[1:] for change in changes if change[0] < 0}
        assert not given & back, (self.seed, "taken back and given again", given & back)
        assert self.relation.retracts or not back, (self.seed, "taken back", back)
        for change in changes:
            told[change[1:]] += change[0]
            if not told[change[1:]]:
                del told[change[1:]]

    def _batch(self, side: int, time: Time) -> list[Weighed]:
        limit = time.watermark - self.keep_late
        found = []
        for _ in range(self.chance.randint(0, 8)):
            key, value, at, weight = self._row(side)
            ends = [span[1] if span else at + 1 for span in spans(self.relation.bound, at)]
            closed = [key is not None and end <= limit for end in ends]
            if any(closed) and not all(closed):
                # Part of such a row is late: which part is not said here.
                continue
            found.append((key, value, at, weight))
            if not any(closed):
                self.rows[side][key, value, at] += weight
        return found

    def _row(self, side: int) -> Weighed:
        chance, added = self.chance, self.added[side]
        retracts = self.relation.inputs[side].retracts
        if retracts and added and chance.random() < 0.4:
            return (*added.pop(chance.randrange(len(added))), -1)
        at = max(0, self.now + chance.randint(-5, 5))
        row = (chance.choice([0, 0, 1, 2, None]), chance.randint(0, 2), at)
        if retracts and chance.random() < 0.05:
            return (*row, -1)
        added.append(row)
        return (*row, 1)

    def _moved(self, time: Time) -> Time:
        if self.chance.random() < 0.3:
            return time
        self.now += self.chance.randint(0, 4)
        if self.chance.random() < 0.05:
            return Time(END_OF_TIME, 0)
        return Time(max(time.watermark, self.now - self.chance.randint(0, 4)), 0)


def outcome(relation: Join, rows: Sequence[tuple[int, Row]]) -> Counter[Result]:
    """Give what rows of both sides, taken one by one, amount to when the input has ended."""
    bench = JoinBench(relation)
    for side, row in rows:
        bench.both([row] if side == 0 else [], [row] if side == 1 else [])
    bench.watermark(END_OF_TIME)
    assert bench.state.tables == {}
    return summed(bench.new())


def summed(changes: Sequence[Sequence[Any]]) -> Counter[Result]:
    """Add up changes: the weight, then the row."""
    found: Counter[Result] = Counter()
    for weight, *row in changes:
        found[tuple(row)] += weight
    return Counter({row: count for row, count in found.items() if count})


DISORDER = 5


def timed_join(chance: Random) -> Join:
    """Join two topics whose rows come disordered, and never late."""
    relation = a_join(
        chance.choice(get_args(How)),
        random_bound(chance, sessions=True),
        eager=chance.random() < 0.5,
    )
    left, right = (
        Stream(name, schema.with_fields([Field("at", INT64)]), "at", BoundedDisorder(ms(DISORDER)))
        for name, schema in (("left", LEFT), ("right", RIGHT))
    )
    return replace(relation, left=left, right=right)


def run_in_batches(relation: Join, chance: Random) -> tuple[TestDriver, tuple[Rows, Rows]]:
    """Run a join over rows in random batches, with a crash somewhere, to the end of its input."""
    settings = Settings(buckets=chance.choice([1, 3]))
    driver = TestDriver(Plan("random", (Sink(relation, "out"),)), settings=settings)
    rows: tuple[Rows, Rows] = (Counter(), Counter())
    latest, batches = [0, 0], chance.randint(1, 4)
    dies = chance.randrange(2 * batches)
    for number in range(batches):
        if number == dies:
            driver.crash_after(chance.choice(driver.steps))
        pushed: dict[tuple[str, int], list[dict[str, int | None]]] = {}
        for _ in range(chance.choice([1, 4, 12])):
            side = chance.randrange(2)
            latest[side] += chance.randint(0, 2)
            at = max(0, latest[side] - chance.randint(0, DISORDER))
            row = (chance.choice([0, 0, 1, None]), chance.randint(0, 2), at)
            rows[side][row] += 1
            name, value = (("left", "a"), ("right", "b"))[side]
            pushed.setdefault((name, 0), []).append({"k": row[0], value: row[1], "at": at})
        driver.push_together(pushed)
    driver.finish()
    return driver, rows
