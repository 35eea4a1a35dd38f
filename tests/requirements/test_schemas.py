"""Schemas and formats from one end to the other: bytes in a topic, columns in a program."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import penstock as ps
import penstock.streams as ks
from penstock.errors import RegistryError, RunError, SchemaError
from penstock.inline.run import InlineOptions
from penstock.log.consumer import Consumer
from penstock.log.open import open_log
from penstock.log.producer import Producer
from penstock.log.rows import rows_of_bytes
from penstock.schema.annotation import schema_of
from penstock.schema.codec.format import Format
from penstock.schema.registry.open import open_schemas
from penstock.schema.serde import Receiver, Sender, Serde, serde_of, writing_serde
from tests.eventually import eventually
from tests.requirements.homes import records, running

ACCESS_LOG = Path(__file__).parents[1] / "schema" / "samples" / "access_log.txt"
VIEW = {"user": str, "n": int}
V1 = {
    "type": "record",
    "name": "View",
    "fields": [{"name": "user", "type": "string"}, {"name": "n", "type": "int"}],
}
PAGE = {"name": "page", "type": ["null", "string"], "default": None}
V2 = V1 | {"fields": [V1["fields"][0], {"name": "n", "type": "long"}, PAGE]}
V3 = V1 | {"fields": [V1["fields"][0], {"name": "page", "type": "string"}]}
WORD_COUNT = """
task.class=com.example.samza.Wordcount
systems.kafka.samza.factory=org.apache.samza.system.kafka.KafkaSystemFactory
task.inputs=kafka.Words
serializers.registry.json.class=org.apache.samza.serializers.JsonSerdeFactory
systems.kafka.streams.Words.samza.msg.serde=json # Use the "json" serializer for messages
"""


def publish(home: Path, topic: str, values: list[bytes | None]) -> None:
    with open_log(home) as log:
        if topic not in log.topics():
            log.create_topic(topic)
        log.append(topic, 0, rows_of_bytes(values))


def avro(schema: Mapping[str, Any], subject: str = "views-value") -> Format:
    return Format("avro", written=json.dumps(schema), subject=subject)


def produce(
    home: Path, value: Format, rows: list[dict[str, Any]], *, level: str | None = None
) -> None:
    """Send rows as a team's producer does: its schema must be one that the registry takes."""
    with open_log(home) as log:
        if "views" not in log.topics():
            log.create_topic("views")
        registry = open_schemas(log)
        if level is not None:
            registry.set_level(value.subject, level)
        serde = writing_serde("views", value, schemas=registry)
        with Producer(log) as producer:
            Sender(producer, "views", serde).send(rows)
        registry.close()


def caught_up(app: ps.App) -> Mapping[str, Any]:
    options = InlineOptions(until="caught up", guarantee="exactly-once")
    return app.run_here(options=options).counts


def stored(home: Path, topic: str) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in row.items() if not name.startswith("_")}
        for row in records(home, topic)
    ]


def test_b01_a_topic_without_a_schema_gives_bytes(tmp_path: Path) -> None:
    publish(tmp_path, "raw", [b"\x00\xff", b'{"n": 1}', None])
    app = ps.App("bytes", home=tmp_path)
    stream = app.stream("raw")
    assert str(stream.schema) == "_key bytes, value bytes"
    stream.select("value").to("copy")
    caught_up(app)
    assert [row["value"] for row in stored(tmp_path, "copy")] == [b"\x00\xff", b'{"n": 1}', None]


@pytest.mark.parametrize(
    "value", [Format("json"), Format("avro", subject="views-value")], ids=["json", "avro"]
)
def test_b02_one_module_writes_and_reads_for_all(tmp_path: Path, value: Format) -> None:
    rows = [{"user": "ann", "n": 1}, {"user": None, "n": 2**40}]
    with open_log(tmp_path) as log:
        log.create_topic("views")
        registry = open_schemas(log)
        writer = writing_serde("views", value, schema_of(VIEW), registry)
        with Producer(log) as producer:
            Sender(producer, "views", writer).send(rows)
        reader = serde_of("views", value, schema=schema_of(VIEW), schemas=registry)
        with Consumer(log, "views", start="earliest") as consumer:
            received = Receiver(consumer, reader).poll()
        assert received is not None
        assert received.to_list() == rows
        with pytest.raises(SchemaError, match="COLUMN_MISSING"):
            writer.write({"user": "bob", "m": 3})
        with pytest.raises(SchemaError, match="VALUE_TYPE"):
            writer.write({"user": "bob", "n": "many"})
        assert isinstance(writer, Serde)
    app = ps.App("views", home=tmp_path)
    app.stream("views", schema=VIEW, format=value).to("out")
    caught_up(app)
    assert stored(tmp_path, "out") == rows


