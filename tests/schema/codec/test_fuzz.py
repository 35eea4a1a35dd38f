"""No bytes make a codec raise, crash or hang: a value is a row or a failure."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from penstock.schema.codec.port import Codec
from tests.schema.codec.kit import codec, written
from tests.schema.codec.test_delimited import ALL as FLAT
from tests.schema.codec.test_delimited import FULL as LINE
from tests.schema.codec.test_json import ALL, FULL, ROW
from tests.schema.codec.test_pattern import LINE as LOGGED

NO_MAPS = {name: kind for name, kind in ALL.items() if "map" not in kind}
CASES: dict[str, tuple[Codec, list[bytes]]] = {
    "bytes": (codec("bytes"), [b"x"]),
    "string": (codec("string"), ["aé😀".encode()]),
    "int": (codec("int"), [b"\0\0\0\1"]),
    "long": (codec("long"), [b"\0" * 8]),
    "double": (codec("double"), [b"\0" * 8]),
    "boolean": (codec("boolean"), [b"\0", b"\1"]),
    "json": (codec("json", NO_MAPS), [FULL.encode(), b'{"id":1,"part":{"x":2}}', b"{}", b"null"]),
    "json with maps": (codec("json", ALL), [FULL.encode(), b'{"MAP":{"a":"b"},"id":3}']),
    "json lenient": (codec("json(lenient=true)", ALL), [FULL.encode(), b"{id: 1, s: x y, ...}"]),
    "delimited": (
        codec("delimited", FLAT),
        [LINE.encode(), b",,,,,,,,", b'"1",2,true,"a""b",,,,,'],
    ),
    "pattern": (codec("pattern(name=access_log)"), [LOGGED.encode()]),
    "pattern forgiving": (codec("pattern(name=access_log, damaged=null)"), [LOGGED.encode()]),
    "arrow": (codec("arrow", ALL), [v for v in written(codec("arrow", ALL), [ROW]) if v]),
}
PIECES = [
    b"", b"\0", b"{", b"}", b"[", b"]", b'"', b",", b":", b"null", b"true", b"1e999", b"-", b".",
    b"e", b"NaN", b"Inf", b"\\", b"\\u0000", b"\\ud800", b"\n", b"\r", b" ", b"\xff", b"\xc3",
    b'"id"', b'"map":{',
    b"9" * 30, b"[" * 2000, b'{"a":' * 500, b"..." , b"0x", b"\xff\xff\xff\xff",
]  # fmt: skip


def hostile(chance: random.Random, good: list[bytes]) -> bytes:
    """Give a good value that was cut, changed or stuffed; or nothing but noise."""
    if chance.random() < 0.1:
        return chance.randbytes(chance.randrange(40))
    value = bytearray(chance.choice(good))
    for _ in range(chance.randrange(3)):
        at = chance.randrange(len(value) + 1)
        match chance.randrange(5):
            case 0:
                del value[at : at + chance.randrange(1, 9)]
            case 1:
                value[at:at] = chance.choice(PIECES)
            case 2:
                value[at : at + 1] = chance.randbytes(1)
            case 3:
                value[at:at] = value[chance.randrange(len(value) + 1) :][:20]
            case _:
                del value[at:]
    return bytes(value)


def read_all(name: str, count: int, seed: int) -> None:
    reader, good = CASES[name]
    chance = random.Random(seed)
    for start in range(0, count, 250):
        values = [hostile(chance, good) for _ in range(min(250, count - start))]
        found = reader.decode(pa.array(values, pa.binary()))
        found.rows.validate(full=True)
        assert found.rows.num_rows == len(values)
        nothing = dict.fromkeys(reader.schema.names)
        for place, why in found.failures.items():
            assert why
            assert found.rows.slice(place, 1).cast(found.rows.schema).to_pylist() == [nothing]
        again = reader.decode(pa.array(values[::-1], pa.binary()))
        # Whom a value stands beside makes no difference.
        assert {len(values) - 1 - place: why for place, why in again.failures.items()} == dict(
            found.failures
        )


@pytest.mark.parametrize("name", CASES)
def test_no_bytes_make_a_codec_raise(name: str) -> None:
    read_all(name, 1000, seed=6)


@pytest.mark.soak
@pytest.mark.parametrize("name", CASES)
def test_a_million_values_make_no_codec_raise(name: str) -> None:
    read_all(name, 1_000_000 // len(CASES), seed=random.randrange(2**32))
