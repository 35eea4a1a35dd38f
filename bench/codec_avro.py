"""Avro to columns and back: our codec beside fastavro and polars, for bench/codecs.

`python -m bench.codec_avro` prints the numbers of this file alone.
"""

from __future__ import annotations

import io
import json
import random
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import fastavro
import polars as pl
import pyarrow as pa

from penstock.schema.avro.binary import long_bytes
from penstock.schema.avro.codec import avro_codec
from penstock.schema.avro.container import steady_sync
from penstock.schema.avro.embedded import embed
from penstock.schema.avro.parse import parse_avro
from penstock.schema.codec.format import Format
from penstock.schema.codec.port import Codec

_MILLIS = {"type": "long", "logicalType": "timestamp-millis"}

FLAT: dict[str, Any] = {
    "type": "record",
    "name": "View",
    "fields": [
        {"name": "user", "type": "string"},
        {"name": "page", "type": "string"},
        {"name": "clicks", "type": "long"},
        {"name": "bytes", "type": "long"},
        {"name": "score", "type": "double"},
        {"name": "region", "type": ["null", "string"]},
        {"name": "signed_in", "type": "boolean"},
        {"name": "viewtime", "type": _MILLIS},
    ],
}
"""Eight fields without parts: strings, longs, a double, one that may be null, a time."""

NESTED: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {
            "name": "customer",
            "type": {
                "type": "record",
                "name": "Customer",
                "fields": [
                    {"name": "name", "type": "string"},
                    {"name": "town", "type": ["null", "string"]},
                ],
            },
        },
        {
            "name": "lines",
            "type": {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "Line",
                    "fields": [
                        {"name": "item", "type": "string"},
                        {"name": "count", "type": "int"},
                        {"name": "price", "type": "double"},
                    ],
                },
            },
        },
        {"name": "labels", "type": {"type": "map", "values": "string"}},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID"]}},
        {"name": "paid", "type": ["null", "long", "string"]},
        {"name": "at", "type": _MILLIS},
    ],
}
"""A record with a record, an array of records, a map, an enum and a union inside."""


class Avro(NamedTuple):
    """Values of a schema, as bytes and as columns, and what reads and writes them."""

    schema: dict[str, Any]
    parsed: Any
    codec: Codec
    messages: list[bytes]
    values: pa.Array
    table: pa.Table


def rows(schema: dict[str, Any], count: int, *, seed: int = 1) -> Avro:
    """Make so many values of a schema, one of the two here."""
    make = _flat_row if schema is FLAT else _nested_row
    chance = random.Random(seed)
    parsed = fastavro.parse_schema(schema)
    messages = [_written(parsed, make(chance)) for _ in range(count)]
    codec = avro_codec(Format("avro", written=json.dumps(schema)), None, None)
    values = pa.array(messages, pa.binary())
    return Avro(schema, parsed, codec, messages, values, codec.decode(values).rows)


def ours_decode(avro: Avro) -> pa.Table:
    """Read all values into columns, vectorised."""
    return avro.codec.decode(avro.values).rows


def ours_encode(avro: Avro) -> pa.Array:
    """Write all rows, vectorised."""
    return avro.codec.encode(avro.table)


def fastavro_values(avro: Avro) -> list[Any]:
    """Read values into dictionaries only, one by one."""
    return [
        fastavro.schemaless_reader(io.BytesIO(message), avro.parsed, None)
        for message in avro.messages
    ]


def fastavro_decode(avro: Avro) -> pa.Table:
    """Read values into dictionaries and those into columns, which is what ours gives."""
    return pa.Table.from_pylist(_tagged(avro, fastavro_values(avro)), schema=avro.table.schema)


def fastavro_encode(avro: Avro, dictionaries: list[Any]) -> list[bytes]:
    """Write dictionaries, one by one."""
    return [_written(avro.parsed, row) for row in dictionaries]