def test_b05_old_data_is_read_by_a_new_schema_and_a_removed_field_is_passed_over(
    tmp_path: Path,
) -> None:
    produce(tmp_path, avro(V1), [{"user": "ann", "n": 1}])
    produce(tmp_path, avro(V2), [{"user": "bob", "n": 2**40, "page": "/"}])
    app = ps.App("pages", home=tmp_path)
    views = app.stream("views", format="avro")
    assert views.schema.names == ("user", "n", "page")
    views.to("out")
    fewer = app.stream("views", schema={"user": str}, format="avro")
    fewer.to("users")
    caught_up(app)
    assert stored(tmp_path, "out") == [
        {"user": "ann", "n": 1, "page": None},
        {"user": "bob", "n": 2**40, "page": "/"},
    ]
    assert stored(tmp_path, "users") == [{"user": "ann"}, {"user": "bob"}]


def test_b05_a_change_reaches_a_running_program_and_an_incompatible_one_is_put_aside(
    tmp_path: Path,
) -> None:
    produce(tmp_path, avro(V1), [{"user": "ann", "n": 1}])
    app = ps.App("live", home=tmp_path)
    columns = {"user": str, "n": int, "page": str}
    app.stream("views", schema=columns, format="avro").to("out")
    with running(app.physical(), tmp_path):
        eventually(lambda: len(records(tmp_path, "out")) == 1)
        produce(tmp_path, avro(V2), [{"user": "bob", "n": 2, "page": "/"}])
        eventually(lambda: len(records(tmp_path, "out")) == 2)
        typed = V1 | {
            "fields": [{"name": "user", "type": "string"}, {"name": "n", "type": "string"}]
        }
        produce(tmp_path, avro(typed), [{"user": "cy", "n": "three"}], level="NONE")
        produce(tmp_path, avro(V2), [{"user": "dee", "n": 4, "page": None}])
        eventually(lambda: len(records(tmp_path, "out")) == 3)
    assert stored(tmp_path, "out") == [
        {"user": "ann", "n": 1, "page": None},
        {"user": "bob", "n": 2, "page": "/"},
        {"user": "dee", "n": 4, "page": None},
    ]
    (letter,) = records(tmp_path, "out.dead")
    assert (letter["topic"], letter["offset"]) == ("views", 2)
    assert letter["raw"] == records(tmp_path, "views")[2]["value"]


def test_b05_an_incompatible_change_is_refused_by_the_registry(tmp_path: Path) -> None:
    produce(tmp_path, avro(V1), [{"user": "ann", "n": 1}])
    with pytest.raises(RegistryError, match="INCOMPATIBLE"):
        produce(tmp_path, avro(V3), [{"user": "ann", "page": "/"}])
    assert len(records(tmp_path, "views")) == 1


def test_b12_the_configuration_of_a_job_drives_the_decoding_of_its_topic(
    working_directory: Path,
) -> None:
    Path("wordcount.properties").write_text(WORD_COUNT)
    Path("penstock.toml").write_text('[serdes]\nproperties = "wordcount.properties"\n')
    publish(working_directory / ".penstock", "Words", [b'"to"', b'{"word": "be"}', b"to"])
    app = ps.App("wordcount")
    words = app.stream("Words", schema={"word": str})
    words.group_by("word").count().to("counts")
    assert "format json" in app.explain("model")
    caught_up(app)
    home = working_directory / ".penstock"
    assert {row["word"]: row["count"] for row in stored(home, "counts")} == {"to": 1, "be": 1}
    assert [row["raw"] for row in records(home, "counts.dead")] == [b"to"]


def test_b12_serdes_are_named_and_bound_in_the_projects_file(working_directory: Path) -> None:
    Path("penstock.toml").write_text(
        '[serdes]\ntext = { format = "string" }\n'
        '[topics.Words]\nvalue = "text"\n[topics.out]\nvalue = "json"\nkey = "text"\n'
    )
    home = working_directory / ".penstock"
    publish(home, "Words", [b"hello"])
    app = ps.App("words")
    app.stream("Words").rename(value="word").to("out", key="word")
    caught_up(app)
    (found,) = records(home, "out")
    assert (found["_key"], json.loads(found["value"])) == (b"hello", {"word": "hello"})


def test_b13_serdes_of_a_stream_give_eight_byte_longs_and_text_keys(tmp_path: Path) -> None:
    publish(tmp_path, "lines", [b"to be", b"or not to be"])
    builder = ks.KStreamBuilder()
    lines = builder.stream("lines", key_serde=ks.Serdes.string(), value_serde=ks.Serdes.string())
    words = lines.flat_map_values(str.split).map(lambda _, word: ks.KeyValue(word, word))
    counts = words.group_by_key(key_serde=ks.Serdes.string()).count("Counts").to_stream()
    counts.to(ks.Serdes.string(), ks.Serdes.long(), "counts")
    props = {"application.id": "count", "penstock.home": str(tmp_path)}
    with ks.KafkaStreams(builder, props):
        eventually(lambda: len(records(tmp_path, "counts")) == 6)
    last = {row["_key"]: row["value"] for row in records(tmp_path, "counts")}
    assert last[b"to"] == struct.pack(">q", 2)
    app = ps.App("longs", home=tmp_path)
    app.stream("counts", format="long").to("numbers")
    caught_up(app)
    assert sorted(row["value"] for row in stored(tmp_path, "numbers")) == [1, 1, 1, 1, 2, 2]


