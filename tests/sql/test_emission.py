from __future__ import annotations

from pathlib import Path

from tests.sql.kit import ORDERS, opened, rows, told

TABLES = (
    "CREATE TABLE {0} AS SELECT item, SUM(amount) AS total FROM orders GROUP BY item;"
    "CREATE TABLE {0}_of AS SELECT total, COUNT(*) AS n FROM {0} GROUP BY total;"
)


def test_a_batch_gives_the_last_update_of_a_key_and_a_record_its_own(tmp_path: Path) -> None:
    with opened(tmp_path, here=True) as session:
        told(session, ORDERS)
        told(session, TABLES.format("by_batch"))
        told(session, "SET 'penstock.emit' = 'record';")
        told(session, TABLES.format("by_record"))
        told(session, "INSERT INTO orders VALUES ('1','x',1), ('2','y',1), ('3','x',2);")
        batch = rows(session, "SELECT item, total FROM by_batch;")
        assert sorted(batch) == [("x", 3), ("y", 1)]
        printed = rows(session, "SELECT total, n FROM by_record_of;")
        assert sorted(printed) == [(1, 1), (3, 1)]
        told(
            session,
            "CREATE STREAM seen (total INT KEY, n BIGINT)"
            " WITH (KAFKA_TOPIC='BY_RECORD_OF', VALUE_FORMAT='JSON');",
        )
        first, second, *others = rows(session, "SELECT total, n FROM seen;")
        assert (first, second) == ((1, 1), (1, 2))
        assert sorted(others) == [(1, 1), (3, 1)]