def polars_decode(avro: Avro) -> pl.DataFrame:
    """Read values as one block of a container file, which only some schemas allow."""
    schema = parse_avro(json.dumps(avro.schema))
    body = b"".join(avro.messages)
    count, size = long_bytes(len(avro.messages)), long_bytes(len(body))
    whole = embed(schema) + count + size + body + steady_sync(schema)
    return pl.read_avro(io.BytesIO(whole))


def _tagged(avro: Avro, found: list[Any]) -> list[Any]:
    if avro.schema is not NESTED:
        return found
    for row in found:
        paid = row["paid"]
        if paid is not None:
            row["paid"] = {"long": paid} if isinstance(paid, int) else {"string": paid}
        row["labels"] = list(row["labels"].items())
    return found


def _written(parsed: Any, row: Any) -> bytes:  # noqa: ANN401  # fastavro has no types
    out = io.BytesIO()
    fastavro.schemaless_writer(out, parsed, row)
    return out.getvalue()


def _flat_row(chance: random.Random) -> dict[str, Any]:
    return {
        "user": f"user_{chance.randrange(10_000)}",
        "page": f"/page/{chance.randrange(1_000)}/view",
        "clicks": chance.randrange(1_000),
        "bytes": chance.randrange(10**9),
        "score": chance.random(),
        "region": None if chance.random() < 0.2 else f"region_{chance.randrange(9)}",
        "signed_in": chance.random() < 0.5,
        "viewtime": 1_700_000_000_000 + chance.randrange(10**9),
    }


def _nested_row(chance: random.Random) -> dict[str, Any]:
    return {
        "id": chance.randrange(10**9),
        "customer": {
            "name": f"customer {chance.randrange(10_000)}",
            "town": None if chance.random() < 0.5 else f"town {chance.randrange(100)}",
        },
        "lines": [
            {
                "item": f"item {chance.randrange(1_000)}",
                "count": chance.randrange(1, 100),
                "price": chance.random() * 100,
            }
            for _ in range(chance.randrange(5))
        ],
        "labels": {f"k{at}": f"label {chance.randrange(50)}" for at in range(chance.randrange(3))},
        "state": chance.choice(["NEW", "PAID"]),
        "paid": chance.choice([None, chance.randrange(10**6), "by card"]),
        "at": 1_700_000_000_000 + chance.randrange(10**9),
    }


def _per_row(work: Callable[[], object], count: int) -> tuple[float, float]:
    """Give the least of five runs: nanoseconds a row, on the clock and of the processor."""
    work()
    taken: list[tuple[float, float]] = []
    for _ in range(5):
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        taken.append((time.perf_counter() - wall, time.process_time() - cpu))
    return min(t[0] for t in taken) / count * 1e9, min(t[1] for t in taken) / count * 1e9


def main() -> None:
    """Print rows a second, and a CPU-second, of every way."""
    for name, schema, count in (("flat", FLAT, 100_000), ("nested", NESTED, 50_000)):
        avro = rows(schema, count)
        assert ours_decode(avro).equals(fastavro_decode(avro)), name
        assert ours_encode(avro).to_pylist() == avro.messages, name
        dictionaries = fastavro_values(avro)
        ways: list[tuple[str, Callable[[], object]]] = [
            ("ours decode", lambda avro=avro: ours_decode(avro)),  # type: ignore[misc]
            ("fastavro decode, dictionaries", lambda avro=avro: fastavro_values(avro)),  # type: ignore[misc]
            ("fastavro decode, table", lambda avro=avro: fastavro_decode(avro)),  # type: ignore[misc]
            ("ours encode", lambda avro=avro: ours_encode(avro)),  # type: ignore[misc]
            (
                "fastavro encode",
                lambda avro=avro, given=dictionaries: fastavro_encode(avro, given),  # type: ignore[misc]
            ),
        ]
        if schema is FLAT:
            ways.append(("polars decode", lambda avro=avro: polars_decode(avro)))  # type: ignore[misc]
        for label, work in ways:
            wall, cpu = _per_row(work, count)
            print(
                f"{name:7} {label:30} {1e9 / wall:12,.0f} rows/s {1e9 / cpu:12,.0f} rows/CPU-s"
                f" {wall:8.0f} ns"
            )


if __name__ == "__main__":
    main()
