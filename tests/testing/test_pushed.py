from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pytest

from penstock.errors import SchemaError
from penstock.model.source import Stream
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, STRING, TIMESTAMP
from penstock.testing.pushed import as_frames

STREAM = Stream(
    "in",
    Schema((Field("id", INT64, nullable=False), Field("name", STRING), Field("at", TIMESTAMP))),
)


def test_a_column_that_a_row_does_not_have_is_null() -> None:
    (frame,) = as_frames([{"id": 1}, {"id": 2, "name": "b", "at": 3}], [STREAM])
    at = datetime(1970, 1, 1, 0, 0, 0, 3000, tzinfo=UTC)
    assert frame.rows() == [(1, None, None), (2, "b", at)]
    (frame,) = as_frames(pl.DataFrame({"id": [1]}), [STREAM])
    assert frame.rows() == [(1, None, None)]
    assert frame.schema["at"] == pl.Datetime("ms", "UTC")


def test_a_column_that_must_have_values_is_asked_for() -> None:
    with pytest.raises(SchemaError, match="COLUMN_NULL"):
        as_frames({"name": "a"}, [STREAM])


def test_two_streams_of_a_topic_take_each_its_own_columns() -> None:
    other = Stream("in", Schema((Field("id", INT64), Field("size", INT64))))
    one, two = as_frames([{"id": 1, "name": "a", "size": 5}], [STREAM, other])
    assert one.columns == ["id", "name", "at"]
    assert two.rows() == [(1, 5)]


def test_rows_of_a_changelog_are_added_where_they_do_not_say() -> None:
    stream = Stream("in", Schema((Field("id", INT64),)), changelog=True)
    (frame,) = as_frames([{"id": 1}, {"id": 1, "_weight": -1}], [stream])
    assert frame["_weight"].to_list() == [1, -1]
