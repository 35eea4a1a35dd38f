from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from penstock.errors import SchemaError
from penstock.text.schema_text import parse_schema, type_text


def test_columns_are_read_with_their_types() -> None:
    assert parse_schema("id bigint not null, name string, `odd name`: INT") == pa.schema(
        [
            pa.field("id", pa.int64(), nullable=False),
            pa.field("name", pa.string()),
            pa.field("odd name", pa.int32()),
        ]
    )


@pytest.mark.parametrize(
    "text",
    [
        "boolean",
        "tinyint",
        "smallint",
        "int",
        "bigint",
        "float",
        "double",
        "string",
        "binary",
        "date",
        "time",
        "timestamp",
        "timestamp_ntz",
        "decimal(10,2)",
        "array<array<int>>",
        "map<string, decimal(5,0)>",
        "struct<a: int, b: array<struct<c: date>>>",
    ],
)
def test_a_type_is_written_as_it_was_read(text: str) -> None:
    assert type_text(parse_schema(f"column {text}").field(0).type) == text


def test_a_type_without_a_word_is_written_as_arrow_does() -> None:
    assert type_text(pa.uint8()) == "uint8"


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("", "a column's name is missing at the end"),
        ("id", "a type is missing at the end"),
        ("id bigint,", "a column's name is missing at the end"),
        ("id bigint name string", '"name" is too much there'),
        ("id bigin", 'type "bigin" does not exist'),
        ("id bigint not", '"null" after "not" is missing at the end'),
        ("id bigint not void", '"not" stands without "null"'),
        ("tags array<int", '">" is missing at the end'),
        ("price decimal(x)", '"x" is not a number'),
        ("price decimal(99,2)", "precision should be between 1 and 38"),
        ("id bigint; drop", '";" is too much there'),
    ],
)
def test_a_mistake_is_named(text: str, fact: str) -> None:
    with pytest.raises(SchemaError, match="SCHEMA_TEXT") as caught:
        parse_schema(text)
    assert caught.value.fact.endswith(fact)


def test_a_misspelt_type_is_corrected() -> None:
    with pytest.raises(SchemaError) as caught:
        parse_schema("id bigin")
    assert caught.value.hint == 'Did you mean "bigint"?'


def test_a_json_file_holds_a_schema(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{"id": "bigint", "tags": "array<string>"}')
    assert parse_schema(str(file)) == parse_schema("id bigint, tags array<string>")
    file.write_text('[{"name": "id", "type": "bigint", "nullable": false}]')
    assert parse_schema(str(file)) == parse_schema("id bigint not null")


def test_a_python_file_holds_a_schema(tmp_path: Path) -> None:
    file = tmp_path / "schema.py"
    file.write_text("import pyarrow as pa\nschema = pa.schema({'id': pa.uint8()})\n")
    assert parse_schema(str(file)) == pa.schema({"id": pa.uint8()})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("no.json", None),
        ("no.json", "{"),
        ("no.json", "[3]"),
        ("no.json", '{"id": 3}'),
        ("no.py", "schema = 3"),
        ("no.py", "1 / 0"),
    ],
)
def test_a_file_without_a_schema_is_refused(tmp_path: Path, name: str, content: str | None) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(SchemaError, match="SCHEMA_FILE"):
        parse_schema(str(tmp_path / name))
