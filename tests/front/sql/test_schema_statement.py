from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.front.sql.catalog import Catalog
from penstock.front.sql.source import EventTime, KeyWindow, RecordFormat
from penstock.front.sql.statement import Session
from tests.front.sql.script import outcomes, refusal

WITH = "WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON')"


def test_formats_windows_and_times_are_read_from_properties() -> None:
    session = Session(Catalog())
    outcomes(
        """CREATE STREAM s (k STRING KEY, happened STRING) WITH (kafka_topic=visits, partitions=2,
        key_format='JSON', value_format='DELIMITED', value_delimiter='TAB', timestamp='happened',
        timestamp_format='yyyy', window_type='Tumbling', window_size='2 SECONDS');""",
        session,
    )
    found = session.catalog.get("S")
    assert found is not None
    assert found.topic == "visits"
    assert found.partitions == 2
    assert found.key_format == RecordFormat("JSON", wrapped=False)
    assert found.value_format == RecordFormat("DELIMITED", delimiter="\t")
    assert found.event_time == EventTime("HAPPENED", "yyyy")
    assert found.window == KeyWindow("tumbling", timedelta(seconds=2))


def test_a_default_format_is_a_setting() -> None:
    session = Session(Catalog({"ksql.persistence.default.format.value": "json"}))
    outcomes("CREATE STREAM s (v INT) WITH (KAFKA_TOPIC='s');", session)
    found = session.catalog.get("S")
    assert found is not None
    assert found.value_format.name == "JSON"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"CREATE STREAM s {WITH};", "SQL_COLUMNS"),
        (f"CREATE TABLE s (v INT) {WITH};", "SQL_KEY"),
        (f"CREATE TABLE s (v INT KEY) {WITH};", "SQL_KEY"),
        ("CREATE TABLE s (v INT) WITH (KAFKA_TOPIC='s', FORMAT='JSON', KEY='w');", "SQL_PROPERTY"),
        (f"CREATE STREAM s (v INT, v INT) {WITH};", "SQL_COLUMN_TWICE"),
        (f"CREATE STREAM s (rowtime BIGINT) {WITH};", "SQL_COLUMN_NAME"),
        (f"CREATE STREAM s (h INT HEADERS) {WITH};", "SQL_HEADERS"),
        (f"CREATE STREAM s (a BYTES HEADER('x'), b BYTES HEADER('x')) {WITH};", "SQL_HEADERS"),
        (f"CREATE STREAM s (v NUMBER) {WITH};", "SQL_TYPE"),
        (f"CREATE STREAM s (v DECIMAL(3, 4)) {WITH};", "SQL_TYPE"),
        (f"CREATE STREAM s (v STRUCT<a INT, a INT>) {WITH};", "SQL_TYPE"),
        (f"CREATE STREAM s (v MAP<INT, INT>) {WITH};", "SQL_FORMAT"),
        ("CREATE STREAM s (v INT) WITH (VALUE_FORMAT='JSON');", "SQL_PROPERTY"),
        ("CREATE STREAM s (v INT) WITH (KAFKA_TOPIC='s');", "SQL_PROPERTY"),
        ("CREATE STREAM s (v INT) WITH (KAFKA_TOPIC='s', FORMAT='CSV');", "SQL_PROPERTY"),
        ("CREATE STREAM s (v INT) WITH (KAFKA_TOPIC='s', FORMATS='JSON');", "SQL_PROPERTY"),
        (
            "CREATE STREAM s (v INT) WITH (KAFKA_TOPIC='s', FORMAT='JSON', KEY_FORMAT='JSON');",
            "SQL_PROPERTY",
        ),
        (
            "CREATE STREAM s (v INT) WITH (KAFKA_TOPIC='s', FORMAT='JSON', WINDOW_TYPE='HOPPING');",
            "SQL_PROPERTY",
        ),
        (
            "CREATE STREAM s (v INT) WITH (KAFKA_TOPIC='s', FORMAT='JSON', TIMESTAMP='v');",
            "SQL_PROPERTY",
        ),
        ("CREATE STREAM s (a INT, b INT) WITH (KAFKA_TOPIC='s', FORMAT='KAFKA');", "SQL_FORMAT"),
        ("CREATE STREAM s (a BOOLEAN) WITH (KAFKA_TOPIC='s', FORMAT='KAFKA');", "SQL_FORMAT"),
        (
            "CREATE STREAM s (a ARRAY<INT>) WITH (KAFKA_TOPIC='s', FORMAT='DELIMITED');",
            "SQL_FORMAT",
        ),
        (
            "CREATE STREAM s (a INT, b INT) WITH (KAFKA_TOPIC='s', FORMAT='JSON',"
            " WRAP_SINGLE_VALUE=true);",
            "SQL_PROPERTY",
        ),
    ],
)
def test_a_source_that_cannot_be_is_refused(text: str, code: str) -> None:
    assert refusal(text).code == code
