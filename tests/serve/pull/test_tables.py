from __future__ import annotations

import threading
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from penstock.errors import SqlError
from penstock.log.open import open_log
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig
from penstock.serve.pull.tables import Tables
from penstock.sql.session import SqlSession
from tests.serve.pull.kit import KEYS, defined, folded, grown, made, opened


def test_an_answer_is_stamped_with_the_offsets_it_reflects(tmp_path: Path) -> None:
    made(tmp_path)
    with opened(tmp_path) as (log, tables):
        grown(log, Random(1), 7)
        answer = tables.query("SELECT count(*) FROM s JOIN t USING (k)")
        snapshot = log.snapshot(["s_records", "t_records"])
        assert answer.offsets == {at: bound.end for at, bound in snapshot.items()}
        assert tables.query("SELECT count(*) AS n FROM e").rows == [(7,)]
        grown(log, Random(2), 3)
        assert tables.query("SELECT count(*) AS n FROM e").rows == [(10,)]


def test_offsets_are_right_while_others_append(tmp_path: Path) -> None:
    made(tmp_path)
    over = threading.Event()

    def append() -> None:
        with open_log(tmp_path) as log:
            random = Random(3)
            while not over.is_set():
                grown(log, random, 2)

    writer = threading.Thread(target=append)
    with opened(tmp_path) as (log, tables):
        writer.start()
        try:
            answers = [
                tables.query(
                    "SELECT (SELECT count(*) FROM s), (SELECT count(*) FROM t),"
                    " (SELECT count(*) FROM e), (SELECT sum(z) FROM c)"
                )
                for _ in range(15)
            ]
        finally:
            over.set()
            writer.join()
        for answer in answers:
            with folded(log, answer.offsets) as plain:
                expected = plain.execute(
                    "SELECT (SELECT count(*) FROM s), (SELECT count(*) FROM t),"
                    " (SELECT count(*) FROM e), (SELECT sum(z) FROM c)"
                ).fetchall()
            assert answer.rows == expected


def test_a_transaction_is_seen_whole_or_not_at_all(tmp_path: Path) -> None:
    made(tmp_path)
    row = pa.table({"id": [1], "k": ["a"], "x": pa.array([1], pa.int32())})
    with opened(tmp_path) as (log, tables):
        transaction = log.transaction("both")
        transaction.begin()
        transaction.append("e", 0, row)
        transaction.append("e", 1, row)
        assert tables.query("SELECT count(*) AS n FROM e").rows == [(0,)]
        transaction.commit()
        assert tables.query("SELECT count(*) AS n FROM e").rows == [(2,)]
        transaction.close()


def test_names_are_found_in_any_case_and_wrong_ones_are_corrected(tmp_path: Path) -> None:
    made(tmp_path)
    with opened(tmp_path) as (log, tables):
        log.create_topic("results.late", schema=pa.schema([("row", pa.string())]))
        assert tables.query('SELECT count(*) AS n FROM S, "T", E').rows == [(0,)]
        assert tables.query("SELECT * FROM results.late").columns[0] == "row"
        assert tables.query('SELECT row FROM "results.late"').rows == []
        with pytest.raises(SqlError, match="QUERY_TABLE_MISSING") as caught:
            tables.query("SELECT *\nFROM s_record")
        assert caught.value.fact.startswith("line 2, column 6: ")
        assert caught.value.hint == 'Did you mean "s_records"?'
        with pytest.raises(SqlError, match="QUERY_WRONG") as caught:
            tables.query("SELECT k, gg FROM s")
        assert caught.value.fact.startswith("line 1, column 11: ")
        assert caught.value.hint == 'Did you mean "G"?'


def test_a_topic_of_bytes_is_text_and_bytes(tmp_path: Path) -> None:
    with opened(tmp_path) as (log, tables):
        log.create_topic("plain")
        log.append("plain", 0, rows_of_bytes([b"1.5", b"\xff", None], keys=[b"a", None, b"b"]))
        found = tables.query("SELECT value, value_bytes, rowkey, rowoffset FROM plain")
        assert found.rows == [("1.5", b"1.5", "a", 0), (None, b"\xff", None, 1)]


def test_a_topic_that_sql_has_a_name_for_is_still_there(tmp_path: Path) -> None:
    defined(
        tmp_path,
        "CREATE STREAM a (x INT) WITH (KAFKA_TOPIC='a', VALUE_FORMAT='JSON', PARTITIONS=1);",
    )
    with opened(tmp_path) as (log, tables):
        log.append("a", 0, rows_of_bytes([b'{"x": 1}', b"damaged"]))
        assert tables.query("SELECT x FROM a").rows == [(1,)]
        assert tables.query("SELECT value FROM topic.a").rows == [('{"x": 1}',), ("damaged",)]


