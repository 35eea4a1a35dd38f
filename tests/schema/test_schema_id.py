from __future__ import annotations

import pyarrow as pa
import pytest
from typing_extensions import override

from penstock.errors import RegistryError
from penstock.schema.codec.schemas import Reference, SchemaText
from penstock.schema.schema_id import (
    SchemasById,
    header_of,
    source_of,
    with_header,
    without_header,
)
from tests.schema.schemas_in_memory import SchemasInMemory


def test_ids_are_taken_off_and_values_without_one_stay() -> None:
    values = pa.array(
        [b"skipped", b"\0\0\0\1\2abc", None, b"{}", b"", b"\0\0", b"\0\0\0\0\7"], pa.binary()
    )
    ids, bodies = without_header(values.slice(1))
    assert ids.tolist() == [258, -1, -1, -1, -1, 7]
    assert bodies.to_pylist() == [b"abc", None, b"{}", b"", b"\0\0", b""]


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_what_is_put_before_values_comes_off_again(count: int) -> None:
    bodies = pa.array([b"x" * (n % 7) for n in range(count)], pa.binary())
    ids, found = without_header(with_header(header_of(2**31 + 5), bodies))
    assert ids.tolist() == [2**31 + 5] * count
    assert found.equals(bodies)


def test_null_stays_null_before_and_after() -> None:
    held = with_header(header_of(1), pa.array([None, b"a"], pa.binary()))
    assert held.to_pylist() == [None, b"\0\0\0\0\1a"]


def test_a_schema_is_asked_for_once_and_a_missing_one_is_a_reason() -> None:
    schemas = SchemasInMemory()
    schemas.add("a", '"string"')
    by_id = SchemasById(schemas)
    for _ in range(3):
        assert by_id.source(1, "JSON") == "schema 1 is AVRO, not JSON"
        assert by_id.source(9, "JSON") == "no schema has the id 9"
    assert schemas.asked == [1, 9]


def test_a_registry_out_of_reach_is_not_the_fault_of_a_value() -> None:
    class Away(SchemasInMemory):
        @override
        def by_id(self, id: int) -> SchemaText:
            raise RegistryError("REGISTRY_UNREACHABLE", "nobody answers")

    with pytest.raises(RegistryError, match="REGISTRY_UNREACHABLE"):
        SchemasById(Away()).source(1, "JSON")


def test_references_come_after_those_they_need() -> None:
    schemas = SchemasInMemory()
    schemas.add("a", "A")
    schemas.add("b", "B", "AVRO", (Reference("a.proto", "a", 1),))
    two = (Reference("b.proto", "b", 1), Reference("a.proto", "a", 1))
    found = source_of(schemas, schemas.add("c", "C", "AVRO", two).schema)
    assert found.references == (("a.proto", "A"), ("b.proto", "B"))
