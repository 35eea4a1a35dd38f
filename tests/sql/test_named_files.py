from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.errors import SqlError
from penstock.sql.running import catch_up
from tests.sql.kit import followed, opened, rows, told

EVENTS = '{"id": 1, "at": 1000, "who": "ada"}\n{"id": 2, "at": 61000, "who": null}\n'


def test_files_are_asked_as_sources_are(tmp_path: Path) -> None:
    events, names = tmp_path / "events.jsonl", tmp_path / "names.csv"
    events.write_text(EVENTS)
    names.write_text("id,name\n1,one\n3,three\n")
    pq.write_table(pa.table({"Big": [1, 2]}), tmp_path / "big.parquet")
    with opened(tmp_path / "home") as session:
        assert rows(session, f"SELECT * FROM '{events}';") == [(1, 1000, "ada"), (2, 61000, None)]
        assert rows(session, f"SELECT SUM(big) AS n FROM '{tmp_path}/*.parquet';") == [(3,)]
        joined = f"SELECT e.who, n.name FROM '{events}' e JOIN '{names}' n ON e.id = n.id;"
        assert rows(session, joined) == [("ada", "one")]
        windows = (
            f"SELECT WINDOWSTART AS w, COUNT(*) AS n FROM '{events}' WITH (TIMESTAMP='at')"
            " WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY 1 + 1 ORDER BY w;"
        )
        assert rows(session, windows) == [(0, 1), (60000, 1)]
        assert followed(session, f"SELECT id FROM '{events}' EMIT CHANGES;") == [(1,), (2,)]


def test_a_file_is_a_stream_that_ends_to_a_query_that_runs_on(tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text(EVENTS)
    with opened(tmp_path / "home") as session:
        told(session, f"CREATE STREAM seen AS SELECT who, id FROM '{events}' PARTITION BY id;")
        catch_up(tmp_path / "home", list(session.definitions().queries.values()))
        events.unlink()
        assert rows(session, "SELECT * FROM seen ORDER BY id;") == [(1, "ada"), (2, None)]
    with opened(tmp_path / "home") as session:
        assert len(rows(session, "SHOW QUERIES;")) == 1


@pytest.mark.parametrize(
    ("named", "code"),
    [
        ("'nothing.jsonl'", "SQL_FILE"),
        ("'{0}/plain.txt'", "SQL_FILE"),
        ("'{0}/a.csv' WITH (SPEED=1)", "SQL_PROPERTY"),
        ("'{0}/a.csv' WITH (TIMESTAMP='x')", "SQL_PROPERTY"),
        ("'{0}/a.csv' WITH (COLUMNS='z INT')", "SQL_PROPERTY"),
        ("'{0}/a.csv' WITH (COLUMNS='a MANY')", "SQL_PROPERTY"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, named: str, code: str) -> None:
    (tmp_path / "plain.txt").write_text("hello")
    (tmp_path / "a.csv").write_text("a\n1\n")
    with opened(tmp_path / "home") as session:
        with pytest.raises(SqlError) as caught:
            rows(session, f"SELECT * FROM {named.format(tmp_path)};")
        assert caught.value.code == code
        declared = f"SELECT * FROM '{tmp_path}/a.csv' WITH (COLUMNS='a STRING');"
        assert rows(session, declared) == [("1",)]
