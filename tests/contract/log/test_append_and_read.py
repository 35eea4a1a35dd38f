from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.errors import OffsetError, RecordError, SchemaError, TransactionError
from penstock.log.port import Bounds, Capability, Log, ReadLimit, WriterStamp
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig
from tests.contract.log.adapters import OpenLog
from tests.contract.log.conftest import NOW
from tests.contract.log.reading import offsets, values


@pytest.fixture(autouse=True)
def _topics(log: Log) -> None:
    small = TopicConfig(segment_bytes=4000, index_interval_bytes=500)
    log.create_topic("clicks", partitions=3, config=small)
    log.create_topic("other", config=small)


def test_a_record_is_key_value_timestamp_and_headers(log: Log) -> None:
    rows = rows_of_bytes(
        [b"\x00\xff\n", b"", None],
        keys=[b"\xff\x00", None, b""],
        timestamps=[5, 4, 6],
        headers=[(("trace", b"\x01"), ("empty", None)), (), ()],
    )
    log.append("clicks", 0, rows)
    read = log.read("clicks", 0, 0, ReadLimit()).rows
    assert read["value"].to_pylist() == [b"\x00\xff\n", b"", None]
    assert read["_key"].to_pylist() == [b"\xff\x00", None, b""]
    assert read["_timestamp"].to_pylist() == [5, 4, 6]
    assert read["_headers"].to_pylist() == [
        [{"key": "trace", "value": b"\x01"}, {"key": "empty", "value": None}],
        None,
        None,
    ]


def test_a_record_without_a_timestamp_gets_the_time_of_its_append(log: Log) -> None:
    log.append("clicks", 0, rows_of_bytes([b"x"]))
    assert log.read("clicks", 0, 0, ReadLimit()).rows["_timestamp"].to_pylist() == [NOW]


def test_offsets_count_up_from_zero_in_each_partition_by_itself(log: Log) -> None:
    for number in range(50):
        for partition in (0, 1):
            done = log.append("clicks", partition, rows_of_bytes([b"%d" % number, b"!"]))
            assert (done.base_offset, done.last_offset) == (2 * number, 2 * number + 1)
    assert offsets(log, "clicks", 0) == offsets(log, "clicks", 1) == list(range(100))
    assert log.bounds("clicks", 2) == Bounds(0, 0)
    assert log.bounds("other", 0) == Bounds(0, 0)


def test_reading_by_offset_gives_that_record_first_across_segments(log: Log) -> None:
    for number in range(200):
        log.append("clicks", 0, rows_of_bytes([b"%d" % number]))
    for offset in (0, 1, 37, 99, 150, 199):
        chunk = log.read("clicks", 0, offset, ReadLimit(records=3))
        assert chunk.rows["value"].to_pylist() == [
            b"%d" % number for number in range(offset, min(offset + 3, 200))
        ]
        assert chunk.next_offset == min(offset + 3, 200)
    assert values(log, "clicks") == [b"%d" % number for number in range(200)]


def test_order_is_kept_over_ten_thousand_records_of_one_key(log: Log) -> None:
    for start in range(0, 10_000, 500):
        numbers = [b"%d" % number for number in range(start, start + 500)]
        log.append("clicks", 0, rows_of_bytes(numbers, keys=[b"k"] * 500))
    assert values(log, "clicks") == [b"%d" % number for number in range(10_000)]


def test_reading_takes_nothing_away(log: Log, open_again: OpenLog) -> None:
    log.append("clicks", 0, rows_of_bytes([b"a", b"b"]))
    assert values(log, "clicks") == values(log, "clicks") == values(open_again(), "clicks")


def test_another_handle_appends_after_what_the_first_wrote(log: Log, open_again: OpenLog) -> None:
    other = open_again()
    for number in range(60):
        (log, other)[number % 2].append("clicks", 0, rows_of_bytes([b"%d" % number]))
    assert values(log, "clicks") == values(other, "clicks") == [b"%d" % n for n in range(60)]


