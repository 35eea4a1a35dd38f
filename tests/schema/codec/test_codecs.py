from __future__ import annotations

from importlib import import_module

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import SchemaError
from penstock.schema.codec.codecs import BUILDERS, codec_of, format_of
from penstock.schema.codec.format import Format
from tests.schema.codec.kit import codec

COLUMNS = {"a": "string", "b": "int64"}
OPTION = st.text('ab=, "\\|\n)(\t{}', max_size=7)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("json", Format("json")),
        ("JSON", Format("json")),
        ("avro()", Format("avro")),
        ("delimited(delimiter=|)", Format("delimited").with_options(delimiter="|")),
        (
            "delimited(delimiter=,, quote=')",
            Format("delimited").with_options(delimiter=",", quote="'"),
        ),
        ('delimited(delimiter="\\t")', Format("delimited").with_options(delimiter="\t")),
        ("avro(subject=views-value)", Format("avro", subject="views-value")),
        ("pattern(pattern=(?P<a>x{2,3}))", Format("pattern").with_options(pattern="(?P<a>x{2,3})")),
    ],
)
def test_a_format_is_read_as_configuration_writes_it(text: str, found: Format) -> None:
    assert format_of(text) == found


@given(st.sampled_from(sorted(BUILDERS)), OPTION, OPTION, st.none() | st.text("ab-.", min_size=1))
def test_a_format_is_read_as_it_is_written(
    name: str, one: str, other: str, subject: str | None
) -> None:
    told = Format(name, (("one", one), ("other", other)), subject)
    assert format_of(str(told)) == told


@pytest.mark.parametrize(
    "text",
    ["", "json(", "json)", "json(a)", "a b", "jsn", 'json(a="\\x")', "json(=b)", "json x(a=b)"],
)
def test_text_that_names_no_format_is_refused(text: str) -> None:
    with pytest.raises(SchemaError, match="FORMAT_NAME") as caught:
        format_of(text)
    assert caught.value.hint


def test_a_misspelt_format_is_corrected() -> None:
    with pytest.raises(SchemaError) as caught:
        codec_of(Format("delimted"), None)
    assert caught.value.hint == 'Did you mean "delimited"?'


@pytest.mark.parametrize("name", sorted(BUILDERS))
def test_every_format_has_its_builder(name: str) -> None:
    module, builder = BUILDERS[name].split(":")
    assert callable(getattr(import_module(module), builder))


@pytest.mark.parametrize(
    "text",
    [
        "json(lenint=true)",
        "json(lenient=maybe)",
        "json(timestamp=secnds)",
        "delimited(delimiter=ab)",
        "delimited(delimiter=é)",
        'delimited(delimiter=")',
        "delimited(delimiter=none)",
        "pattern(name=access_lg)",
        "pattern(pattern=()",
        "pattern(pattern=(?P<a>.*), damaged=maybe)",
        "pattern(pattern=abc)",
        "pattern(pattern=(?P<a>.*), name=access_log)",
        "pattern",
        "string(a=b)",
        "long(a=b)",
        "bytes(a=b)",
        "arrow(a=b)",
    ],
)
def test_an_option_that_there_is_not_is_refused(text: str) -> None:
    with pytest.raises(SchemaError, match="FORMAT_OPTION") as caught:
        codec(text, COLUMNS)
    assert caught.value.hint


def test_a_misspelt_option_is_corrected() -> None:
    with pytest.raises(SchemaError) as caught:
        codec("json(lenint=true)", COLUMNS)
    assert caught.value.hint == 'Did you mean "lenient"?'


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("json", None),
        ("delimited", None),
        ("arrow", None),
        ("json", {}),
        ("string", {"a": "int64"}),
        ("long", {"a": "int32"}),
        ("bytes", {"a": "bytes", "b": "bytes"}),
        ("delimited", {"a": "array<string>"}),
        ("pattern(pattern=(?P<a>.*))", {"b": "string"}),
    ],
)
def test_columns_that_a_format_cannot_have_are_refused(
    text: str, columns: dict[str, str] | None
) -> None:
    with pytest.raises(SchemaError, match="FORMAT_SCHEMA") as caught:
        codec(text, columns)
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    ["bytes", "string", "int", "long", "double", "boolean", "json", "delimited", "arrow",
     "pattern(name=access_log)"],
)  # fmt: skip
@pytest.mark.parametrize("values", [pa.array([], pa.binary()), pa.nulls(3, pa.binary())])
def test_values_that_are_not_there_are_rows_of_nulls_and_no_failures(
    text: str, values: pa.Array
) -> None:
    reader = codec(text, COLUMNS if text in ("json", "delimited", "arrow") else None)
    found = reader.decode(values)
    assert found.failures == {}
    assert found.rows.to_pylist() == [dict.fromkeys(reader.schema.names)] * len(values)


@pytest.mark.parametrize("text", ["string", "json", "delimited", "long", "arrow"])
def test_a_part_of_an_array_is_read_as_if_it_were_alone(text: str) -> None:
    reader = codec(text, {"value": "string" if text == "string" else "int64"})
    good = reader.encode(pa.table({"value": ["7"] if text == "string" else [7]}))
    values = pa.concat_arrays([pa.array([b"\xff", None], pa.binary()), good, good])
    found = reader.decode(values[1:3])
    assert found.failures == {}
    assert [row["value"] for row in found.rows.to_pylist()] in ([None, 7], [None, "7"])
    chunked = pa.chunked_array([values[:1], values[2:]])
    assert list(reader.decode(chunked).failures) == [0]
