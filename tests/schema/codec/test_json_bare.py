from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.errors import SchemaError
from penstock.schema.annotation import schema_of
from penstock.schema.codec.codecs import codec_of, format_of


def read(text: str, kind: str, *values: bytes | None) -> tuple[list[object], dict[int, str]]:
    codec = codec_of(format_of(text), schema_of({"word": kind}))
    found = codec.decode(pa.array(values, pa.binary()))
    return found.rows.column("word").to_pylist(), dict(found.failures)


def test_the_one_column_may_be_written_without_an_object() -> None:
    values = (b'"hello"', b' {"word": "world"}', None, b" null ", b'{"other": 1}')
    assert read("json", "string", *values) == (["hello", "world", None, None, None], {})
    assert read("json", "array<int64>", b"[1, 2]")[0] == [[1, 2]]


@pytest.mark.parametrize("value", [b'"a", "other": "b"', b'"a"}', b'"a', b"", b'"a" "b"'])
def test_what_is_no_json_by_itself_does_not_become_some(value: bytes) -> None:
    rows, failures = read("json", "string", b'"good"', value)
    assert rows == ["good", None]
    assert list(failures) == [1]


def test_a_bare_value_of_another_type_is_a_failure_with_its_column() -> None:
    assert "word" in read("json", "int64", b'"x"')[1][0]


def test_bare_values_may_be_asked_for_or_refused() -> None:
    assert read("json(wrapped=false)", "struct<a: int64>", b'{"a": 1}')[0] == [{"a": 1}]
    assert list(read("json(wrapped=true)", "string", b'"hello"')[1]) == [0]
    with pytest.raises(SchemaError, match="FORMAT_OPTION"):
        codec_of(format_of("json(wrapped=perhaps)"), schema_of({"word": str}))


@pytest.mark.parametrize("name", ["word", 'wo"rd', "wörd"])
def test_bare_values_are_written_where_asked_for(name: str) -> None:
    codec = codec_of(format_of("json(wrapped=false)"), schema_of({name: str}))
    rows = pa.table({name: ["hello", 'qu"ote', None]})
    assert codec.encode(rows).to_pylist() == [b'"hello"', b'"qu\\"ote"', b"null"]
