"""What was asked for of queries, shown from outside."""

from __future__ import annotations

from pathlib import Path

from penstock.log.rows import rows_of_bytes
from penstock.sql.session import SqlSession
from tests.serve.pull.kit import defined, opened

_COMMANDS = (
    "CREATE STREAM entries (account STRING KEY, amount BIGINT) WITH (KAFKA_TOPIC='entries',"
    " VALUE_FORMAT='JSON', PARTITIONS=1);"
)
_VIEW = (
    "CREATE TABLE balances AS SELECT account, SUM(amount) AS balance FROM entries GROUP BY account;"
)
_ASKED = "SELECT account, balance FROM balances ORDER BY account"


def caught_up(home: Path) -> None:
    with SqlSession(home, here=True) as session:
        session.catch_up()


def test_j06_commands_write_events_and_queries_read_views(tmp_path: Path) -> None:
    defined(tmp_path, _COMMANDS + _VIEW)
    with opened(tmp_path) as (log, tables):
        # The side that commands: events only, and a schema that knows no balance.
        for amount in (b"10", b"-3"):
            log.append("entries", 0, rows_of_bytes([b'{"AMOUNT":%s}' % amount], keys=[b"a"]))
        caught_up(tmp_path)
        # The side that asks: a view with a schema of its own, which no command writes.
        answer = tables.query(_ASKED)
        assert answer.rows == [("a", 7)]
        assert {at.topic for at in answer.offsets} == {"BALANCES"}
        assert "BALANCE" not in tables.query("SELECT * FROM entries").columns


def test_j08_a_view_that_was_deleted_gives_the_same_answers_again(tmp_path: Path) -> None:
    defined(tmp_path, _COMMANDS + _VIEW)
    with opened(tmp_path) as (log, tables):
        keys = [b"a", b"b", b"a", b"c"]
        log.append("entries", 0, rows_of_bytes([b'{"AMOUNT":5}'] * len(keys), keys=keys))
        caught_up(tmp_path)
        before = tables.query(_ASKED).rows
        assert before == [("a", 10), ("b", 5), ("c", 5)]
        defined(tmp_path, "DROP TABLE balances DELETE TOPIC;" + _VIEW)
        assert tables.query(_ASKED).rows == []
        caught_up(tmp_path)
        assert tables.query(_ASKED).rows == before


def test_f16_the_rows_of_a_stream_are_asked_for_as_they_are(tmp_path: Path) -> None:
    defined(tmp_path, _COMMANDS)
    with opened(tmp_path) as (log, tables):
        log.append("entries", 0, rows_of_bytes([b'{"AMOUNT":5}', b'{"AMOUNT":6}']))
        asked = "SELECT amount, rowoffset FROM entries ORDER BY rowoffset DESC LIMIT 1 OFFSET 1"
        assert tables.query(asked).rows == [(5, 0)]
