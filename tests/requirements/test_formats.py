"""The customer's data and formats, through programs: what each sample is read as."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fastavro
import pytest

import penstock as ps
from penstock.errors import RegistryError, SchemaError
from penstock.inline.run import InlineOptions
from penstock.log.open import open_log
from penstock.log.rows import rows_of_bytes
from penstock.schema.avro.datum_json import json_of, value_of_json
from penstock.schema.avro.datum_read import DatumReader
from penstock.schema.avro.datum_write import DatumWriter
from penstock.schema.avro.parse import parse_avro
from penstock.schema.codec.format import Format
from penstock.schema.codec.schemas import SchemaText
from penstock.schema.registry.open import open_schemas
from penstock.schema.sql_name import sql_name
from penstock.schema.text import parse_type
from tests.requirements.homes import records

SAMPLES = Path(__file__).parents[1] / "schema" / "samples"
USER = (SAMPLES / "user.avsc").read_text()
ALYSSA = {"name": "Alyssa", "favorite_number": 256, "favorite_color": None}
ELEVEN_BYTES = bytes.fromhex("0c 41 6c 79 73 73 61 00 80 04 02")


def read(home: Path, values: list[bytes], schema: Any, value: Format | str) -> list[dict[str, Any]]:  # noqa: ANN401
    """Give what a program makes of values; none may be put aside."""
    with open_log(home) as log:
        log.create_topic("in")
        log.append("in", 0, rows_of_bytes(list(values)))
    app = ps.App("sample", home=home)
    app.stream("in", schema=schema, format=value).to("out")
    app.run_here(options=InlineOptions(until="caught up", guarantee="exactly-once"))
    assert records(home, "out.dead") == []
    return [
        {name: cell for name, cell in row.items() if not name.startswith("_")}
        for row in records(home, "out")
    ]


def test_b03_a_message_that_carries_its_schema_is_read_without_a_registry(tmp_path: Path) -> None:
    with open_log(tmp_path) as log:
        log.create_topic("names")
        log.append("names", 0, rows_of_bytes([json.dumps(ALYSSA).encode()]))
    writer = ps.App("writer", home=tmp_path)
    embedded = ps.avro(USER, encoding="embedded")
    columns = {"name": str, "favorite_number": "int", "favorite_color": str}
    writer.stream("names", schema=columns, format="json").to("users", format=embedded)
    writer.run_here(options=InlineOptions(until="caught up", guarantee="exactly-once"))
    (record,) = records(tmp_path, "users")
    assert ELEVEN_BYTES in record["value"]
    assert read(tmp_path / "elsewhere", [record["value"]], columns, "avro(encoding=embedded)") == [
        ALYSSA
    ]


def test_b04_a_message_begins_with_the_id_of_its_schema(tmp_path: Path) -> None:
    with open_log(tmp_path) as log:
        registry = open_schemas(log)
        first = registry.register("in-value", SchemaText(USER))
        assert registry.register("other-value", SchemaText(USER)).id == first.id
        with pytest.raises(RegistryError, match="SCHEMA_MISSING"):
            registry.by_id(first.id + 1)
        registry.close()
    wire = b"\0" + first.id.to_bytes(4, "big") + ELEVEN_BYTES
    assert read(tmp_path, [wire], None, "avro") == [ALYSSA]


def test_b06_b07_a_record_is_smaller_in_avro_than_in_json() -> None:
    assert DatumWriter(parse_avro(USER)).encode(ALYSSA) == ELEVEN_BYTES
    assert len(ELEVEN_BYTES) == 11 < len(json.dumps(ALYSSA))


def test_b08_bytes_to_record_to_json_and_back() -> None:
    schema = parse_avro(USER)
    said = json_of(schema, DatumReader.of(schema).decode(ELEVEN_BYTES))
    assert DatumWriter(schema).encode(value_of_json(schema, said)) == ELEVEN_BYTES


def test_b10_b11_an_independent_library_agrees_and_a_missing_name_is_refused() -> None:
    judged = fastavro.schemaless_reader(
        io.BytesIO(ELEVEN_BYTES), fastavro.parse_schema(json.loads(USER)), None
    )
    assert judged == ALYSSA
    nothing = {"name": "Ben", "favorite_number": None, "favorite_color": None}
    assert DatumWriter(parse_avro(USER)).encode(nothing) == b"\x06Ben\x02\x02"
    with pytest.raises(SchemaError, match="name"):
        DatumWriter(parse_avro(USER)).encode({"favorite_number": 1, "favorite_color": None})


def test_b14_a_delimited_row_has_typed_columns(tmp_path: Path) -> None:
    columns = {"viewtime": "bigint", "userid": "varchar", "pageid": "varchar"}
    assert read(tmp_path, [b"1413215518000,User_1,Page_3"], columns, "delimited") == [
        {"viewtime": 1_413_215_518_000, "userid": "User_1", "pageid": "Page_3"}
    ]


def test_b15_arrays_and_maps_of_json(tmp_path: Path) -> None:
    columns = {
        "userid": "varchar",
        "interests": "array<varchar>",
        "contactinfo": "map<varchar, varchar>",
    }
    user = {"userid": "User_1", "interests": ["a", "b"], "contactinfo": {"city": "Rome"}}
    (row,) = read(tmp_path, [json.dumps(user).encode()], columns, "json")
    assert row | {"contactinfo": dict(row["contactinfo"])} == user


def test_b16_types_have_their_names_in_sql() -> None:
    texts = ["BIGINT", "VARCHAR", "ARRAY<VARCHAR>", "MAP<VARCHAR, VARCHAR>"]
    assert [sql_name(parse_type(text)) for text in texts] == texts


def test_b18_a_tweet_is_read_with_its_traps(tmp_path: Path) -> None:
    columns = {
        "created_at": datetime,
        "id": str,
        "text": str,
        "user": "struct<screen_name: string, followers_count: bigint>",
        "retweeted_status": "struct<favorite_count: bigint, retweet_count: bigint>",
    }
    value = ps.json(timestamp="twitter")
    (tweet,) = read(tmp_path, [(SAMPLES / "tweet.json").read_bytes()], columns, value)
    assert tweet["created_at"] == datetime(2017, 5, 23, 17, 58, 20, tzinfo=UTC)
    assert tweet["id"] == "867077248448331776"
    assert "Únicos 2 equipos" in tweet["text"]
    assert tweet["user"]["screen_name"] == "GoodbyeGodbless"
    assert tweet["user"]["followers_count"] == 280
    assert tweet["retweeted_status"] == {"favorite_count": 0, "retweet_count": 89}


def test_b19_a_page_view_without_quotes_is_read_where_asked_for(tmp_path: Path) -> None:
    columns = {"eventType": str, "timestamp": datetime, "ipAddress": str, "browser": str}
    value = ps.json(lenient=True, timestamp="seconds")
    (view,) = read(tmp_path, [(SAMPLES / "page_view_event.txt").read_bytes()], columns, value)
    assert view == {
        "eventType": "PageViewEvent",
        "timestamp": datetime(2014, 10, 13, 15, 51, 58, tzinfo=UTC),
        "ipAddress": "12.34.56.78",
        "browser": "Chrome 39",
    }


def test_b21_a_tweet_goes_in_and_a_timeline_comes_out(tmp_path: Path) -> None:
    written = {"user_id": int, "timestamp": datetime, "status": str}
    value = ps.json(timestamp="seconds")
    (tweet,) = read(tmp_path / "a", [(SAMPLES / "tweet_written.json").read_bytes()], written, value)
    assert tweet["timestamp"] == datetime(2015, 1, 20, 18, 12, 58, tzinfo=UTC)
    timeline = {
        "timeline_id": int,
        "tweets": "array<struct<tweet_id: bigint, username: varchar, status: varchar>>",
    }
    lenient = ps.json(lenient=True)
    (read_back,) = read(
        tmp_path / "b", [(SAMPLES / "timeline.txt").read_bytes()], timeline, lenient
    )
    assert read_back["timeline_id"] == 17_055_506
    assert [item["username"] for item in read_back["tweets"]] == ["hotnumbers", "Philip Potter"]


def test_b17_rows_documents_and_lines_are_all_ingested(tmp_path: Path) -> None:
    assert read(tmp_path / "rows", [b"1,x"], {"n": int, "s": str}, "delimited") == [
        {"n": 1, "s": "x"}
    ]
    assert read(tmp_path / "documents", [b'{"n": 1}'], {"n": int}, "json") == [{"n": 1}]
    line = ps.text_lines(r"(?P<level>[A-Z]+) (?P<rest>.*)")
    assert read(tmp_path / "lines", [b"WARN disk full"], {"level": str, "rest": str}, line) == [
        {"level": "WARN", "rest": "disk full"}
    ]
