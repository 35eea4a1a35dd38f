from __future__ import annotations

from datetime import timedelta

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.clock import ManualClock
from penstock.errors import RecordError
from penstock.log.embedded.cleaner import PartitionCleaner
from penstock.log.embedded.compaction import Cleaning
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.port import ReadLimit, WriterStamp
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig
from tests.log.embedded.clean_kit import DAY, TOPIC, a_log, files, put, roll, rows, table

COMPACT = TopicConfig(cleanup="compact")


def test_the_last_value_of_each_key_stays_at_its_offset() -> None:
    log = a_log(COMPACT)
    put(log, (b"k1", b"a"), (b"k2", b"b"), (b"k1", b"c"))
    log.clean(TOPIC, include_active=True)
    assert rows(log) == [(1, b"k2", b"b"), (2, b"k1", b"c")]
    assert log.bounds(TOPIC, 0) == (0, 3)
    assert table(log) == {b"k1": b"c", b"k2": b"b"}


def test_the_active_segment_is_left_alone() -> None:
    log = a_log(COMPACT)
    put(log, (b"k", b"1"), (b"k", b"2"))
    log.clean(TOPIC)
    assert len(rows(log)) == 2


def test_a_tombstone_goes_when_its_retention_is_over_and_not_before() -> None:
    clock = ManualClock(DAY)
    log = a_log(COMPACT, clock=clock)
    put(log, (b"a", b"1"), (b"b", b"1"))
    put(log, (b"a", None))
    put(log, (b"c", b"1"))
    log.clean(TOPIC, include_active=True)
    assert rows(log) == [(1, b"b", b"1"), (2, b"a", None), (3, b"c", b"1")]
    clock.advance(DAY - 1)
    log.clean(TOPIC)
    assert len(rows(log)) == 3
    clock.advance(1)
    log.clean(TOPIC)
    assert rows(log) == [(1, b"b", b"1"), (3, b"c", b"1")]


def test_typed_rows_are_deleted_by_their_flag() -> None:
    log = EmbeddedLog(a_log(COMPACT).storage, clock := ManualClock(DAY))
    schema = pa.schema([("n", pa.int64())])
    log.create_topic("typed", schema=schema, config=COMPACT)
    keys = pa.array([b"a", b"b", b"a"], pa.binary())
    columns = {"_key": keys, "n": [1, 2, None], "_deleted": [None, None, True]}
    log.append("typed", 0, pa.table(columns))
    log.clean("typed", include_active=True)
    found = log.read("typed", 0, 0, ReadLimit()).rows
    assert found.select(["_offset", "_key", "n"]).to_pylist() == [
        {"_offset": 1, "_key": b"b", "n": 2},
        {"_offset": 2, "_key": b"a", "n": None},
    ]
    clock.advance(DAY)
    log.clean("typed")
    assert log.read("typed", 0, 0, ReadLimit()).rows["_offset"].to_pylist() == [1]


@pytest.mark.parametrize("keys", [None, [b"k", None]])
def test_a_record_without_a_key_is_refused(keys: list[bytes | None] | None) -> None:
    log = a_log(COMPACT)
    with pytest.raises(RecordError, match="KEY_MISSING"):
        log.append(TOPIC, 0, rows_of_bytes([b"1", b"2"], keys=keys))
    assert rows(log) == []


def test_records_without_a_key_from_before_the_topic_was_compacted_go() -> None:
    log = a_log(TopicConfig())
    log.append(TOPIC, 0, rows_of_bytes([b"1", b"2", b"3"], keys=[None, b"k", None]))
    log.append(TOPIC, 0, rows_of_bytes([b"4"]))
    log.configure_topic(TOPIC, COMPACT)
    log.clean(TOPIC, include_active=True)
    assert rows(log) == [(1, b"k", b"2")]


def test_rows_of_an_aborted_transaction_go_and_never_hide_a_committed_value() -> None:
    log = a_log(COMPACT)
    put(log, (b"a", b"1"))
    transaction = log.transaction("writer")
    transaction.begin()
    transaction.append(TOPIC, 0, rows_of_bytes([b"no", b"no"], keys=[b"a", b"b"]))
    transaction.abort()
    transaction.begin()
    transaction.append(TOPIC, 0, rows_of_bytes([b"yes"], keys=[b"b"]))
    transaction.commit()
    log.clean(TOPIC, include_active=True)
    assert table(log) == {b"a": b"1", b"b": b"yes"}
    every = log.read(TOPIC, 0, 0, ReadLimit(isolation="uncommitted")).rows
    assert every["value"].to_pylist() == [b"1", b"yes"]


