from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.log.rows import rows_of_bytes
from tests.serve.server_kit import Asked, asked

STATEMENTS = """
CREATE STREAM sales (id INT KEY, item VARCHAR, price DOUBLE)
  WITH (kafka_topic = 'sales', partitions = 1, value_format = 'DELIMITED');
CREATE STREAM heat (room VARCHAR KEY, degrees DOUBLE)
  WITH (kafka_topic = 'heat', partitions = 1, value_format = 'KAFKA');
CREATE STREAM notes (id BIGINT KEY, said VARCHAR)
  WITH (kafka_topic = 'notes', partitions = 1, value_format = 'PROTOBUF_NOSR');
CREATE STREAM counts (n INT)
  WITH (kafka_topic = 'counts', partitions = 1, value_format = 'JSON', wrap_single_value = false);
INSERT INTO sales VALUES (7, 'tea', 2.5);
INSERT INTO heat VALUES ('hall', 21.5);
INSERT INTO notes VALUES (1, 'hello');
INSERT INTO counts VALUES (3);
"""


def shown(server: Asked, topic: str) -> list[tuple[Any, Any]]:
    found = server.client.get(f"/api/v1/topics/{topic}/records").json()["items"]
    return [(row["key"], row["value"]) for row in found]


def test_records_are_read_as_the_catalog_declares_them(tmp_path: Path) -> None:
    with asked(tmp_path) as server:
        list(server.platform.sql.run(STATEMENTS))
        assert shown(server, "sales") == [(7, {"ITEM": "tea", "PRICE": 2.5})]
        assert shown(server, "heat") == [("hall", 21.5)]
        assert shown(server, "notes") == [(1, {"SAID": "hello"})]
        assert shown(server, "counts") == [(None, 3)]


def test_what_is_declared_otherwise_than_it_is_written_is_shown_with_its_problem(
    tmp_path: Path,
) -> None:
    with asked(tmp_path) as server:
        list(server.platform.sql.run(STATEMENTS))
        server.platform.log.append("sales", 0, rows_of_bytes([b"tea,dear", None]))
        rows = server.client.get("/api/v1/topics/sales/records").json()["items"][1:]
        assert [row["value"] for row in rows] == ["tea,dear", None]
        assert rows[0]["problem"]
        assert not rows[1]["problem"]
