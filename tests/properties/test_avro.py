"""Avro's columns against three judges: fastavro, Java's own library, and our own slow reader."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import SchemaError
from penstock.schema.avro import decode
from penstock.schema.avro.codec import avro_codec
from penstock.schema.avro.columns import columns_of
from penstock.schema.avro.datum_read import DatumReader
from penstock.schema.codec.format import Format
from penstock.schema.schema import Field, Schema
from tests.schema.avro.judges import java
from tests.schema.avro.judges.cases import Json, Schemas, Values, bits, row_of
from tests.schema.avro.judges.damage import damaged
from tests.schema.avro.judges.evolution import Evolution
from tests.schema.avro.judges.fast import FastAvro, untagged
from tests.schema.avro.judges.ours import encoded, parsed, table_of, written

SCHEMAS, MANY_SCHEMAS = 250, 20_000
_STRICTER = ("a decimal has", "a time of the day", "an array has more items")
"""What columns cannot hold, or do not believe, and single values can."""


def a_schema(random: Random) -> Json:
    while True:
        schemas = Schemas(random)
        found = schemas.record() if random.random() < 0.9 else schemas.type(2)
        if not isinstance(found, dict) or found.get("fields") != []:
            return found


def some_rows(random: Random, schema: Json) -> list[Json]:
    return Values(random, parsed(schema)).rows(random.choice([1, 5, 40]))


def by_key(value: Json) -> Json:
    """Give a value in which the order of a map's entries does not count."""
    match value:
        case [tuple(), *_]:
            return {key: by_key(item) for key, item in value}
        case list():
            return [by_key(item) for item in value]
        case dict():
            return {key: by_key(item) for key, item in value.items()}
        case _:
            return value


def same(one: Json, other: Json) -> bool:
    return bool(bits(by_key(one)) == bits(by_key(other)))


def check_against_fastavro(random: Random) -> None:
    schema = a_schema(random)
    rows = some_rows(random, schema)
    data = written(schema, *rows)
    table, failures = table_of(schema, data)
    assert failures == {}
    expected = [row_of(parsed(schema), row) for row in rows]
    assert bits(table.to_pylist()) == bits(expected)
    # The bytes are those that the other writers give, so what they read is told by them.
    assert encoded(schema, table) == data
    judge = FastAvro(schema)
    assert [judge.write(row) for row in rows] == data
    assert [bits(judge.read(one)) for one in data] == [bits(untagged(row)) for row in rows]


@given(st.integers(0, 2**32).map(Random))
def test_columns_hold_what_fastavro_reads_and_writes(random: Random) -> None:
    check_against_fastavro(random)


@pytest.mark.slow
def test_schemas_of_chance_are_read_and_written_as_fastavro_does() -> None:
    for seed in range(SCHEMAS):
        check_against_fastavro(Random(seed))


@given(st.integers(0, 2**32).map(Random), st.integers(1, 9))
def test_any_cut_into_pieces_gives_the_same_rows(random: Random, size: int) -> None:
    schema = a_schema(random)
    data = [
        damaged(random, one) if random.random() < 0.2 else one
        for one in written(schema, *some_rows(random, schema))
    ]
    table, failures = table_of(schema, data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decode, "_ROWS", size)
        in_pieces, same_failures = table_of(schema, data)
    # For polars, unlike for Arrow, a number that is none equals itself.
    assert pl.DataFrame(in_pieces).equals(pl.DataFrame(table))
    # Of several faults in one value, another may be met first.
    assert sorted(same_failures) == sorted(failures)


@given(st.integers(0, 2**32).map(Random))
def test_columns_that_are_asked_for_are_those_of_the_whole(random: Random) -> None:
    schema = Schemas(random).record()
    data = written(schema, *some_rows(random, schema))
    whole, _ = table_of(schema, data)
    asked = random.sample(columns_of(parsed(schema)).fields, random.randint(1, whole.num_columns))
    missing = Field("not_there", random.choice(asked).type)
    codec = avro_codec(Format("avro", written=json.dumps(schema)), Schema((*asked, missing)), None)
    found = codec.decode(pa.array(data))
    assert found.failures == {}
    assert found.rows.column("not_there").null_count == len(data)
    names = [item.name for item in asked]
    assert bits(found.rows.select(names).to_pylist()) == bits(whole.select(names).to_pylist())


