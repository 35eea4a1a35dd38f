from __future__ import annotations

import json
import math
import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.bucket import bucket_of, hash_of, split_by_bucket

LIMIT = 2**64
PRIME = 0x9E3779B97F4A7C15
NULL = 0x6E756C6C6E756C6C


def mix(word: int) -> int:
    """The finaliser of splitmix64."""
    word = (word + 0x9E3779B97F4A7C15) % LIMIT
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % LIMIT
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % LIMIT
    return word ^ (word >> 31)


def hash_of_bytes(value: bytes) -> int:
    total = len(value)
    for index in range(0, len(value), 8):
        word = int.from_bytes(value[index : index + 8], "little")
        total += word * pow(PRIME, index // 8 + 1, LIMIT)
    return mix(total % LIMIT)


def hashes(values: list[object], dtype: pl.DataType | None = None) -> list[int]:
    found = hash_of(pl.DataFrame({"k": pl.Series(values, dtype=dtype)}), ["k"]).tolist()
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize(
    ("value", "dtype", "golden"),
    [
        (0, pl.Int64(), 16294208416658607535),
        (1, pl.Int32(), 10451216379200822465),
        (-1, pl.Int64(), 16490336266968443936),
        (True, pl.Boolean(), 10451216379200822465),
        (1.5, pl.Float64(), 15481881892811333770),
        (math.nan, pl.Float64(), 14351126860892846918),
        (None, pl.String(), 756517608410894910),
        ("", pl.String(), 16294208416658607535),
        ("user42", pl.String(), 4448328491299268080),
        (
            "a key of more than sixty-four bytes, which is hashed in one go, whole",
            pl.String(),
            1767342459252117963,
        ),
        (b"\x00\xff", pl.Binary(), 1559417696849484248),
        (datetime(2024, 2, 29, 12, tzinfo=UTC), pl.Datetime("ms", "UTC"), 12819156403115479389),
        (date(2024, 2, 29), pl.Date(), 15820024857312553229),
        (Decimal("-12.50"), pl.Decimal(10, 2), 7651209878799596564),
        ([1, None], pl.List(pl.Int64()), 660066598983732982),
        ({"a": 1, "b": "x"}, pl.Struct({"a": pl.Int64(), "b": pl.String()}), 16949789292098358359),
    ],
)
def test_a_hash_never_changes(value: object, dtype: pl.DataType, golden: int) -> None:
    assert hashes([value], dtype) == [golden]


@given(st.lists(st.none() | st.text(max_size=90), max_size=20))
def test_strings_are_hashed_as_described(values: list[str | None]) -> None:
    assert hashes([*values], pl.String()) == [
        mix(NULL) if value is None else hash_of_bytes(value.encode()) for value in values
    ]


@given(st.lists(st.none() | st.binary(max_size=300), max_size=8))
def test_bytes_are_hashed_as_described(values: list[bytes | None]) -> None:
    assert hashes([*values], pl.Binary()) == [
        mix(NULL) if value is None else hash_of_bytes(value) for value in values
    ]


@given(st.lists(st.none() | st.floats(), max_size=20))
def test_numbers_are_hashed_by_their_pattern(values: list[float | None]) -> None:
    def pattern(value: float) -> int:
        bits = struct.pack("<d", math.nan if math.isnan(value) else value + 0.0)
        return int.from_bytes(bits, "little")

    assert hashes([*values], pl.Float64()) == [
        mix(NULL if value is None else pattern(value)) for value in values
    ]


@given(st.lists(st.decimals(-(10**30), 10**30, places=4), max_size=10))
def test_decimals_are_hashed_by_their_unscaled_number(values: list[Decimal]) -> None:
    def parts(value: Decimal) -> tuple[int, int]:
        high, low = divmod(int(Fraction(value) * 10**4) % 2**128, LIMIT)
        return low, high

    wanted = [mix((mix(low) + high) % LIMIT) for low, high in map(parts, values)]
    assert hashes([*values], pl.Decimal(38, 4)) == wanted


def test_equal_keys_have_equal_hashes() -> None:
    assert hashes([0.0]) == hashes([-0.0])
    assert (
        len(set(hashes([math.nan, -math.nan, struct.unpack("<d", b"\x01" * 6 + b"\xf8\x7f")[0]])))
        == 1
    )
    assert hashes([7], pl.Int32()) == hashes([7], pl.Int64()) == hashes([7], pl.UInt8())
    assert hashes(["a"]) == hashes(["a"], pl.Categorical())
    assert hashes([[0.0]]) == hashes([[-0.0]])
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    assert hashes([moment], pl.Datetime("us", "UTC")) == hashes([moment], pl.Datetime("ms", "UTC"))
    one, other = pl.Decimal(5, 2), pl.Decimal(20, 2)
    assert hashes([Decimal("1.25")], one) == hashes([Decimal("1.25")], other)


def test_nested_keys_are_hashed_as_their_text() -> None:
    value = {"b": [1.5, None], "a": "x"}
    assert hashes([value]) == [hash_of_bytes(json.dumps(value, sort_keys=True).encode())]


def test_several_columns_are_one_key() -> None:
    frame = pl.DataFrame({"a": ["x", "y"], "b": [1, 2]})
    both = hash_of(frame, ["a", "b"]).tolist()
    single = zip(hashes(["x", "y"]), hashes([1, 2]), strict=True)
    assert both == [mix((PRIME * one + other) % LIMIT) for one, other in single]
    assert both != hash_of(frame, ["b", "a"]).tolist()


def test_buckets_are_the_upper_half_scaled() -> None:
    frame = pl.DataFrame({"k": [f"user{index}" for index in range(1_000)]})
    found = bucket_of(frame, ["k"], 7)
    assert found.dtype == np.int32
    assert found.tolist() == [(value >> 32) * 7 >> 32 for value in hashes(frame["k"].to_list())]


@pytest.mark.parametrize("kind", ["number", "text"])
def test_keys_are_spread_evenly(kind: str) -> None:
    keys = pl.select(k=pl.int_range(80_000))
    frame = keys if kind == "number" else keys.select(k=pl.format("user{}", "k"))
    counts = np.bincount(bucket_of(frame, ["k"], 8))
    assert counts.min() > 9_600
    assert counts.max() < 10_400


def test_a_slice_of_a_frame_has_the_same_buckets() -> None:
    frame = pl.DataFrame({"k": ["a", "bb", None, "a longer key", "e"] * 10, "d": [1] * 50})
    whole = bucket_of(frame, ["k"], 5)
    assert bucket_of(frame.slice(3, 20), ["k"], 5).tolist() == whole[3:23].tolist()
    assert bucket_of(frame.clear(), ["k"], 5).tolist() == []


def test_without_keys_all_rows_are_in_the_first_bucket() -> None:
    frame = pl.DataFrame({"k": [1, 2]})
    assert bucket_of(frame, [], 8).tolist() == [0, 0]
    assert bucket_of(frame, ["k"], 1).tolist() == [0, 0]
    assert list(split_by_bucket(frame, [], 8)) == [0]


@pytest.mark.parametrize("buckets", [2, 8, 70_000])
def test_rows_are_split_by_bucket_in_their_order(buckets: int) -> None:
    frame = pl.DataFrame({"k": [f"user{index % 50}" for index in range(500)], "n": range(500)})
    found = split_by_bucket(frame, ["k"], buckets)
    wanted = bucket_of(frame, ["k"], buckets)
    assert sum(part.height for part in found.values()) == 500
    for bucket, part in found.items():
        assert part.height
        assert part["n"].to_list() == np.flatnonzero(wanted == bucket).tolist()
    assert split_by_bucket(frame.clear(), ["k"], buckets) == {}
