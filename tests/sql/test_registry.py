from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import RegistryError, SqlError
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.producer import Producer
from penstock.schema.codec.schemas import SchemaText
from penstock.schema.home_schemas import HomeSchemas
from penstock.sql.project import steps_to
from penstock.sql.records import records_of
from tests.sql.kit import ORDERS, make_topics, opened, rows, told

SALES = (
    "CREATE STREAM sales (id INT KEY, item STRING, amount INT)"
    " WITH (KAFKA_TOPIC='sales', FORMAT='{}', PARTITIONS=1);"
)
LARGE = "CREATE STREAM large AS SELECT id, item, amount * 2 AS double FROM sales WHERE amount > 1;"


@pytest.mark.parametrize("name", ["AVRO", "JSON_SR", "PROTOBUF"])
def test_what_a_query_writes_has_a_schema_that_tells_its_columns(tmp_path: Path, name: str) -> None:
    with opened(tmp_path, here=True) as session:
        told(session, SALES.format(name))
        told(session, LARGE)
        told(session, "INSERT INTO sales VALUES (1, 'a', 1), (2, 'b', 2);")
        told(session, f"CREATE STREAM found WITH (KAFKA_TOPIC='LARGE', FORMAT='{name}');")
        assert rows(session, "SELECT * FROM found;") == [(2, "b", 4)]
        assert told(session, "ASSERT SCHEMA SUBJECT 'LARGE-value';")
    with open_log(tmp_path) as log:
        (record,) = records_of(log, "LARGE")
    versions = [HomeSchemas(tmp_path).version(f"LARGE-{part}") for part in ("key", "value")]
    heads = [record["_key"][:5], record["value"][:5]]
    assert heads == [b"\0" + version.id.to_bytes(4, "big") for version in versions]
    # The columns are those that were told then, whatever is registered later.
    with opened(tmp_path) as session:
        names = [row[0] for row in rows(session, "DESCRIBE found;")]
    assert names[1:] == ["ITEM", "DOUBLE"]


def test_columns_are_those_of_a_registered_schema(tmp_path: Path) -> None:
    make_topics(tmp_path, "events")
    text = '{"type":"record","name":"r","fields":[{"name":"at","type":"long"}]}'
    made = HomeSchemas(tmp_path).register("events-value", SchemaText(text))
    other = HomeSchemas(tmp_path).register("else", SchemaText(text.replace("at", "then")))
    (tmp_path / "sql").mkdir()
    statement = "CREATE STREAM e (k STRING KEY) WITH (KAFKA_TOPIC='events', VALUE_FORMAT='AVRO');"
    (tmp_path / "sql" / "e.sql").write_text(statement)
    with opened(tmp_path, here=True) as session:
        list(session.apply(steps_to(tmp_path / "sql", session.definitions())))
        again = steps_to(tmp_path / "sql", session.definitions())
        assert [step.does for step in again] == ["keep"]
        assert rows(session, "DESCRIBE e;") == [("K", "STRING", "key"), ("AT", "BIGINT", "")]
        told(
            session,
            "CREATE STREAM f WITH (KAFKA_TOPIC='events', VALUE_FORMAT='AVRO',"
            f" VALUE_SCHEMA_ID={other.id});",
        )
        assert rows(session, "DESCRIBE f;") == [("then", "BIGINT", "")]
        with pytest.raises(SqlError, match="SQL_FORMAT"):
            told(
                session,
                f"CREATE STREAM g WITH (VALUE_SCHEMA_ID={other.id}) AS SELECT * FROM e;",
            )
        told(session, f"ASSERT SCHEMA ID {made.id};")
        told(session, "ASSERT NOT EXISTS SCHEMA SUBJECT 'none';")
        told(session, f"ASSERT NOT EXISTS SCHEMA SUBJECT 'events-value' ID {other.id};")
        with pytest.raises(SqlError, match="SQL_ASSERT"):
            told(session, "ASSERT SCHEMA SUBJECT 'none';")


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("CREATE STREAM s WITH (KAFKA_TOPIC='t', VALUE_FORMAT='AVRO');", "SQL_SCHEMA_MISSING"),
        ("CREATE STREAM s WITH (KAFKA_TOPIC='t', VALUE_FORMAT='JSON');", "SQL_COLUMNS"),
        (
            "CREATE STREAM s (v INT) WITH (KAFKA_TOPIC='t', VALUE_FORMAT='JSON',"
            " VALUE_SCHEMA_ID=1);",
            "SQL_PROPERTY",
        ),
        (
            "CREATE STREAM s (v INT) WITH (KAFKA_TOPIC='t', VALUE_FORMAT='PROTOBUF',"
            " VALUE_PROTOBUF_NULLABLE_REPRESENTATION='NEVER');",
            "SQL_PROPERTY",
        ),
        (
            "CREATE STREAM s (v DECIMAL(3, 1)) WITH (KAFKA_TOPIC='t', VALUE_FORMAT='PROTOBUF');",
            "SQL_FORMAT",
        ),
    ],
)
def test_what_a_registry_cannot_tell_is_refused(tmp_path: Path, statement: str, code: str) -> None:
    make_topics(tmp_path, "t")
    with opened(tmp_path) as session, pytest.raises(SqlError, match=code):
        told(session, statement)


def test_a_record_that_cannot_be_read_is_a_dead_letter_and_the_rest_goes_on(
    tmp_path: Path,
) -> None:
    with opened(tmp_path, here=True) as session:
        told(session, ORDERS)
        told(session, "CREATE STREAM copies AS SELECT * FROM orders;")
        with open_log(tmp_path) as log:
            producer = Producer(log)
            producer.send("orders", b"{no json", key=b"k")
            producer.close()
        told(session, "INSERT INTO orders VALUES ('a', 'x', 1);")
        assert rows(session, "SELECT * FROM copies;") == [("a", "x", 1)]
    with open_log(tmp_path) as log:
        (letter,) = log.read("COPIES.dead", 0, 0, ReadLimit()).rows.to_pylist()
    assert letter["error"].startswith("[VALUE_UNREADABLE]")
    assert (letter["raw"], letter["key"], letter["topic"]) == (b"{no json", b"k", "orders")


def test_a_result_whose_schema_is_not_compatible_is_refused_and_nothing_is_made(
    tmp_path: Path,
) -> None:
    text = '{"type":"record","name":"R","fields":[{"name":"ITEM","type":"int"}]}'
    HomeSchemas(tmp_path).register("COPIES-value", SchemaText(text))
    with opened(tmp_path) as session:
        told(session, ORDERS)
        statement = "CREATE STREAM copies WITH (VALUE_FORMAT='AVRO') AS SELECT * FROM orders;"
        with pytest.raises(RegistryError, match="SCHEMA_INCOMPATIBLE"):
            told(session, statement)
        assert "COPIES" not in [row[0] for row in rows(session, "SHOW STREAMS;")]
        told(session, "ASSERT NOT EXISTS TOPIC 'COPIES';")
