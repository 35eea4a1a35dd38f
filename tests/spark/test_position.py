from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.errors import OffsetError, UsageError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.port import Bounds
from penstock.spark.position import (
    BEGINNING,
    LATEST,
    AtOffset,
    AtTime,
    Beginning,
    Latest,
    Position,
    Positions,
    parse_positions,
    resolve_positions,
)

BOUNDS = {0: Bounds(2, 10), 1: Bounds(0, 5)}


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("beginning", Beginning()),
        ("earliest", Beginning()),
        (" Latest ", Latest()),
        ("0", AtOffset(0)),
        ("2026", AtOffset(2026)),
        ("1970-01-02", AtTime(86_400_000)),
        ("1970-01-01T01:00:00+01:00", AtTime(0)),
        ("1970-01-01T00:00:00.001Z", AtTime(1)),
        ("1970-01-01T00:00:00.0011Z", AtTime(2)),
    ],
)
def test_a_position_is_read_from_text(text: str, position: Position) -> None:
    assert parse_positions(text, option="start", otherwise=LATEST) == Positions(position)


def test_partitions_left_out_have_the_default() -> None:
    positions = parse_positions('{"1": 3, "2": "latest"}', option="start", otherwise=BEGINNING)
    assert [positions.of(partition) for partition in range(3)] == [
        Beginning(),
        AtOffset(3),
        Latest(),
    ]


@pytest.mark.parametrize("text", ["-1", "tomorrow", "{", '{"a": 1}', '{"0": "soon"}', ""])
def test_text_that_is_no_position_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="POSITION_TEXT"):
        parse_positions(text, option="start", otherwise=BEGINNING)


def test_positions_become_offsets_within_the_bounds(log: EmbeddedLog) -> None:
    log.create_topic("t", partitions=2)
    assert resolve_positions(BEGINNING, log, "t", BOUNDS) == {0: 2, 1: 0}
    assert resolve_positions(LATEST, log, "t", BOUNDS) == {0: 10, 1: 5}
    assert resolve_positions(Positions(AtOffset(5)), log, "t", BOUNDS) == {0: 5, 1: 5}


def test_a_time_after_the_last_record_is_the_end(log: EmbeddedLog) -> None:
    log.create_topic("t", partitions=2)
    log.append("t", 0, pa.table({"_timestamp": [10, 20], "value": [b"a", b"b"]}))
    bounds = {0: Bounds(0, 2), 1: Bounds(0, 0)}
    assert resolve_positions(Positions(AtTime(15)), log, "t", bounds) == {0: 1, 1: 0}
    assert resolve_positions(Positions(AtTime(21)), log, "t", bounds) == {0: 2, 1: 0}


@pytest.mark.parametrize("offset", [1, 11])
def test_an_offset_outside_the_log_is_refused(log: EmbeddedLog, offset: int) -> None:
    with pytest.raises(OffsetError, match="OFFSET_RANGE"):
        resolve_positions(Positions(Latest(), {0: AtOffset(offset)}), log, "t", BOUNDS)


def test_a_partition_that_does_not_exist_is_refused(log: EmbeddedLog) -> None:
    with pytest.raises(OffsetError, match="POSITION_PARTITION"):
        resolve_positions(Positions(Latest(), {2: Latest()}), log, "t", BOUNDS)
