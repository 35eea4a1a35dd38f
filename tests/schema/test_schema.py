from __future__ import annotations

import pytest

from penstock.errors import SchemaError
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, STRING

SCHEMA = Schema((Field("user", STRING), Field("n", INT64)))


def test_a_column_is_found_by_name() -> None:
    assert SCHEMA.field("n").type == INT64
    assert SCHEMA.names == ("user", "n")
    assert str(SCHEMA) == "user string, n int64"


def test_a_misspelt_column_is_named_with_its_role_and_corrected() -> None:
    with pytest.raises(SchemaError, match="COLUMN_MISSING") as caught:
        SCHEMA.field("usr", role="group key", site="shop.py:3")
    assert caught.value.fact == 'group key "usr" does not exist (shop.py:3)'
    assert caught.value.hint == 'Did you mean "user"?'


def test_a_column_like_no_other_lists_those_there_are() -> None:
    with pytest.raises(SchemaError) as caught:
        SCHEMA.field("zzz")
    assert caught.value.hint == "The columns: user, n."


def test_a_column_appears_once() -> None:
    with pytest.raises(SchemaError, match="COLUMN_TWICE"):
        Schema((Field("n", INT64), Field("n", STRING)))


def test_columns_are_added_at_the_end_or_replaced_in_place() -> None:
    more = SCHEMA.with_fields([Field("user", INT64), Field("z", STRING)])
    assert str(more) == "user int64, n int64, z string"
