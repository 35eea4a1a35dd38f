from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import SqlError
from penstock.log.open import open_log
from penstock.log.producer import Producer
from tests.sql.kit import ORDERS, answers, opened, rows, told

COUNTED = (
    "CREATE TABLE counted AS SELECT id, COUNT(*) AS n FROM orders"
    " WINDOW TUMBLING (SIZE 10 SECONDS, GRACE PERIOD 0 SECONDS) GROUP BY id;"
)


def test_late_rows_and_dead_letters_are_streams_beside_the_results(tmp_path: Path) -> None:
    with opened(tmp_path, here=True) as session:
        told(session, ORDERS)
        told(session, COUNTED)
        assert rows(session, "SELECT * FROM counted.LATE;") == []
        told(session, "CREATE STREAM missed AS SELECT reason, row FROM counted.LATE;")
        told(session, "INSERT INTO orders (ROWTIME, id) VALUES (20000, 'a');")
        told(session, "INSERT INTO orders (ROWTIME, id) VALUES (5000, 'b');")
        with open_log(tmp_path) as log:
            producer = Producer(log)
            producer.send("orders", b"{", key=b"c", timestamp=21_000)
            producer.close()
        late = "SELECT EXTRACTJSONFIELD(row, '$.ID') AS id, time FROM counted.LATE;"
        assert rows(session, late) == [("b", 5000)]
        dead = "SELECT topic, partition, offset, error FROM counted.DEAD d WHERE d.time > 0;"
        ((topic, partition, offset, error),) = rows(session, dead)
        assert (topic, partition, offset) == ("orders", 0, 2)
        assert error
        assert len(rows(session, "SELECT reason FROM missed;")) == 1
        facts = dict(rows(session, "DESCRIBE counted EXTENDED;"))
        assert facts["late rows"] == "COUNTED.LATE, topic COUNTED.late"
        names = [row[0] for row in rows(session, "SHOW STREAMS EXTENDED;")]
        assert names == [
            "COUNTED.DEAD",
            "COUNTED.LATE",
            "MISSED",
            "MISSED.DEAD",
            "MISSED.LATE",
            "ORDERS",
        ]
        with pytest.raises(SqlError, match="is read by"):
            answers(session, "DROP TABLE counted;")


@pytest.mark.parametrize("part", ["counted.LAST", "orders.LATE"])
def test_what_is_beside_nothing_is_refused(tmp_path: Path, part: str) -> None:
    with opened(tmp_path) as session:
        told(session, ORDERS)
        told(session, COUNTED)
        with pytest.raises(SqlError, match="SQL_SOURCE_PART"):
            answers(session, f"SELECT * FROM {part};")
