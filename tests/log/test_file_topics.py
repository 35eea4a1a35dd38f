from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from penstock.errors import SchemaError, StorageError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.file_topics import FileTopic, with_files
from penstock.log.open import open_log
from penstock.log.port import Bounds, Log, ReadLimit
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes

COLUMNS = pa.schema([("k", pa.string()), ("n", pa.int64())])
ROWS = pa.table({"k": ["a", "b", "c", "d", "e"], "n": [1, 2, 3, 4, 5]}, COLUMNS)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EmbeddedLog]:
    with open_log(tmp_path / "home") as opened:
        yield opened


def write_parquet(rows: pa.Table, path: Path) -> Path:
    pq.write_table(rows, path.with_suffix(".parquet"), row_group_size=2)
    return path.with_suffix(".parquet")


def write_csv(rows: pa.Table, path: Path) -> Path:
    pyarrow.csv.write_csv(rows, path.with_suffix(".csv"))
    return path.with_suffix(".csv")


def write_json(rows: pa.Table, path: Path) -> Path:
    lines = [json.dumps(row) for row in rows.to_pylist()]
    path.with_suffix(".jsonl").write_text("\n".join(lines) + "\n")
    return path.with_suffix(".jsonl")


def all_rows(log: Log, topic: str, limit: ReadLimit) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for place, bound in log.snapshot([topic]).items():
        offset = bound.start
        while offset < bound.end:
            chunk = log.read(*place, offset, limit)
            found += chunk.rows.to_pylist()
            offset = chunk.next_offset
    return found


@pytest.mark.parametrize("write", [write_parquet, write_csv, write_json])
@pytest.mark.parametrize("records", [None, 1, 2])
def test_the_rows_of_files_are_read_by_offset(
    tmp_path: Path,
    log: EmbeddedLog,
    write: Callable[[pa.Table, Path], Path],
    records: int | None,
) -> None:
    for name in ("one", "two"):
        write(ROWS, tmp_path / name)
    beside = with_files(log, [FileTopic("rows", str(tmp_path / "*.[pcj]*"), COLUMNS)])
    assert beside.topic("rows").partitions == 2
    assert set(beside.snapshot(["rows"]).values()) == {Bounds(0, 5)}
    limit = ReadLimit(records=records, columns=("n", "_offset"))
    assert all_rows(beside, "rows", limit) == [
        {"n": n, "_offset": n - 1} for _ in range(2) for n in range(1, 6)
    ]
    late = beside.read("rows", 1, 3, ReadLimit(stop=4, columns=("k",)))
    assert late.rows.to_pylist() == [{"k": "d"}]
    assert late.next_offset == 4


def test_a_record_of_a_file_was_taken_when_the_file_was_written(
    tmp_path: Path, log: EmbeddedLog
) -> None:
    path = write_parquet(ROWS, tmp_path / "rows")
    beside = with_files(log, [FileTopic("rows", str(path), COLUMNS)])
    rows = beside.read("rows", 0, 0, ReadLimit()).rows
    assert rows.column_names == ["_offset", "_timestamp", "_deleted", "k", "n"]
    assert set(rows["_timestamp"].to_pylist()) == {path.stat().st_mtime_ns // 1_000_000}
    assert rows["_deleted"].null_count == rows.num_rows


def test_a_column_that_a_file_lacks_is_null_and_one_too_many_is_not_read(
    tmp_path: Path, log: EmbeddedLog
) -> None:
    write_csv(ROWS.append_column("more", pa.array(range(5))), tmp_path / "rows")
    wanted = COLUMNS.append(pa.field("absent", pa.float64()))
    beside = with_files(log, [FileTopic("rows", str(tmp_path / "rows.csv"), wanted)])
    limit = ReadLimit(columns=("n", "absent"))
    assert beside.read("rows", 0, 4, limit).rows.to_pylist() == [{"n": 5, "absent": None}]


def test_the_topics_of_the_log_are_there_as_before(tmp_path: Path, log: EmbeddedLog) -> None:
    log.create_topic("own")
    beside = with_files(log, [FileTopic("rows", str(write_csv(ROWS, tmp_path / "rows")), COLUMNS)])
    beside.append("own", 0, rows_of_bytes([b"x"]))
    assert beside.topics() == ("own",)
    assert beside.topic("own").partitions == 1
    assert beside.read("own", 0, 0, ReadLimit()).next_offset == 1
    assert set(beside.snapshot(["own", "rows"])) == {
        TopicPartition("own", 0),
        TopicPartition("rows", 0),
    }
    assert beside.wait({TopicPartition("own", 0): 0, TopicPartition("rows", 0): 5}, 1.0)
    assert with_files(log, []) is log


def test_a_changed_file_makes_another_topic(tmp_path: Path, log: EmbeddedLog) -> None:
    path = write_csv(ROWS, tmp_path / "rows")
    known = FileTopic("rows", str(path), COLUMNS).describe().topic_id
    assert FileTopic("rows", str(path), COLUMNS).describe().topic_id == known
    write_csv(ROWS.slice(1), tmp_path / "rows")
    changed = FileTopic("rows", str(path), COLUMNS)
    assert changed.describe().topic_id != known
    assert changed.rows(0) == 4


def test_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    write_csv(ROWS, tmp_path / "a")
    write_csv(ROWS, tmp_path / "b")
    topic = FileTopic("rows", str(tmp_path), COLUMNS)
    assert [Path(path).name for path in topic.files] == ["a.csv", "b.csv"]
    assert topic.table(1).num_rows == 5


def test_files_that_are_not_there_or_of_no_known_kind_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="FILES_MISSING"):
        FileTopic("rows", str(tmp_path / "*.csv"), COLUMNS).describe()
    (tmp_path / "rows.parquett").write_bytes(b"")
    with pytest.raises(StorageError, match="FILES_FORMAT"):
        FileTopic("rows", str(tmp_path / "rows.*"), COLUMNS).describe()


def test_a_file_with_other_rows_is_named(tmp_path: Path, log: EmbeddedLog) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("k,n\na,one\n")
    topic = FileTopic("rows", str(path), COLUMNS)
    with pytest.raises(SchemaError, match=r"FILE_UNREADABLE.*rows\.csv"):
        with_files(log, [topic]).read("rows", 0, 0, ReadLimit())
    (tmp_path / "torn.parquet").write_bytes(b"PAR1")
    with pytest.raises(SchemaError, match="FILE_UNREADABLE"):
        FileTopic("torn", str(tmp_path / "torn.parquet"), COLUMNS).rows(0)