@pytest.fixture(scope="module")
def judge() -> Iterator[java.JavaAvro]:
    if why := java.missing():
        pytest.skip(why)
    with java.java_avro() as found:
        yield found


def check_against_java(judge: java.JavaAvro, random: Random) -> None:
    schema = a_schema(random)
    text, node = json.dumps(schema), parsed(schema)
    rows = some_rows(random, schema)
    table, _ = table_of(schema, written(schema, *rows))
    verdicts = judge.read(text, node, text, encoded(schema, table))
    assert [bits(one.value) for one in verdicts] == [bits(row) for row in rows]
    blocks, failures = table_of(schema, judge.in_blocks(text, written(schema, *rows)))
    assert failures == {}
    assert same(blocks.to_pylist(), table.to_pylist())


def check_evolution(judge: java.JavaAvro, random: Random) -> None:
    schema = Schemas(random).record()
    later = Evolution(random).later(schema)
    data = written(schema, *some_rows(random, schema))
    reader = parsed(later)
    verdicts = judge.read(json.dumps(schema), reader, json.dumps(later), data)
    if not later["fields"]:
        return
    table, failures = table_of(schema, data, later)
    for at, (row, verdict) in enumerate(zip(table.to_pylist(), verdicts, strict=True)):
        if at not in failures:
            assert verdict.error is None, (schema, later, row)
            assert same(row, row_of(reader, verdict.value)), (schema, later)
        elif "UTF-8" not in failures[at]:
            # Java puts question marks for bytes that are no text.
            assert verdict.error is not None, (schema, later, failures[at])


@pytest.mark.slow
def test_schemas_of_chance_are_read_and_written_as_java_does(judge: java.JavaAvro) -> None:
    for seed in range(SCHEMAS):
        check_against_java(judge, Random(seed))


@pytest.mark.slow
def test_later_schemas_of_chance_read_as_in_java(judge: java.JavaAvro) -> None:
    for seed in range(SCHEMAS):
        check_evolution(judge, Random(seed))


def check_damage(random: Random) -> int:
    """Read damaged values; what our slow reader reads is read alike, and all else fails."""
    schema = a_schema(random)
    rows = Values(random, parsed(schema)).rows(random.choice([1, 10, 60]))
    data = [
        damaged(random, one) if random.random() < 0.6 else one for one in written(schema, *rows)
    ]
    table, failures = table_of(schema, data)
    slow = DatumReader.of(parsed(schema))
    for at, one in enumerate(data):
        try:
            value = slow.decode(one)
        except SchemaError:
            assert at in failures, (schema, one)
            continue
        if at in failures:
            assert failures[at].startswith(_STRICTER), (schema, one, failures[at])
        else:
            _check_row(schema, table.slice(at, 1), value)
    return len(data)


def _check_row(schema: Json, row: Json, value: Json) -> None:
    try:
        expected, found = row_of(parsed(schema), value), row.to_pylist()[0]
    except (OverflowError, ValueError):
        # A date that Arrow holds and Python does not.
        return
    assert same(found, expected), schema


def test_damaged_values_fail_alone_and_others_are_read() -> None:
    assert sum(check_damage(Random(seed)) for seed in range(150)) > 3_000


@pytest.mark.soak
def test_a_million_damaged_values_fail_alone() -> None:
    read, seed = 0, 0
    while read < 1_000_000:
        read += check_damage(Random(seed))
        seed += 1


@pytest.mark.soak
def test_many_schemas_are_read_and_written_as_others_do(judge: java.JavaAvro) -> None:
    for seed in range(SCHEMAS, MANY_SCHEMAS):
        check_against_fastavro(Random(seed))
        check_against_java(judge, Random(seed))
        check_evolution(judge, Random(seed))