def test_b22_a_producer_whose_schema_is_not_registered_is_refused_before_the_log(
    tmp_path: Path,
) -> None:
    closed = Format("avro", (("register", "false"),), "views-value", json.dumps(V1))
    with pytest.raises(RegistryError, match=r"(SCHEMA|SUBJECT)_MISSING"):
        produce(tmp_path, closed, [{"user": "ann", "n": 1}])
    assert records(tmp_path, "views") == []


def test_b22_a_program_that_would_write_an_incompatible_schema_does_not_start(
    tmp_path: Path,
) -> None:
    publish(tmp_path, "views", [b'{"user": "ann", "n": 1}'])
    first = ps.App("first", home=tmp_path)
    first.stream("views", schema=VIEW, format="json").to("out", format="avro")
    caught_up(first)
    assert len(records(tmp_path, "out")) == 1
    other = ps.App("other", home=tmp_path)
    changed = other.stream("views", schema=VIEW, format="json").select("user", n=ps.col("user"))
    changed.to("out", format="avro")
    with pytest.raises(RegistryError, match="INCOMPATIBLE"):
        caught_up(other)
    assert len(records(tmp_path, "out")) == 1
    wider = ps.App("wider", home=tmp_path)
    more = wider.stream("views", schema=VIEW, format="json").with_columns(page=ps.col("user"))
    more.to("out", format="avro")
    caught_up(wider)
    assert len(records(tmp_path, "out")) == 2


def test_a_stream_that_fails_on_what_it_cannot_read_goes_on_after_the_fix(tmp_path: Path) -> None:
    publish(tmp_path, "views", [b'{"user": "ann", "n": 1}', b'{"user": "bob", "n": "2"}'])

    def program(columns: dict[str, type]) -> ps.App:
        app = ps.App("strict", home=tmp_path)
        app.stream("views", schema=columns, format="json", on_error="fail").to("out", dead=None)
        return app

    with pytest.raises(RunError, match="VALUE_UNREADABLE") as caught:
        caught_up(program(VIEW))
    assert 'offset 1 of partition "views-0"' in caught.value.fact
    assert records(tmp_path, "out") == []
    caught_up(program({"user": str}))
    assert [row["user"] for row in stored(tmp_path, "out")] == ["ann", "bob"]


@pytest.mark.parametrize(("damaged", "good"), [("fail", 15), ("null", 20)])
def test_b20_damaged_lines_of_an_access_log_are_parked_or_null_and_never_fatal(
    tmp_path: Path, damaged: str, good: int
) -> None:
    lines = ACCESS_LOG.read_bytes().splitlines()
    assert len(lines) == 20
    publish(tmp_path, "lines", list(lines))
    app = ps.App("access", home=tmp_path)
    value = Format("pattern").with_options(name="access_log", damaged=damaged)
    app.stream("lines", format=value, event_time="time").to("requests")
    counts = caught_up(app)["scan-lines"]
    assert (counts.taken, counts.passed, counts.dead) == (20, good, 20 - good)
    found = stored(tmp_path, "requests")
    assert sum(row["size"] or 0 for row in found) == 750_176
    parked = [row["raw"] for row in records(tmp_path, "requests.dead")]
    assert all(line in lines for line in parked)
    assert len(parked) == 20 - good


JSON_SCHEMA = json.dumps(
    {
        "type": "object",
        "title": "View",
        "properties": {"user": {"type": ["null", "string"]}, "n": {"type": "integer"}},
    }
)
PROTOBUF = 'syntax = "proto3"; message View { string user = 1; int64 n = 2; }'


@pytest.mark.parametrize(
    "value",
    [
        Format("json_schema", written=JSON_SCHEMA, subject="out-value"),
        Format("protobuf", written=PROTOBUF, subject="out-value"),
        Format("avro", (("encoding", "embedded"),)),
        Format("avro", (("encoding", "single_object"),), written=json.dumps(V2)),
        Format("delimited", (("delimiter", "|"),)),
        Format("arrow"),
    ],
    ids=str,
)
def test_whatever_a_program_writes_another_one_reads(tmp_path: Path, value: Format) -> None:
    publish(tmp_path, "views", [b'{"user": "ann", "n": 1}', b'{"user": "b|c", "n": 2}'])
    writer = ps.App("writer", home=tmp_path)
    writer.stream("views", schema=VIEW, format="json").to("out", format=value)
    caught_up(writer)
    reader = ps.App("reader", home=tmp_path)
    known = Format(
        value.name, value.options, value.subject, None if value.subject else value.written
    )
    reader.stream("out", schema=VIEW, format=known).to("again")
    caught_up(reader)
    assert stored(tmp_path, "again") == [{"user": "ann", "n": 1}, {"user": "b|c", "n": 2}]
    assert records(tmp_path, "again.dead") == []
