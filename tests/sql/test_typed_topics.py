"""Topics that have columns of their own, as streams and tables of SQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from penstock.errors import SqlError
from penstock.log.open import open_log
from penstock.sql.session import SqlSession
from penstock.testing.driver import TestDriver
from tests.sql.kit import ORDERS, answers, opened, rows, told

_TIME = pa.timestamp("ms", tz="UTC")
FLIGHTS = pa.schema([("no", pa.int64()), ("Gate", pa.string()), ("at", _TIME)])
GATES = pa.schema([("gate", pa.string()), ("hall", pa.string())])
STREAM = (
    "CREATE STREAM flights WITH (KAFKA_TOPIC='flights', FORMAT='TYPED', TIMESTAMP='at',"
    " LATENESS='5 SECONDS');"
)
TABLE = (
    "CREATE TABLE gates (gate STRING PRIMARY KEY, hall STRING)"
    " WITH (KAFKA_TOPIC='gates', FORMAT='TYPED');"
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    flown = [
        {"no": 1, "Gate": "A1", "at": 1000},
        {"no": 2, "Gate": "B7", "at": 4000},
        {"no": 3, "Gate": "A1", "at": 12_000},
    ]
    with open_log(tmp_path) as log:
        log.create_topic("flights", partitions=1, schema=FLIGHTS)
        log.create_topic("gates", partitions=1, schema=GATES)
        log.append("flights", 0, pa.Table.from_pylist(flown, FLIGHTS))
        for rows_, gone in ((("A1", "north"), False), (("B7", "south"), False), (("B7", ""), True)):
            row = dict(zip(GATES.names, rows_, strict=True))
            table = pa.Table.from_pylist([row], GATES)
            table = table.append_column("_key", pa.array([row["gate"].encode()], pa.binary()))
            table = table.append_column("_deleted", pa.array([gone]))
            log.append("gates", 0, table)
    return tmp_path


@pytest.fixture
def session(home: Path) -> Iterator[SqlSession]:
    with opened(home, here=True) as made:
        told(made, STREAM)
        told(made, TABLE)
        yield made


def test_a_stream_has_the_columns_and_the_times_of_its_topic(session: SqlSession) -> None:
    described = rows(session, "DESCRIBE flights;")
    assert [row[:2] for row in described] == [
        ("NO", "BIGINT"),
        ("GATE", "STRING"),
        ("AT", "TIMESTAMP"),
    ]
    asked = "SELECT no, gate, ROWTIME, ROWOFFSET FROM flights WHERE no > 1;"
    assert rows(session, asked) == [(2, "B7", 4000, 1), (3, "A1", 12_000, 2)]


def test_a_table_lacks_the_rows_that_tombstones_deleted(session: SqlSession) -> None:
    assert rows(session, "SELECT * FROM gates;") == [("A1", "north")]
    asked = "SELECT f.no, g.hall FROM flights f LEFT JOIN gates g ON f.gate = g.gate;"
    assert rows(session, asked) == [(1, "north"), (2, None), (3, "north")]


def test_values_are_inserted_as_rows_of_the_topic(session: SqlSession) -> None:
    told(session, "INSERT INTO flights VALUES (4, 'C3', '1970-01-01T00:00:20');")
    asked = "SELECT no, gate, ROWTIME FROM flights WHERE no = 4;"
    assert rows(session, asked) == [(4, "C3", 20_000)]
    told(session, "INSERT INTO gates VALUES ('A1', 'east'), ('C3', 'west');")
    assert rows(session, "SELECT * FROM gates;") == [("A1", "east"), ("C3", "west")]


def test_results_are_typed_as_what_they_are_made_of(session: SqlSession, home: Path) -> None:
    told(session, "CREATE STREAM early AS SELECT gate, no FROM flights WHERE no < 3;")
    session.catch_up()
    assert rows(session, "SELECT * FROM early;") == [("A1", 1), ("B7", 2)]
    with open_log(home) as log:
        assert log.topic("EARLY").schema == pa.schema([("GATE", pa.string()), ("NO", pa.int64())])


def test_results_may_be_bytes_and_bytes_may_become_typed(session: SqlSession) -> None:
    told(session, "CREATE STREAM texts WITH (VALUE_FORMAT='JSON') AS SELECT no, gate FROM flights;")
    told(session, "CREATE STREAM again WITH (FORMAT='TYPED') AS SELECT * FROM texts;")
    session.catch_up()
    assert rows(session, "SELECT gate FROM again WHERE no = 2;") == [("B7",)]
    formats = {row[0]: row[2:4] for row in rows(session, "SHOW STREAMS;")}
    assert formats["TEXTS"][1] == "JSON"
    assert formats["AGAIN"] == ("TYPED", "TYPED")


def test_groups_become_a_table_whose_rows_come_and_go(session: SqlSession) -> None:
    told(
        session,
        "CREATE TABLE crowded AS SELECT gate, COUNT(*) AS n FROM flights GROUP BY gate"
        " HAVING COUNT(*) > 1;",
    )
    session.catch_up()
    assert rows(session, "SELECT * FROM crowded;") == [("A1", 2)]


def test_windows_are_columns_of_the_topic(session: SqlSession, home: Path) -> None:
    told(
        session,
        "CREATE TABLE counted AS SELECT gate, COUNT(*) AS n FROM flights"
        " WINDOW TUMBLING (SIZE 10 SECONDS) GROUP BY gate;",
    )
    session.catch_up()
    found = rows(session, "SELECT gate, n, WINDOWSTART FROM counted;")
    assert sorted(found) == [("A1", 1, 0), ("A1", 1, 10_000), ("B7", 1, 0)]
    with open_log(home) as log:
        schema = log.topic("COUNTED").schema
        assert schema is not None
        assert schema.names == ["GATE", "N", "WINDOWSTART", "WINDOWEND"]


def test_what_a_session_defined_is_there_for_the_next_one(home: Path) -> None:
    with opened(home) as first:
        told(first, STREAM)
    with opened(home) as second:
        assert rows(second, "SELECT no FROM flights WHERE gate = 'B7';") == [(2,)]


def test_only_the_columns_that_are_used_are_read(session: SqlSession) -> None:
    told(session, "CREATE STREAM numbers AS SELECT no FROM flights;")
    (query,) = session.definitions().runnable
    (scan,) = TestDriver(query.plan).physical.scans
    assert scan.columns == ("no",)


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("CREATE STREAM f (nr BIGINT) WITH (KAFKA_TOPIC='flights', FORMAT='TYPED');", "SQL_TOPIC"),
        ("CREATE STREAM f (no INT) WITH (KAFKA_TOPIC='flights', FORMAT='TYPED');", "SQL_TOPIC"),
        ("CREATE STREAM f (no BIGINT) WITH (KAFKA_TOPIC='orders', FORMAT='TYPED');", "SQL_TOPIC"),
        (
            "CREATE STREAM f (no BIGINT) WITH (KAFKA_TOPIC='flights', VALUE_FORMAT='JSON');",
            "SQL_TOPIC",
        ),
        (
            "CREATE STREAM f WITH (KAFKA_TOPIC='flights', VALUE_FORMAT='TYPED',"
            " KEY_FORMAT='JSON');",
            "SQL_PROPERTY",
        ),
        (
            "CREATE STREAM f (no BIGINT) WITH (KAFKA_TOPIC='flights', KEY_FORMAT='TYPED',"
            " VALUE_FORMAT='JSON');",
            "SQL_PROPERTY",
        ),
        (
            "CREATE STREAM f WITH (KAFKA_TOPIC='flights', FORMAT='TYPED', TIMESTAMP='gate',"
            " TIMESTAMP_FORMAT='yyyy');",
            "SQL_PROPERTY",
        ),
    ],
)
def test_what_a_topic_is_not_is_refused(session: SqlSession, statement: str, code: str) -> None:
    told(session, ORDERS)
    with pytest.raises(SqlError) as refusal:
        answers(session, statement)
    assert refusal.value.code == code


def test_a_stream_finds_the_rows_of_files_that_do_not_change(
    session: SqlSession, tmp_path: Path
) -> None:
    path = tmp_path / "halls.csv"
    path.write_text("gate,hall\nA1,north\nA1,upper\nC3,west\n")
    told(
        session,
        "CREATE STREAM found AS SELECT f.no AS no, h.hall AS hall"
        f" FROM flights f LEFT JOIN '{path}' h ON f.gate = h.gate;",
    )
    session.catch_up()
    found = rows(session, "SELECT * FROM found;")
    assert found == [(1, "north"), (1, "upper"), (2, None), (3, "north"), (3, "upper")]


def test_rows_of_files_never_come_by_themselves(session: SqlSession, tmp_path: Path) -> None:
    path = tmp_path / "halls.csv"
    path.write_text("gate,hall\nA1,north\n")
    with pytest.raises(SqlError) as refusal:
        told(
            session,
            "CREATE STREAM found AS SELECT f.no AS no, h.hall AS hall"
            f" FROM flights f FULL JOIN '{path}' h ON f.gate = h.gate;",
        )
    assert refusal.value.code == "SQL_JOIN"
