from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from penstock.errors import StorageError
from penstock.spark.route import Routed
from penstock.spark.stage import discard, stage, staged_rows


def routed(partition: int, *numbers: int, topic: str = "t") -> Routed:
    return Routed(topic, partition, pa.record_batch({"n": pa.array(numbers)}))


def test_staged_rows_come_back_by_partition_in_the_order_of_the_tasks(tmp_path: Path) -> None:
    home = str(tmp_path)
    second = stage(home, "q/0", 1, [routed(0, 5), routed(1, 6), routed(0, 7)])
    first = stage(home, "q/0", 0, [routed(0, 1, 2), routed(0, 3, topic="u")])
    found = [(topic, at, rows["n"].to_pylist()) for topic, at, rows in staged_rows([second, first])]
    assert found == [("t", 0, [1, 2, 5, 7]), ("t", 1, [6]), ("u", 0, [3])]


def test_rows_with_and_without_a_column_are_joined(tmp_path: Path) -> None:
    with_key = Routed("t", 0, pa.record_batch({"_key": pa.array([b"k"]), "n": pa.array([1])}))
    staged = stage(str(tmp_path), "q/0", 0, [with_key, routed(0, 2)])
    ((_, _, rows),) = staged_rows([staged])
    assert rows["_key"].to_pylist() == [b"k", None]
    assert rows["n"].to_pylist() == [1, 2]


def test_a_task_without_rows_leaves_no_file(tmp_path: Path) -> None:
    staged = stage(str(tmp_path), "q/0", 0, [])
    assert not staged.pieces
    assert not list(tmp_path.rglob("*.arrows"))


def test_discarding_also_removes_what_a_killed_run_left(tmp_path: Path) -> None:
    stage(str(tmp_path), "q/3", 0, [routed(0, 1)])
    again = stage(str(tmp_path), "q/3", 0, [routed(0, 1)])
    other = stage(str(tmp_path), "q/4", 0, [routed(0, 1)])
    discard(str(tmp_path), "q/3", [again])
    assert [str(file) for file in tmp_path.rglob("*.arrows")] == [other.file]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "staging").write_text("in the way")
    with pytest.raises(StorageError, match="STAGING_WRITE"):
        stage(str(tmp_path), "q/0", 0, [routed(0, 1)])