def test_an_undecided_transaction_is_not_touched() -> None:
    log = a_log(COMPACT)
    put(log, (b"a", b"1"), (b"a", b"2"))
    roll(log)
    transaction = log.transaction("writer")
    transaction.begin()
    transaction.append(TOPIC, 0, rows_of_bytes([b"3", b"4"], keys=[b"a", b"a"]))
    roll(log)
    log.clean(TOPIC)
    every = log.read(TOPIC, 0, 0, ReadLimit(isolation="uncommitted")).rows
    assert every["value"].to_pylist() == [b"2", b"3", b"4"]
    transaction.commit()
    assert table(log) == {b"a": b"4"}


def test_a_writer_is_still_recognised_when_its_records_are_gone() -> None:
    log = a_log(COMPACT)
    stamp = WriterStamp(7, 0, 0)
    log.append(TOPIC, 0, rows_of_bytes([b"1"], keys=[b"a"]), stamp=stamp)
    put(log, (b"a", b"2"), (b"b", b"1"))
    log.clean(TOPIC, include_active=True)
    log.storage.remove(f"topics/{TOPIC}/0/writers")
    again = EmbeddedLog(log.storage, log.clock)
    repeated = again.append(TOPIC, 0, rows_of_bytes([b"1"], keys=[b"a"]), stamp=stamp)
    assert repeated == (0, 0, True)
    with pytest.raises(RecordError, match="SEQUENCE_GAP"):
        again.append(TOPIC, 0, rows_of_bytes([b"1"], keys=[b"a"]), stamp=stamp._replace(sequence=2))


def test_a_writer_of_a_new_epoch_begins_at_zero() -> None:
    log = a_log(COMPACT)
    log.append(TOPIC, 0, rows_of_bytes([b"1"], keys=[b"a"]), stamp=WriterStamp(7, 0, 0))
    with pytest.raises(RecordError, match="SEQUENCE_GAP"):
        log.append(TOPIC, 0, rows_of_bytes([b"1"], keys=[b"a"]), stamp=WriterStamp(7, 1, 5))


def test_a_small_map_needs_several_passes_and_gets_there() -> None:
    log = a_log(COMPACT)
    for turn in range(3):
        put(log, *((b"k%d" % key, b"%d" % turn) for key in range(10)))
    part = log.partition(TOPIC, 0)
    cleaner = PartitionCleaner(Cleaning(log.storage, part, log.topic(TOPIC), map_slots=4))
    report = cleaner.clean(DAY, include_active=True)
    assert report.passes > 3
    assert [row[0] for row in rows(log)] == list(range(20, 30))


def test_small_neighbours_become_one_segment() -> None:
    log = a_log(COMPACT)
    for number in range(10):
        put(log, (b"k%d" % number, b"v"))
        roll(log)
    log.clean(TOPIC)
    assert [segment.base_offset for segment in log.segments(TOPIC, 0)] == [0, 10]
    assert len(rows(log)) == 10
    assert log.offset_at_time(TOPIC, 0, DAY) == 0


def test_long_keys_that_begin_alike_are_different_keys() -> None:
    log = a_log(COMPACT)
    put(log, (b"x" * 100 + b"1", b"a"), (b"x" * 100 + b"2", b"b"), (b"x" * 100 + b"1", b"c"))
    log.clean(TOPIC, include_active=True)
    assert [row[0] for row in rows(log)] == [1, 2]


def test_a_record_younger_than_the_lag_is_not_compacted() -> None:
    clock = ManualClock(DAY)
    config = TopicConfig(cleanup="compact", min_compaction_lag=timedelta(hours=1))
    log = a_log(config, clock=clock)
    put(log, (b"k", b"1"), (b"k", b"2"))
    log.clean(TOPIC, include_active=True)
    assert len(rows(log)) == 2
    clock.advance(60 * 60 * 1000)
    log.clean(TOPIC)
    assert len(rows(log)) == 1


def test_beside_the_work_compaction_waits_until_half_is_dirty_or_a_record_is_overdue() -> None:
    clock = ManualClock(DAY)
    config = TopicConfig(cleanup="compact", max_compaction_lag=timedelta(hours=1))
    log = a_log(config, clock=clock)
    put(log, *((b"k%d" % key, b"v" * 100) for key in range(50)))
    log.clean(TOPIC, include_active=True)
    put(log, (b"k1", b"new"))
    roll(log)
    cleaner = PartitionCleaner(Cleaning(log.storage, log.partition(TOPIC, 0), log.topic(TOPIC)))
    assert cleaner.clean(clock.now(), only_if_worth_it=True).passes == 0
    clock.advance(60 * 60 * 1000 + 1)
    assert cleaner.clean(clock.now(), only_if_worth_it=True).passes == 1
    put(log, (b"k1", b"newer"))
    clock.advance(60 * 60 * 1000 + 1)
    assert cleaner.clean(clock.now(), only_if_worth_it=True).segments_after == 2
    assert table(log)[b"k1"] == b"newer"


