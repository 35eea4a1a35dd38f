from __future__ import annotations

import pyarrow as pa

from penstock.front.sql.source import EventTime, RecordFormat, SourceColumn, SqlSource
from penstock.schema.types import INT64, STRING
from penstock.serve.pull.typed_source import TypedSqlReader

RECORDS = pa.table(
    {
        "_offset": pa.array([4, 5], pa.int64()),
        "_timestamp": pa.array([10, 20], pa.int64()),
        "_key": pa.array([b"7", b"7"], pa.binary()),
        "_deleted": pa.array([False, True]),
        "no": pa.array([7, None], pa.int64()),
        "gate": pa.array(["A1", None]),
        "at": pa.array([3, None], pa.int64()),
    }
)


def table(event_time: EventTime | None = None) -> SqlSource:
    columns = (
        SourceColumn("NO", INT64, "key", held="no"),
        SourceColumn("GATE", STRING, held="gate"),
        SourceColumn("AT", INT64, held="at"),
    )
    typed = RecordFormat("TYPED")
    return SqlSource("F", "table", columns, "f", typed, typed, event_time=event_time)


def test_a_tombstone_says_its_key_alone() -> None:
    found = TypedSqlReader(table()).read(RECORDS, 2).to_pylist()
    assert found == [
        {"NO": 7, "GATE": "A1", "AT": 3, "ROWTIME": 10, "ROWPARTITION": 2, "ROWOFFSET": 4}
        | {"_gone": False},
        {"NO": 7, "GATE": None, "AT": None, "ROWTIME": 20, "ROWPARTITION": 2, "ROWOFFSET": 5}
        | {"_gone": True},
    ]


def test_a_column_may_tell_when_rows_happened() -> None:
    found = TypedSqlReader(table(EventTime("AT"))).read(RECORDS, 0)
    assert found.column("ROWTIME").to_pylist() == [3, 20]