def test_history_has_every_record_of_a_table(tmp_path: Path) -> None:
    with opened(tmp_path) as (log, tables):
        log.create_topic("c", config=TopicConfig(cleanup="compact"))
        log.append("c", 0, rows_of_bytes([b"1", b"2", None], keys=[b"a", b"b", b"a"]))
        assert tables.query("SELECT rowkey, value FROM c").rows == [("b", "2")]
        found = tables.query("SELECT rowkey, value, rowgone FROM history.c ORDER BY rowoffset").rows
        assert found == [("a", "1", False), ("b", "2", False), ("a", None, True)]


def test_a_table_is_seen_as_of_an_earlier_time_or_offset(tmp_path: Path) -> None:
    with opened(tmp_path) as (log, tables):
        log.create_topic("c", config=TopicConfig(cleanup="compact"))
        rows = rows_of_bytes([b"1", b"2", None], keys=[b"a", b"a", b"a"], timestamps=[10, 20, 30])
        log.append("c", 0, rows)
        then = [tables.query("SELECT value FROM c", as_of=time).rows for time in (9, 10, 29, 30)]
        assert then == [[], [("1",)], [("2",)], []]
        assert tables.query("SELECT value FROM c", as_of="1970-01-01T00:00:00.02Z").rows == [("2",)]
        first = tables.query("SELECT value FROM c", as_of={"c-0": 1})
        assert first.rows == [("1",)]
        assert first.offsets == {TopicPartition("c", 0): 1}
        with pytest.raises(SqlError, match="QUERY_AS_OF"):
            tables.query("SELECT value FROM c", as_of={"c-0": 4})
        with pytest.raises(SqlError, match="QUERY_AS_OF"):
            tables.query("SELECT value FROM c", as_of={"cc-0": 1})
        assert tables.query("SELECT count(*) AS n FROM c", as_of="9" * 40).rows == [(0,)]


def test_a_typed_table_without_nulls_may_have_tombstones(tmp_path: Path) -> None:
    columns = pa.schema([pa.field("x", pa.int64(), nullable=False)])
    with opened(tmp_path) as (log, tables):
        log.create_topic("c", schema=columns, config=TopicConfig(cleanup="compact"))
        rows = pa.table({"x": [1, None], "_key": [b"a", b"a"], "_deleted": [False, True]})
        log.append("c", 0, rows)
        assert tables.query("SELECT x FROM c").rows == []
        assert tables.query("SELECT x FROM history.c").rows == [(1,), (None,)]


def test_the_row_of_a_key_is_found_and_follows_what_comes(tmp_path: Path) -> None:
    made(tmp_path)
    with opened(tmp_path) as (log, tables):
        random = Random(5)
        for _ in range(6):
            grown(log, random, 9)
            with folded(log) as plain:
                for key in KEYS:
                    row = plain.execute("SELECT k, z FROM c WHERE k = ?", [key]).fetchall()
                    assert [it[:2] for it in tables.lookup("c", key).rows] == row
                    row = plain.execute("SELECT k, h, w FROM t WHERE k = ?", [key]).fetchall()
                    assert [it[:3] for it in tables.lookup("t", key).rows] == row
        assert tables.lookup("t", "nobody").rows == []


def test_a_key_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    made(tmp_path)
    defined(
        tmp_path,
        "CREATE TABLE two (a INT PRIMARY KEY, b INT PRIMARY KEY, x INT) WITH (KAFKA_TOPIC='two',"
        " KEY_FORMAT='JSON', VALUE_FORMAT='JSON', PARTITIONS=1);"
        " INSERT INTO two VALUES (1, 2, 3);",
    )
    with opened(tmp_path) as (_, tables):
        assert tables.lookup("two", {"a": "1", "b": 2}).rows[0][:3] == (1, 2, 3)
        for key in ("1", {"a": 1}, {"a": 1, "c": 2}, {"a": "one", "b": 2}):
            with pytest.raises(SqlError, match="QUERY_KEY"):
                tables.lookup("two", key)
        with pytest.raises(SqlError, match="QUERY_NO_TABLE"):
            tables.lookup("s", "a")
        with pytest.raises(SqlError, match="QUERY_TABLE_MISSING"):
            tables.lookup("nothing", "a")


def test_a_key_in_windows_has_a_row_for_each(tmp_path: Path) -> None:
    defined(
        tmp_path,
        "CREATE STREAM v (k STRING KEY, n INT) WITH (KAFKA_TOPIC='v', VALUE_FORMAT='JSON',"
        " PARTITIONS=1);"
        "CREATE TABLE w AS SELECT k, count(*) AS n FROM v WINDOW TUMBLING (SIZE 1 MINUTE)"
        " GROUP BY k;"
        "INSERT INTO v (rowtime, k, n) VALUES (1000, 'a', 1), (2000, 'a', 1), (61000, 'a', 1);",
    )
    with SqlSession(tmp_path, here=True) as session:
        session.catch_up()
    with opened(tmp_path) as (_, tables):
        asked = "SELECT k, n, windowstart, windowend FROM w ORDER BY windowstart"
        expected = [("a", 2, 0, 60_000), ("a", 1, 60_000, 120_000)]
        assert tables.query(asked).rows == expected
        found = tables.lookup("w", "a")
        places = [found.columns.index(name) for name in ("K", "N", "WINDOWSTART", "WINDOWEND")]
        assert sorted(tuple(row[at] for at in places) for row in found.rows) == sorted(expected)