def test_what_was_written_does_not_change(log: Log, open_again: OpenLog) -> None:
    log.append("clicks", 0, rows_of_bytes([b"a", b"b"]))
    before = log.read("clicks", 0, 0, ReadLimit()).rows
    log.append("clicks", 0, rows_of_bytes([b"c"] * 100))
    assert open_again().read("clicks", 0, 0, ReadLimit(records=2)).rows.equals(before)


@pytest.mark.parametrize("offset", [-1, 4, 100])
def test_an_offset_outside_the_log_is_refused(log: Log, offset: int) -> None:
    log.append("clicks", 0, rows_of_bytes([b"a", b"b", b"c"]))
    with pytest.raises(OffsetError, match="OFFSET_RANGE"):
        log.read("clicks", 0, offset, ReadLimit())
    assert log.read("clicks", 0, 3, ReadLimit()).rows.num_rows == 0


def test_a_read_stops_where_it_is_told_and_gives_only_the_asked_columns(log: Log) -> None:
    log.append("clicks", 0, rows_of_bytes([b"%d" % n for n in range(10)]))
    chunk = log.read("clicks", 0, 2, ReadLimit(stop=5, columns=("_offset", "value")))
    assert chunk.rows.column_names == ["_offset", "value"]
    assert chunk.rows["_offset"].to_pylist() == [2, 3, 4]
    assert chunk.next_offset == 5


def test_the_first_offset_at_or_after_a_time_is_found(log: Log) -> None:
    for number in range(100):
        log.append(
            "clicks", 0, rows_of_bytes([b"a", b"b"], timestamps=[number * 10, number * 10 + 5])
        )
    assert log.offset_at_time("clicks", 0, -1) == 0
    assert log.offset_at_time("clicks", 0, 500) == 100
    assert log.offset_at_time("clicks", 0, 501) == 101
    assert log.offset_at_time("clicks", 0, 995) == 199
    assert log.offset_at_time("clicks", 0, 996) is None
    assert log.offset_at_time("clicks", 1, 0) is None


def test_time_search_holds_when_the_clock_stepped_backwards(log: Log) -> None:
    for time in (100, 300, 50, 60, 200, 400):
        log.append("clicks", 0, rows_of_bytes([b"x" * 700], timestamps=[time]))
    assert log.offset_at_time("clicks", 0, 55) == 0
    assert log.offset_at_time("clicks", 0, 150) == 1
    assert log.offset_at_time("clicks", 0, 350) == 5


def test_an_oversized_record_is_refused_and_nothing_of_its_batch_stays(log: Log) -> None:
    log.create_topic("small", config=TopicConfig(max_record_bytes=1000))
    with pytest.raises(RecordError, match="RECORD_TOO_LARGE"):
        log.append("small", 0, rows_of_bytes([b"x", b"y" * 1001]))
    assert log.bounds("small", 0) == Bounds(0, 0)
    assert log.append("small", 0, rows_of_bytes([b"x" * 900])).base_offset == 0


def test_a_repeated_append_is_recognised_and_not_written_again(
    log: Log, open_again: OpenLog
) -> None:
    rows = rows_of_bytes([b"a", b"b"])
    first = log.append("clicks", 0, rows, stamp=WriterStamp(7, 0, 0))
    # Without the capability only the handle that has written recognises its own.
    other = open_again() if Capability.STAMPS in log.capabilities else log
    again = other.append("clicks", 0, rows, stamp=WriterStamp(7, 0, 0))
    assert again == first._replace(duplicate=True)
    assert values(log, "clicks") == [b"a", b"b"]


def test_a_gap_in_a_writers_sequence_is_refused(log: Log) -> None:
    log.append("clicks", 0, rows_of_bytes([b"a"]), stamp=WriterStamp(7, 0, 0))
    with pytest.raises(RecordError, match="SEQUENCE_GAP"):
        log.append("clicks", 0, rows_of_bytes([b"c"]), stamp=WriterStamp(7, 0, 2))


