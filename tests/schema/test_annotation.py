from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, NewType, NotRequired, TypedDict

import pyarrow as pa
import pytest

from penstock.errors import SchemaError
from penstock.schema.annotation import result_of, schema_of, type_of
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT32, INT64

UserId = NewType("UserId", str)


class Colour(StrEnum):
    RED = "red"


@dataclass
class Order:
    limit: ClassVar[int] = 3
    _hidden: int
    id: int
    user: UserId
    at: datetime
    day: date | None
    hour: time
    price: Decimal
    ok: bool
    weight: float
    raw: bytes
    tags: list[str]
    pair: tuple[int, ...]
    parts: dict[str, float]
    small: Annotated[int, "int32"]
    kind: Literal["a", "b"]
    colour: Colour


class Person(NamedTuple):
    name: str
    age: int


class Loose(TypedDict):
    name: str
    age: NotRequired[int]


class Plain:
    name: str
    person: Person


class Later:
    name: Missing  # type: ignore[name-defined]  # noqa: F821  # that is the point


def test_a_dataclass_says_its_columns() -> None:
    assert str(schema_of(Order)) == (
        "id int64, user string, at timestamp, day date, hour time, price decimal(38, 18), "
        "ok boolean, weight float64, raw bytes, tags array<string>, pair array<int64>, "
        "parts map<float64>, small int32, kind string, colour string"
    )


def test_named_tuples_typed_dictionaries_and_annotated_classes_do_too() -> None:
    assert str(schema_of(Person)) == "name string, age int64"
    assert str(schema_of(Loose)) == "name string, age int64"
    assert str(schema_of(Plain)) == "name string, person struct<name: string, age: int64>"


def test_a_dictionary_takes_types_of_python_text_and_ours() -> None:
    columns = {"a": int, "b": "array<string>", "c": INT32, "d": list[int], "e": str | None}
    expected = "a int64, b array<string>, c int32, d array<int64>, e string"
    assert str(schema_of(columns)) == expected


def test_a_schema_is_itself_and_arrow_is_read() -> None:
    schema = Schema((Field("n", INT64),))
    assert schema_of(schema) is schema
    assert schema_of(pa.schema([("n", pa.int64())])) == schema


@pytest.mark.parametrize("value", [3, "n int64", int, object, None])
def test_what_describes_no_columns_is_refused(value: object) -> None:
    with pytest.raises(SchemaError, match="SCHEMA_FORM"):
        schema_of(value)


@pytest.mark.parametrize(
    "hint", [object, list, dict[int, str], int | str, Literal["a", 1], tuple[int, str], Any, None]
)
def test_an_annotation_without_a_type_is_refused(hint: object) -> None:
    with pytest.raises(SchemaError, match="TYPE_ANNOTATION"):
        type_of(hint)


def test_an_annotation_that_names_nothing_is_refused() -> None:
    with pytest.raises(SchemaError, match="SCHEMA_HINT") as caught:
        schema_of(Later)
    assert "Missing" in caught.value.fact


def one(row: dict[str, Any]) -> Person: ...  # type: ignore[empty-body]
def maybe(row: dict[str, Any]) -> Person | None: ...
def many(row: dict[str, Any]) -> Iterator[Person]: ...  # type: ignore[empty-body]
def listed(row: dict[str, Any]) -> list[Loose]: ...  # type: ignore[empty-body]
def sequence(row: dict[str, Any]) -> Sequence[Plain]: ...  # type: ignore[empty-body]
def mute(row: dict[str, Any]): ...  # type: ignore[no-untyped-def]  # noqa: ANN201
def vague(row: dict[str, Any]) -> dict[str, Any]: ...  # type: ignore[empty-body]
def vague_many(row: dict[str, Any]) -> Iterable[dict[str, Any]]: ...  # type: ignore[empty-body]
def number(row: dict[str, Any]) -> int: ...  # type: ignore[empty-body]
def later(row: dict[str, Any]) -> Missing: ...  # type: ignore[name-defined]  # noqa: F821


def test_a_function_says_what_it_gives() -> None:
    assert result_of(one) == result_of(maybe) == schema_of(Person)
    assert result_of(many, many=True) == schema_of(Person)
    assert result_of(listed, many=True) == schema_of(Loose)
    assert result_of(sequence, many=True) == schema_of(Plain)


def test_a_function_may_say_nothing_of_use() -> None:
    assert [result_of(f) for f in (mute, vague, number, later, len)] == [None] * 5
    assert result_of(vague_many, many=True) is None


def test_arrow_is_loaded_only_by_those_who_bring_it() -> None:
    code = (
        "import sys\n"
        "from penstock.schema.annotation import schema_of\n"
        "schema_of({'a': int})\n"
        "assert 'pyarrow' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
