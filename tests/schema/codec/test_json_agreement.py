"""Many values at once mean what each means alone."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from penstock.schema.annotation import schema_of
from penstock.schema.codec.json_row import UnfitError, row_reader
from penstock.schema.codec.port import Codec
from penstock.schema.codec.times import Times
from tests.schema.codec.kit import codec

KINDS = (
    "bigint", "int", "double", "boolean", "string", "decimal(5, 2)", "timestamp", "date", "time",
    "bytes", "array<bigint>", "array<string>", "map<string>", "map<bigint>", "map<decimal(5, 2)>",
    "struct<a: bigint, b: string>", "array<struct<a: timestamp>>", "map<array<double>>",
)  # fmt: skip
NAMES = ("a", "b", "A", "ab", "é", 'q"')
TEXTS = st.sampled_from(
    ["", "x", "12", "1.5", "2020-01-01", "2020-01-01T10:00:00Z", "2020-01-01T10:00:00.123456789",
     "10:20:30", "10:20", "aGk=", "aGk", "null", "NaN", "}", '","a":"', "\\", '"', "\n", "\u0001",
     "é", "😀", "\x7f"]
)  # fmt: skip
NUMBERS = st.sampled_from(
    [0, 1, -1, 5, 999, 1000, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**30,
     86_399_999, 86_400_000, 1577836800000, 0.5, 1.25, 1.125, -0.0, 1e22, 1e300, 5e-324]
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | TEXTS | NUMBERS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4)
STYLES = st.sampled_from([(",", ":"), (", ", ": ")])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Give an object as text, in one of several styles, sometimes damaged."""
    style, ascii_only = draw(STYLES), draw(st.booleans())
    text = json.dumps(draw(OBJECTS), separators=style, ensure_ascii=ascii_only)
    if draw(st.integers(0, 9)) == 0:
        at = draw(st.integers(0, len(text)))
        piece = draw(
            st.sampled_from(["", ",", "}", "{", '"', "1", "null", " ", "\n", "NaN", "Inf"])
        )
        text = text[:at] + piece + text[at + draw(st.integers(0, 2)) :]
    return text


def alone(reader: Codec, text: str) -> dict[str, Any] | None:
    single = row_reader(schema_of(reader.schema), Times(), lenient=False)
    try:
        return single.row(text) or {}
    except UnfitError:
        return None


@given(
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from(KINDS), min_size=1, max_size=4),
    st.lists(documents(), min_size=1, max_size=12),
)
def test_values_together_are_read_as_each_alone(columns: dict[str, str], texts: list[str]) -> None:
    reader = codec("json", columns)
    # Often enough that the reader of many is asked, and once more with a broken one among them.
    for values in (texts, [*texts * 4, "{", *texts]):
        found = reader.decode(pa.array([text.encode() for text in values], pa.binary()))
        wanted = [alone(reader, text) for text in values]
        assert sorted(found.failures) == [n for n, row in enumerate(wanted) if row is None]
        rows = pa.Table.from_pylist([row or {} for row in wanted], found.rows.schema)
        assert found.rows.equals(rows)