def test_an_older_epoch_of_a_writer_is_fenced(log: Log) -> None:
    log.append("clicks", 0, rows_of_bytes([b"a"]), stamp=WriterStamp(7, 1, 0))
    with pytest.raises(TransactionError, match="WRITER_FENCED"):
        log.append("clicks", 0, rows_of_bytes([b"b"]), stamp=WriterStamp(7, 0, 0))


def test_an_append_without_rows_is_harmless(log: Log) -> None:
    log.append("clicks", 0, rows_of_bytes([]))
    assert log.bounds("clicks", 0) == Bounds(0, 0)


def test_a_wait_ends_when_there_is_something_to_read(log: Log) -> None:
    place = TopicPartition("clicks", 0)
    assert not log.wait({place: 0}, 0.01)
    log.append("clicks", 0, rows_of_bytes([b"a"]))
    assert log.wait({place: 0}, 10)
    assert not log.wait({place: 1}, 0.01)


class TestTypedTopics:
    SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), ("name", pa.string())])

    @pytest.fixture(autouse=True)
    def _typed(self, log: Log) -> None:
        log.create_topic("people", schema=self.SCHEMA)

    def test_columns_come_back_as_they_went_in(self, log: Log) -> None:
        rows = pa.table({"id": [1, 2], "name": ["a", None], "_key": [b"x", b"y"]})
        log.append("people", 0, rows)
        read = log.read("people", 0, 0, ReadLimit()).rows
        assert read.select(["id", "name"]).to_pylist() == [
            {"id": 1, "name": "a"},
            {"id": 2, "name": None},
        ]

    def test_narrower_numbers_and_dictionaries_are_taken(self, log: Log) -> None:
        names = pa.array(["a", "b"]).dictionary_encode()
        log.append("people", 0, pa.table({"id": pa.array([1, 2], pa.int32()), "name": names}))
        assert log.read("people", 0, 0, ReadLimit()).rows["name"].to_pylist() == ["a", "b"]

    @pytest.mark.parametrize(
        ("rows", "code"),
        [
            ({"name": ["a"]}, "COLUMN_MISSING"),
            ({"id": [1], "nam": ["a"]}, "COLUMN_UNKNOWN"),
            ({"id": ["one"], "name": ["a"]}, "COLUMN_TYPE"),
            ({"id": pa.array([None], pa.int64()), "name": ["a"]}, "COLUMN_NULL"),
            ({"id": [1], "_timestamp": pa.array([None], pa.int64())}, "COLUMN_NULL"),
        ],
    )
    def test_rows_of_another_shape_are_refused(
        self, log: Log, rows: dict[str, object], code: str
    ) -> None:
        with pytest.raises(SchemaError, match=code):
            log.append("people", 0, pa.table(rows))
        assert log.bounds("people", 0) == Bounds(0, 0)

    def test_a_tombstone_has_no_columns(self, log: Log) -> None:
        rows = pa.table({"id": [1, None], "_key": [b"x", b"x"], "_deleted": [False, True]})
        log.append("people", 0, rows)
        assert log.read("people", 0, 0, ReadLimit()).rows["_deleted"].to_pylist() == [False, True]


@pytest.mark.parametrize("compression", ["none", "lz4", "zstd"])
def test_large_batches_survive_every_compression(log: Log, compression: str) -> None:
    config = TopicConfig().with_settings(compression=compression)
    log.create_topic("large", config=config)
    many = [b"%08d" % n * 20 for n in range(60_000)]
    log.append("large", 0, rows_of_bytes(many))
    assert log.bounds("large", 0) == Bounds(0, 60_000)
    offset, found = 0, []
    while offset < 60_000:
        chunk = log.read("large", 0, offset, ReadLimit(bytes=1_000_000))
        found += chunk.rows["value"].to_pylist()
        offset = chunk.next_offset
    assert found == many
