from __future__ import annotations

from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from typing_extensions import override

from penstock.errors import RegistryError, RunError
from penstock.front.sql.moment_text import moment_millis
from penstock.front.sql.record import Part
from penstock.front.sql.source import RecordFormat, SourceColumn
from penstock.front.sql.types import type_text
from penstock.schema.codec.schemas import SchemaText
from penstock.schema.ksql.numbers import java_double
from penstock.schema.ksql.subject import Subject
from penstock.schema.types import (
    BOOLEAN,
    BYTES,
    DATE,
    FLOAT64,
    INT32,
    INT64,
    STRING,
    TIME,
    TIMESTAMP,
    Type,
    array_of,
    decimal_of,
    map_of,
    struct_of,
)
from tests.schema.schemas_in_memory import SchemasInMemory

ROW: dict[str, tuple[Type, Any]] = {
    "B": (BOOLEAN, True),
    "I": (INT32, -1),
    "L": (INT64, 2**40),
    "D": (FLOAT64, 1.5),
    "M": (decimal_of(5, 2), Decimal("1.50")),
    "S": (STRING, 'a "b", c'),
    "Y": (BYTES, b"\x00!"),
    "DAY": (DATE, date(2020, 1, 31)),
    "T": (TIME, time(1, 2, 3)),
    "AT": (TIMESTAMP, datetime(2020, 1, 31, tzinfo=timezone.utc)),  # noqa: UP017
}
NESTED: dict[str, tuple[Type, Any]] = {
    "A": (array_of(INT32), [1, None]),
    "P": (map_of(FLOAT64), {"x": 1.0}),
    "Q": (struct_of(F=STRING, G=INT64), {"F": None, "G": 2}),
}


def _part(name: str, row: dict[str, tuple[Type, Any]], *, wrapped: bool = True) -> Part:
    columns = tuple(SourceColumn(key, type_) for key, (type_, _) in row.items())
    return Part(RecordFormat(name, wrapped=wrapped), columns)


@pytest.mark.parametrize(
    ("name", "row"),
    [("JSON", {**ROW, **NESTED}), ("AVRO", {**ROW, **NESTED}), ("DELIMITED", ROW)],
)
@pytest.mark.parametrize("empty", [False, True])
def test_a_row_is_read_as_it_was_written(
    name: str, row: dict[str, tuple[Type, Any]], *, empty: bool
) -> None:
    part = _part(name, row)
    values = {key: None if empty else value for key, (_, value) in row.items()}
    assert dict(part.read(part.write(values))) == values


@pytest.mark.parametrize("key", ["I", "L", "D", "S", "Y"])
def test_a_single_value_is_written_as_kafka_does(key: str) -> None:
    part = _part("KAFKA", {key: ROW[key]}, wrapped=False)
    assert dict(part.read(part.write({key: ROW[key][1]}))) == {key: ROW[key][1]}
    assert part.write({key: None}) is None


def test_json_is_read_whatever_the_case_and_numbers_may_be_texts() -> None:
    part = _part("JSON", {"I": ROW["I"], "S": ROW["S"], "M": ROW["M"]})
    assert part.read(b'{"i": "7", "s": {"a": 1.50}, "m": 1}') == {
        "I": 7,
        "S": '{"a":1.50}',
        "M": Decimal("1.00"),
    }


def test_a_value_alone_has_no_name() -> None:
    part = _part("JSON", {"I": ROW["I"]}, wrapped=False)
    assert part.write({"I": 4}) == b"4"
    assert part.read(b"4") == {"I": 4}


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("I", b'{"I": 3000000000}'),
        ("B", b'{"B": 1}'),
        ("M", b'{"M": 1.555}'),
        ("Y", b'{"Y": "?"}'),
        ("D", b'{"D": true}'),
        ("I", b"[1]"),
    ],
)
def test_a_value_that_does_not_fit_is_an_error(key: str, text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        _part("JSON", {key: ROW[key]}).read(text)


def test_a_line_is_quoted_as_apaches_printer_does() -> None:
    part = _part("DELIMITED", {"S": ROW["S"], "I": ROW["I"]})
    assert part.write({"S": "-a", "I": -1}) == b'"-a",-1'
    assert part.write({"S": "", "I": None}) == b'"",'
    with pytest.raises(ValueError, match="3 columns"):
        part.read(b"a,1,2")


def test_doubles_are_written_as_java_does() -> None:
    found = [java_double(value) for value in (1.0, 0.001, 1e7, 1.25e-5, float("nan"), -0.0)]
    assert found == ["1.0", "0.001", "1.0E7", "1.25E-5", "NaN", "-0.0"]


def test_a_time_may_lack_its_end() -> None:
    assert moment_millis("1970") == 0
    assert moment_millis("1970-01-01T24") == 86_400_000
    assert moment_millis("1970-01-01T01:00:00.5+01:00") == 500
    assert moment_millis("tomorrow") is None
    assert moment_millis("1970-13") is None


def test_types_are_written_as_sql_does() -> None:
    assert type_text(struct_of(A=array_of(decimal_of(4, 2)), B=map_of(INT64))) == (
        "STRUCT<`A` ARRAY<DECIMAL(4, 2)>, `B` MAP<STRING, BIGINT>>"
    )
    assert type_text(None) == "NULL"


class _OutOfReach(SchemasInMemory):
    @override
    def by_id(self, id: int) -> SchemaText:
        raise RegistryError("REGISTRY_DOWN", "nobody answers")


def test_a_registry_out_of_reach_is_no_fault_of_a_record() -> None:
    subject = Subject("t-value", _OutOfReach())
    part = Part(RecordFormat("AVRO", subject=subject), (SourceColumn("V", INT32),))
    with pytest.raises(RunError, match=r"SQL_REGISTRY.*REGISTRY_DOWN"):
        part.decode(pa.array([b"\0\0\0\0\1x"], pa.binary()))