def test_a_second_cleaner_leaves_the_partition_to_the_first() -> None:
    log = a_log(COMPACT)
    lock = log.storage.lock(f"topics/{TOPIC}/0/clean.lock")
    lock.acquire()
    assert [report.busy for report in log.clean(TOPIC)] == [True]
    lock.release()
    assert [report.busy for report in log.clean(TOPIC)] == [False]


def test_what_a_killed_cleaner_left_is_removed() -> None:
    log = a_log(COMPACT)
    put(log, (b"k", b"1"))
    roll(log)
    for name in (f"{0:020d}-9.seg", f"{0:020d}-9.idx", "manifest-9", "aborted-9"):
        log.storage.replace(f"topics/{TOPIC}/0/{name}", b"half")
    log.clean(TOPIC)
    assert not [name for name in files(log) if "9" in name]
    assert rows(log) == [(0, b"k", b"1")]


_KEYS = st.sampled_from([b"a", b"b", b"c", b"d"])
_STEPS = st.one_of(
    st.tuples(
        st.just("put"), st.lists(st.tuples(_KEYS, st.binary(max_size=3)), min_size=1, max_size=4)
    ),
    st.tuples(st.just("remove"), _KEYS),
    st.tuples(st.just("abort"), _KEYS),
    st.tuples(st.just("commit"), _KEYS),
    st.tuples(st.just("roll"), st.none()),
    st.tuples(st.just("clean"), st.integers(1, 5)),
    st.tuples(st.just("wait"), st.sampled_from([DAY // 2, DAY])),
)


@settings(max_examples=150)
@given(steps=st.lists(_STEPS, max_size=25), positions=st.lists(st.integers(0, 60), max_size=4))
def test_whatever_happens_the_table_stays_and_so_do_offsets_and_order(
    steps: list[tuple[str, object]], positions: list[int]
) -> None:
    story = _Story()
    for kind, value in steps:
        getattr(story, kind)(value)
        story.check(positions)
    story.clean(2)
    story.check(positions)


class _Story:
    def __init__(self) -> None:
        self.clock = ManualClock(DAY)
        self.log = a_log(COMPACT, clock=self.clock)
        self.model: dict[bytes, bytes] = {}
        self.written: dict[int, tuple[bytes, bytes | None]] = {}
        self.transaction = self.log.transaction("story")

    def put(self, pairs: list[tuple[bytes, bytes]]) -> None:
        first = self.log.bounds(TOPIC, 0).end
        put(self.log, *pairs)
        self.written.update(enumerate(pairs, first))
        self.model.update(pairs)

    def remove(self, key: bytes) -> None:
        self.written[self.log.bounds(TOPIC, 0).end] = (key, None)
        put(self.log, (key, None))
        self.model.pop(key, None)

    def commit(self, key: bytes) -> None:
        self.transaction.begin()
        found = self.transaction.append(TOPIC, 0, rows_of_bytes([b"tx"], keys=[key]))
        self.transaction.commit()
        self.written[found.base_offset] = (key, b"tx")
        self.model[key] = b"tx"

    def abort(self, key: bytes) -> None:
        self.transaction.begin()
        self.transaction.append(TOPIC, 0, rows_of_bytes([b"no"], keys=[key]))
        self.transaction.abort()

    def roll(self, _: None) -> None:
        roll(self.log)

    def clean(self, slots: int) -> None:
        part = self.log.partition(TOPIC, 0)
        cleaning = Cleaning(self.log.storage, part, self.log.topic(TOPIC), slots)
        PartitionCleaner(cleaning).clean(self.clock.now())

    def wait(self, milliseconds: int) -> None:
        self.clock.advance(milliseconds)

    def check(self, positions: list[int]) -> None:
        found = rows(self.log)
        assert table(self.log) == self.model
        assert [offset for offset, _, _ in found] == sorted({offset for offset, _, _ in found})
        assert {
            offset: (key, value) for offset, key, value in found
        }.items() <= self.written.items()
        end = self.log.bounds(TOPIC, 0).end
        for position in positions:
            if position <= end:
                assert rows(self.log, position) == [row for row in found if row[0] >= position]
        assert self.log.verify() == []