def test_event_time_is_the_time_of_a_row(tmp_path: Path) -> None:
    defined(
        tmp_path,
        "CREATE STREAM s (happened BIGINT, x INT) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON',"
        " PARTITIONS=1, TIMESTAMP='happened');"
        " INSERT INTO s (happened, x) VALUES (70, 1), (60, 2);",
    )
    with opened(tmp_path) as (_, tables):
        assert tables.query("SELECT rowtime, x FROM s ORDER BY 1").rows == [(60, 2), (70, 1)]


def test_a_topic_made_anew_is_read_anew_and_trimmed_rows_go(tmp_path: Path) -> None:
    with opened(tmp_path) as (log, tables):
        log.create_topic("p")
        log.append("p", 0, rows_of_bytes([b"old"]))
        assert tables.query("SELECT value FROM p").rows == [("old",)]
        log.delete_topic("p")
        log.create_topic("p")
        log.append("p", 0, rows_of_bytes([b"new", b"newer"]))
        assert tables.query("SELECT value FROM p ORDER BY 1").rows == [("new",), ("newer",)]
        log.delete_records("p", 0, before_offset=1)
        assert tables.query("SELECT value FROM p").rows == [("newer",)]
        log.append("p", 0, rows_of_bytes([b"newest"]))
        assert tables.query("SELECT value FROM p ORDER BY 1").rows == [("newer",), ("newest",)]


def test_values_that_python_has_no_word_for_are_given_all_the_same(tmp_path: Path) -> None:
    with opened(tmp_path) as (_, tables):
        answer = tables.query(
            "SELECT 'infinity'::TIMESTAMP AS t, MAP {[1]: 2} AS m, DATE '2026-01-31' AS d"
        )
        (row,) = answer.rows
        assert row[0] == 2**63 - 1
        assert row[1] == [([1], 2)]
        assert answer.document()["rows"] == [[2**63 - 1, [[[1], 2]], "2026-01-31"]]


def test_rows_are_cut_off_and_said_to_be(tmp_path: Path) -> None:
    with opened(tmp_path) as (_, tables):
        answer = tables.query("SELECT * FROM range(5000)", limit=3000)
        assert (len(answer.rows), answer.truncated) == (3000, True)
        answer = tables.query("SELECT * FROM range(3000)", limit=3000)
        assert (len(answer.rows), answer.truncated) == (3000, False)


def test_no_more_is_kept_than_memory_is_given(tmp_path: Path) -> None:
    with opened(tmp_path, memory=600_000) as (log, tables):
        for name in ("one", "two", "big"):
            log.create_topic(name)
            size = 400 if name != "big" else 2000
            log.append(name, 0, rows_of_bytes([b"x" * 400] * size))
        # Text and bytes of a topic are counted, though they share what they lie in.
        assert tables.query("SELECT count(*) AS n FROM one").rows == [(400,)]
        assert tables.query("SELECT count(*) AS n FROM two").rows == [(400,)]
        with pytest.raises(SqlError, match="QUERY_MEMORY") as caught:
            tables.query("SELECT count(*) FROM big")
        assert '"big"' in caught.value.fact
        assert tables.query("SELECT count(*) AS n FROM one").rows == [(400,)]


def test_many_may_ask_at_once(tmp_path: Path) -> None:
    made(tmp_path)
    failures: list[BaseException] = []
    with opened(tmp_path) as (log, tables):
        grown(log, Random(6), 20)

        def ask(tables: Tables) -> None:
            try:
                for _ in range(4):
                    assert tables.query("SELECT count(*) AS n FROM s").rows == [(20,)]
                    assert tables.query("SELECT count(*) AS n FROM history.s").rows == [(20,)]
                    tables.lookup("t", "a")
            except Exception as error:  # noqa: BLE001  # told below
                failures.append(error)

        threads = [threading.Thread(target=ask, args=(tables,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []


def test_a_table_that_is_changed_many_times_lets_old_rows_go(tmp_path: Path) -> None:
    random = Random(7)
    expected: dict[str, str | None] = {}
    with opened(tmp_path) as (log, tables):
        log.create_topic("c", config=TopicConfig(cleanup="compact"))
        for turn in range(6):
            keys = [f"k{random.randrange(6000)}" for _ in range(8000)]
            values = [None if random.random() < 0.2 else f"{turn} {at}" for at in range(8000)]
            contents = [None if value is None else value.encode() for value in values]
            log.append("c", 0, rows_of_bytes(contents, keys=[key.encode() for key in keys]))
            expected.update(zip(keys, values, strict=True))
            found = tables.query("SELECT rowkey, value FROM c", limit=9999).rows
            there = {key: value for key, value in expected.items() if value is not None}
            assert sorted(found) == sorted(there.items())
            for key in [*expected][:20]:
                rows = [row[0] for row in tables.lookup("c", key).rows]
                assert rows == [value for value in [expected[key]] if value is not None]
