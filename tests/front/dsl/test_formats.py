from __future__ import annotations

import pytest

import penstock as ps
from penstock.errors import ModelError, SchemaError
from penstock.front.dsl import formats
from penstock.front.dsl.app import App
from penstock.model.plan import Sink
from penstock.model.source import Stream
from penstock.schema.codec.format import Format
from penstock.schema.schema import Schema

VIEW = {"user": str, "n": int}


def source(app: App) -> Stream:
    return next(step for step in app.plan().walk() if isinstance(step, Stream))


def read(**words: object) -> Stream:
    app = App("shop")
    app.stream("views", **words).to("out")  # type: ignore[arg-type]
    return source(app)


def written(**words: object) -> Sink:
    app = App("shop")
    app.stream("views", schema=VIEW).to("out", key="user", **words)  # type: ignore[arg-type]
    return app.plan().sinks[0]


def test_a_format_is_said_by_name_or_with_options() -> None:
    assert read(schema=VIEW).format is None
    assert read(schema=VIEW, format="json").format == Format("json")
    assert read(schema=VIEW, format="delimited(delimiter=|)") == read(
        schema=VIEW, format=formats.delimited("|")
    )
    assert read(schema=VIEW, format=formats.json(lenient=True)).format == Format(
        "json", (("lenient", "true"),)
    )
    assert read(schema=VIEW, format="json", on_error="skip").on_error == "skip"


def test_a_format_that_does_not_exist_is_refused_with_the_place() -> None:
    with pytest.raises(SchemaError, match="FORMAT_NAME") as caught:
        read(schema=VIEW, format="jsn")
    assert caught.value.hint == 'Did you mean "json"?'
    assert "test_formats.py" in caught.value.fact


def test_schemas_are_found_under_the_subject_of_the_topic_unless_one_is_named() -> None:
    assert read(schema=VIEW, format="avro").format == Format("avro", subject="views-value")
    named = formats.avro(subject="other")
    assert read(schema=VIEW, format=named).format == Format("avro", subject="other")
    text = '{"type": "record", "name": "View", "fields": []}'
    assert read(schema=VIEW, format=formats.avro(text)).format == Format("avro", written=text)
    embedded = formats.avro(encoding="embedded")
    assert read(schema=VIEW, format=embedded).format == embedded
    assert formats.protobuf(subject="p").name == "protobuf"
    assert formats.json_schema(subject="p").name == "json_schema"


def test_a_topic_of_which_nothing_is_said_gives_bytes() -> None:
    columns = read().columns
    assert str(columns) == "_key bytes, value bytes"


def test_a_format_of_one_column_tells_it_itself() -> None:
    assert str(read(format="string").columns) == "value string"
    assert str(read(format="long").columns) == "value int64"


def test_a_format_that_does_not_tell_its_columns_asks_for_them() -> None:
    with pytest.raises(SchemaError, match="FORMAT_SCHEMA"):
        read(format="json")


def test_a_program_without_a_registry_cannot_follow_a_subject() -> None:
    with pytest.raises(ModelError, match="STREAM_SCHEMA") as caught:
        read(format=formats.avro(subject="views-value"))
    assert 'stream "views" has the columns of subject "views-value"' in caught.value.fact


def test_a_table_says_how_its_keys_are_read() -> None:
    app = App("shop")
    app.table("users", key="user", schema=VIEW, format="json", key_format="string").to("out")
    assert (source(app).format, source(app).key_format) == (Format("json"), Format("string"))


def test_what_is_written_has_formats_for_values_and_keys() -> None:
    sink = written(format="avro", key_format="string")
    assert (sink.format, sink.key_format) == (Format("avro", subject="out-value"), Format("string"))
    assert written().format is None
    with pytest.raises(ModelError, match="SINK_FORMAT"):
        written(key_format="string")


def test_a_table_is_written_by_a_format() -> None:
    app = App("shop")
    app.table("users", key="user", schema=VIEW).to("out", format="json", key_format="string")
    sink = app.plan().sinks[0]
    assert (sink.upsert, sink.format, sink.key_format) == (True, Format("json"), Format("string"))


def test_a_description_says_how_bytes_are_read_and_written() -> None:
    app = ps.App("shop")
    app.stream("views", schema=VIEW, format="json", on_error="skip").to("out", format="json")
    text = app.explain("model")
    assert "format json; what cannot be read is passed over" in text
    assert "to out as json" in text
    assert "out as json" in app.describe()


def test_the_columns_of_records_are_one_schema() -> None:
    assert isinstance(formats.RECORD, Schema)
