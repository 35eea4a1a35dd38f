from __future__ import annotations

import pytest

from penstock.model.expr import Lambda, Resolved, Variable
from penstock.schema.schema import Schema
from penstock.schema.types import INT32, map_of
from penstock.spark.expression import lower, type_name


def test_functions_of_the_sql_library_are_not_asked_of_spark() -> None:
    call = Resolved("ucase", (), INT32)
    for expr in (call, Lambda((), call), Variable("x", INT32)):
        with pytest.raises(LookupError, match="of the SQL library"):
            lower(expr, Schema(()))


def test_maps_of_other_keys_have_a_name_in_spark() -> None:
    assert type_name(map_of(INT32, INT32)) == "map<int,int>"
