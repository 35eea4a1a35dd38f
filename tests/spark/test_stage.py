from __future__ import annotations

from pathlib import Path
from typing import cast

import pyarrow as pa
import pytest

from penstock.errors import StorageError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.port import Log, ReadLimit
from penstock.log.prepared import Prepared
from penstock.spark.route import Routed
from penstock.spark.stage import discard, stage, staged_rows

PLAIN = cast("Log", object())
"""A log that cannot say how it would store rows."""


def routed(partition: int, *numbers: int, topic: str = "t") -> Routed:
    return Routed(topic, partition, pa.record_batch({"n": pa.array(numbers)}))


def numbers(rows: pa.Table | Prepared) -> list[int]:
    assert isinstance(rows, pa.Table)
    found: list[int] = rows["n"].to_pylist()
    return found


def test_staged_rows_come_back_by_partition_in_the_order_of_the_tasks(tmp_path: Path) -> None:
    home = str(tmp_path)
    second = stage(PLAIN, home, "q/0", 1, [routed(0, 5), routed(1, 6), routed(0, 7)])
    first = stage(PLAIN, home, "q/0", 0, [routed(0, 1, 2), routed(0, 3, topic="u")])
    found = [(topic, at, numbers(rows)) for topic, at, rows in staged_rows([second, first])]
    assert found == [("t", 0, [1, 2, 5, 7]), ("t", 1, [6]), ("u", 0, [3])]


def test_rows_with_and_without_a_column_are_joined(tmp_path: Path) -> None:
    with_key = Routed("t", 0, pa.record_batch({"_key": pa.array([b"k"]), "n": pa.array([1])}))
    staged = stage(PLAIN, str(tmp_path), "q/0", 0, [with_key, routed(0, 2)])
    ((_, _, rows),) = staged_rows([staged])
    assert isinstance(rows, pa.Table)
    assert rows["_key"].to_pylist() == [b"k", None]
    assert numbers(rows) == [1, 2]


def test_a_task_without_rows_leaves_no_file(tmp_path: Path) -> None:
    staged = stage(PLAIN, str(tmp_path), "q/0", 0, [])
    assert not staged.pieces
    assert not list(tmp_path.rglob("*.arrows"))


def test_discarding_also_removes_what_a_killed_run_left(tmp_path: Path) -> None:
    stage(PLAIN, str(tmp_path), "q/3", 0, [routed(0, 1)])
    again = stage(PLAIN, str(tmp_path), "q/3", 0, [routed(0, 1)])
    other = stage(PLAIN, str(tmp_path), "q/4", 0, [routed(0, 1)])
    discard(str(tmp_path), "q/3", [again])
    assert [str(file) for file in tmp_path.rglob("*.arrows")] == [other.file]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "staging").write_text("in the way")
    with pytest.raises(StorageError, match="STAGING_WRITE"):
        stage(PLAIN, str(tmp_path), "q/0", 0, [routed(0, 1)])


def test_rows_are_staged_as_the_log_would_store_them(tmp_path: Path) -> None:
    log = EmbeddedLog(MemoryStorage())
    log.create_topic("t", partitions=2, schema=pa.schema([("n", pa.int64())]))
    staged = stage(log, str(tmp_path), "q/0", 0, [routed(1, 4, 5), routed(1, 6), routed(0, 7)])
    found = [*staged_rows([staged])]
    assert all(isinstance(rows, Prepared) for _, _, rows in found)
    for topic, partition, rows in found:
        log.append(topic, partition, rows)
    read = [log.read("t", at, 0, ReadLimit()).rows["n"].to_pylist() for at in (0, 1)]
    assert read == [[7], [4, 5, 6]]


def test_rows_for_a_store_are_streams_whatever_the_log(tmp_path: Path) -> None:
    log = EmbeddedLog(MemoryStorage())
    staged = stage(log, str(tmp_path), "q/0", 0, [routed(0, 1, topic="store:people")])
    ((topic, _, rows),) = staged_rows([staged])
    assert (topic, numbers(rows)) == ("store:people", [1])
