from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import SqlError
from penstock.log.open import open_log
from penstock.sql.answer import Listed, Told
from tests.sql.kit import ORDERS, PEOPLE, answers, make_topics, opened, rows, told

BIG = "CREATE STREAM big AS SELECT * FROM orders WHERE amount > 10;"
COUNTED = "CREATE TABLE counted AS SELECT item, COUNT(*) AS n FROM orders GROUP BY item;"


def test_a_source_is_there_for_the_next_session(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        assert told(session, ORDERS) == "stream ORDERS created"
    with opened(tmp_path) as session:
        assert rows(session, "SHOW STREAMS;") == [("ORDERS", "orders", "KAFKA", "JSON", False)]
        assert rows(session, "SHOW TABLES;") == []
        assert rows(session, "DESCRIBE orders;") == [
            ("ID", "STRING", "key"),
            ("ITEM", "STRING", ""),
            ("AMOUNT", "INTEGER", ""),
        ]


def test_two_sessions_at_once_agree(tmp_path: Path) -> None:
    with opened(tmp_path) as one, opened(tmp_path) as other:
        told(one, ORDERS)
        with pytest.raises(SqlError, match="SQL_SOURCE_EXISTS"):
            told(other, ORDERS)
        told(other, PEOPLE)
        assert rows(one, "SHOW TABLES;") == [("PEOPLE", "people", "KAFKA", "JSON", False)]


def test_a_topic_is_made_as_partitions_says_or_must_be_there(tmp_path: Path) -> None:
    plain = ORDERS.replace(", PARTITIONS=1", "")
    with opened(tmp_path) as session:
        with pytest.raises(SqlError, match="SQL_TOPIC_MISSING"):
            told(session, plain)
        with pytest.raises(SqlError, match=r"SQL_TOPIC.*99999999999 partitions"):
            told(session, ORDERS.replace("PARTITIONS=1", "PARTITIONS=99999999999"))
        assert rows(session, "SHOW STREAMS;") == []
        told(session, ORDERS.replace("PARTITIONS=1", "PARTITIONS=3"))
        assert ("orders", 3, 0) in rows(session, "SHOW TOPICS;")
        with pytest.raises(SqlError, match="has 3 partitions, not 2") as refusal:
            told(
                session,
                ORDERS.replace("orders (", "more (").replace("PARTITIONS=1", "PARTITIONS=2"),
            )
        assert refusal.value.code == "SQL_TOPIC"
        assert "^^^^" in refusal.value.fact


def test_rows_that_are_inserted_are_there(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, ORDERS)
        words = told(
            session,
            "INSERT INTO orders (ROWTIME, id, amount) VALUES (5, 'a', 1), (6, 'b', 1 + 1);",
        )
        assert words == "2 rows written to ORDERS"
        found = rows(session, "SELECT ROWTIME AS t, id, item, amount FROM orders;")
        assert found == [(5, "a", None, 1), (6, "b", None, 2)]


def test_a_table_has_one_row_a_key_and_its_answer_says_what_it_reflects(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, PEOPLE)
        told(session, "INSERT INTO people VALUES ('a', 'Ada'), ('b', 'Bob'), ('a', 'Eve');")
        (answer,) = answers(session, "SELECT * FROM people WHERE name <> 'Bob';")
        assert isinstance(answer, Listed)
        assert answer.columns == ("ID", "NAME")
        assert answer.rows == (("a", "Eve"),)
        assert dict(answer.offsets) == {("people", 0): 3}
        with pytest.raises(SqlError, match=r"SQL_INSERT.*has no value"):
            told(session, "INSERT INTO people (name) VALUES ('x');")


def test_an_answer_is_ordered_and_cut(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, ORDERS)
        told(session, "INSERT INTO orders VALUES ('a', 'x', 2), ('b', 'y', NULL), ('c', 'x', 3);")
        ordered = "SELECT id, amount FROM orders ORDER BY {} LIMIT 2;"
        assert rows(session, ordered.format("amount DESC")) == [("c", 3), ("a", 2)]
        assert rows(session, ordered.format("amount NULLS FIRST")) == [("b", None), ("a", 2)]
        with pytest.raises(SqlError, match="SQL_COLUMN_MISSING"):
            rows(session, ordered.format("nothing"))


def test_settings_and_variables_are_the_sessions_own(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, "SET 'auto.offset.reset' = 'earliest';")
        told(session, "DEFINE topic = 'orders';")
        told(session, ORDERS.replace("'orders'", "'${topic}'"))
        shown = {name: rest for name, *rest in rows(session, "SHOW PROPERTIES;")}
        assert shown["auto.offset.reset"][:2] == ["earliest", "session"]
        assert rows(session, "SHOW VARIABLES;") == [("TOPIC", "orders")]
        told(session, "UNSET 'auto.offset.reset';")
        told(session, "UNDEFINE topic;")
        shown = {name: rest for name, *rest in rows(session, "SHOW PROPERTIES;")}
        assert shown["auto.offset.reset"][:2] == ["latest", "default"]
        with pytest.raises(SqlError, match="SQL_VARIABLE"):
            told(session, "PRINT '${topic}';")
    with opened(tmp_path) as session:
        assert rows(session, "SHOW VARIABLES;") == []


def test_settings_that_held_when_a_source_was_made_hold_for_it_ever_after(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, "SET 'ksql.persistence.default.format.value' = 'JSON';")
        told(session, ORDERS.replace(", VALUE_FORMAT='JSON'", ""))
    with opened(tmp_path) as session:
        assert rows(session, "SHOW STREAMS;") == [("ORDERS", "orders", "KAFKA", "JSON", False)]


def test_a_type_is_kept_and_dropped(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, "CREATE TYPE money AS DECIMAL(10, 2);")
        told(session, "CREATE TYPE IF NOT EXISTS money AS INT;")
        told(session, ORDERS.replace("amount INT", "amount money"))
    with opened(tmp_path) as session:
        assert rows(session, "SHOW TYPES;") == [("MONEY", "DECIMAL(10, 2)")]
        assert ("AMOUNT", "DECIMAL(10, 2)", "") in rows(session, "DESCRIBE orders;")


def test_a_script_runs_another(tmp_path: Path) -> None:
    script = tmp_path / "orders.sql"
    script.write_text(f"DEFINE a = 'b';\n{ORDERS}\n")
    endless = tmp_path / "endless.sql"
    endless.write_text(f"RUN SCRIPT '{endless}';")
    with opened(tmp_path / "home") as session:
        assert len(answers(session, f"RUN SCRIPT '{script}'; SHOW STREAMS;")) == 3
        assert session.variables == {"A": "b"}
        with pytest.raises(SqlError, match=r"SQL_SCRIPT.*deep"):
            answers(session, f"RUN SCRIPT '{endless}';")
        with pytest.raises(SqlError, match=r"SQL_SCRIPT.*No such file"):
            answers(session, "RUN SCRIPT 'none.sql';")


def test_a_query_is_listed_explained_and_terminated(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, ORDERS)
        assert told(session, BIG) == "stream BIG created by query CSAS_BIG_2"
        ((id_, state, writes, reads, statement),) = rows(session, "SHOW QUERIES;")
        assert (id_, state, writes, reads) == ("CSAS_BIG_2", "not running", "BIG", "ORDERS")
        assert statement.startswith("CREATE STREAM BIG AS SELECT *")
        assert "out-BIG" in told(session, "EXPLAIN CSAS_BIG_2;")
        assert "AMOUNT" in told(session, f"EXPLAIN {BIG.replace('big', 'large')}")
        with pytest.raises(SqlError, match=r"SQL_QUERY_MISSING.*CSAS_BIG_3"):
            told(session, "TERMINATE CSAS_BIG_3;")
        with pytest.raises(SqlError, match="SQL_SOURCE_READ"):
            told(session, "DROP STREAM orders;")
        assert told(session, "TERMINATE CSAS_BIG_2;") == "query CSAS_BIG_2 terminated"
        assert rows(session, "SHOW QUERIES;") == []
        assert ("ID", "STRING", "key") in rows(session, "DESCRIBE big;")
        told(session, "DROP STREAM orders;")
        assert told(session, "PAUSE ALL;") == "there are no queries"


def test_a_source_is_dropped_with_its_query_and_its_topic(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, f"{ORDERS}{BIG}")
        told(session, "DROP STREAM big DELETE TOPIC;")
        assert rows(session, "SHOW QUERIES;") == []
        assert "BIG" not in [name for name, *_ in rows(session, "SHOW TOPICS;")]
        told(session, "DROP STREAM IF EXISTS big;")


def test_a_replaced_source_may_read_what_was_made_after_it(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, ORDERS)
        told(session, BIG)
        told(session, "CREATE STREAM other AS SELECT * FROM orders;")
        told(session, BIG.replace("CREATE", "CREATE OR REPLACE").replace("orders", "other"))
    with opened(tmp_path) as session:
        found = {id_: reads for id_, _, _, reads, _ in rows(session, "SHOW QUERIES;")}
        assert found == {"CSAS_BIG_2": "OTHER", "CSAS_OTHER_4": "ORDERS"}


def test_columns_that_are_added_stay(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, ORDERS)
        told(session, "ALTER STREAM orders ADD COLUMN note STRING;")
    with opened(tmp_path) as session:
        assert ("NOTE", "STRING", "") in rows(session, "DESCRIBE orders;")


def test_describe_extended_tells_all_of_a_source(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, f"{ORDERS}{BIG}")
        facts = dict(rows(session, "DESCRIBE orders EXTENDED;"))
        assert facts["read by"] == "CSAS_BIG_2, not running, 0 behind"
        assert facts["partitions"] == 1
        assert facts["last record"] is None
        told(session, "INSERT INTO orders (id, ROWTIME) VALUES ('a', 1700000000000);")
        facts = dict(rows(session, "DESCRIBE orders EXTENDED;"))
        assert facts["read by"] == "CSAS_BIG_2, not running, 1 behind"
        assert facts["partition 0"] == "offsets 0 to 1"
        assert facts["last record"] == "2023-11-14T22:13:20+00:00"
        assert facts["statement"].startswith("CREATE STREAM ORDERS (ID STRING KEY, ITEM STRING")


def test_functions_are_listed_and_described(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        assert "UCASE" in [name for name, *_ in rows(session, "SHOW FUNCTIONS;")]
        assert dict(rows(session, "DESCRIBE FUNCTION ucase;"))["kind"] == "scalar"
        with pytest.raises(SqlError, match="SQL_FUNCTION_MISSING"):
            rows(session, "DESCRIBE FUNCTION nothing;")


@pytest.mark.parametrize(
    "statement",
    [
        "SHOW CONNECTORS;",
        "SHOW CONNECTOR PLUGINS;",
        "DESCRIBE CONNECTOR c;",
        "DROP CONNECTOR c;",
        "CREATE SOURCE CONNECTOR c WITH ('connector.class'='x');",
        "CREATE SINK CONNECTOR c WITH ('connector.class'='x');",
    ],
)
def test_connectors_are_refused_with_what_to_do_instead(tmp_path: Path, statement: str) -> None:
    with opened(tmp_path) as session, pytest.raises(SqlError, match="SQL_UNSUPPORTED") as refused:
        told(session, statement)
    assert "penstock" in refused.value.hint


def test_a_setting_of_the_system_holds_for_all_sessions(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, "ALTER SYSTEM 'ksql.persistence.default.format.value' = 'JSON';")
    with opened(tmp_path) as session:
        told(session, ORDERS.replace(", VALUE_FORMAT='JSON'", ""))
        shown = {name: rest for name, *rest in rows(session, "SHOW PROPERTIES;")}
        assert shown["ksql.persistence.default.format.value"][:2] == ["JSON", "system"]
        with pytest.raises(SqlError, match=r"SQL_SETTING.*earlest"):
            told(session, "SET 'auto.offset.reset' = 'earlest';")
        with pytest.raises(SqlError, match="whole number"):
            told(session, "SET 'ksql.functions.collect_list.limit' = 'x';")
        for name, note in (
            ("auto.ofset.reset", "Did you mean"),
            ("ksql.streams.state.dir", "ksqlDB"),
            ("another.thing", "not known here"),
        ):
            (answer,) = answers(session, f"SET '{name}' = '1';")
            assert isinstance(answer, Told)
            assert note in answer.notes[0]
        assert "was not set" in told(session, "UNSET 'auto.offset.reset';")


def test_a_query_is_explained_with_what_it_did(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, f"{ORDERS}{BIG}INSERT INTO orders VALUES ('a', 'x', 1), ('b', 'y', 20);")
        text = told(session, "EXPLAIN ANALYZE CREATE STREAM large AS SELECT * FROM orders;")
        assert "analyzed: 2 offsets read, 2 changes given" in text
        text = told(session, "EXPLAIN ANALYZE SELECT id FROM orders WHERE amount > 1 ORDER BY id;")
        assert ", 1 rows, " in text
        with pytest.raises(SqlError, match="SQL_UNSUPPORTED"):
            told(session, "EXPLAIN DROP STREAM orders;")


def test_what_is_asserted_must_be_so(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, ORDERS)
        told(session, "INSERT INTO orders VALUES ('a', 'x', 1);")
        told(session, "ASSERT VALUES orders (id, amount) VALUES ('a', 1);")
        told(session, "ASSERT TOPIC orders WITH (PARTITIONS=1);")
        told(session, "ASSERT NOT EXISTS TOPIC others;")
        for wrong in (
            "ASSERT VALUES orders (id) VALUES ('a');",
            "ASSERT TOPIC others;",
            "ASSERT TOPIC orders WITH (PARTITIONS=2);",
        ):
            with pytest.raises(SqlError, match="SQL_ASSERT"):
                told(session, wrong)


def test_queries_that_run_here_fill_what_they_make(tmp_path: Path) -> None:
    with opened(tmp_path, here=True) as session:
        told(session, f"{ORDERS}{BIG}{COUNTED}")
        told(session, "INSERT INTO orders VALUES ('a', 'x', 20), ('b', 'x', 5), ('c', 'y', 30);")
        assert rows(session, "SELECT id FROM big ORDER BY id;") == [("a",), ("c",)]
        assert rows(session, "SELECT * FROM counted ORDER BY item;") == [("x", 2), ("y", 1)]
    with opened(tmp_path, here=True) as session:
        told(session, "INSERT INTO orders VALUES ('d', 'x', 40);")
        assert rows(session, "SELECT * FROM counted WHERE item = 'x';") == [("x", 3)]
        told(session, "INSERT INTO big SELECT * FROM orders WHERE amount < 10;")
        assert ("b",) in rows(session, "SELECT id FROM big;")


def test_a_topic_with_columns_of_its_own_is_not_read(tmp_path: Path) -> None:
    import pyarrow as pa  # noqa: PLC0415

    with open_log(tmp_path) as log:
        log.create_topic("orders", schema=pa.schema([("a", pa.int32())]))
    with opened(tmp_path) as session, pytest.raises(SqlError, match=r"SQL_TOPIC.*columns"):
        told(session, ORDERS.replace(", PARTITIONS=1", ""))


def test_a_catalog_that_cannot_be_made_again_says_what(tmp_path: Path) -> None:
    make_topics(tmp_path, "orders")
    with opened(tmp_path) as session:
        told(session, ORDERS)
        told(session, BIG)
    from penstock.sql.catalog_store import CatalogStore  # noqa: PLC0415

    with open_log(tmp_path) as log:
        CatalogStore(log).change(lambda _: (None, ["source:ORDERS"]))
    with opened(tmp_path) as session, pytest.raises(SqlError, match=r"SQL_CATALOG.*BIG"):
        rows(session, "SHOW STREAMS;")
