from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.log.murmur2 import murmur2, murmur2_column, partition_column, partition_of_key

# Taken from the test of Kafka's own Utils.murmur2.
JAVA = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}

# Few lengths, so that a column has many keys of each and hashes them together.
keys = st.lists(st.none() | st.binary(max_size=11), max_size=200)


@pytest.mark.parametrize(("key", "hashed"), JAVA.items())
def test_a_key_hashes_as_in_java(key: bytes, hashed: int) -> None:
    assert murmur2(key) == hashed


def test_the_hash_is_a_signed_number_of_32_bits() -> None:
    hashes = [murmur2(str(number).encode()) for number in range(2000)]
    assert min(hashes) < -(2**30)
    assert max(hashes) > 2**30
    assert all(-(2**31) <= value < 2**31 for value in hashes)


@given(keys=keys)
def test_a_column_hashes_as_its_keys_do_one_by_one(keys: list[bytes | None]) -> None:
    wanted = [murmur2(key or b"") for key in keys]
    for kind in (pa.binary(), pa.large_binary()):
        assert murmur2_column(pa.array(keys, type=kind)).tolist() == wanted


@given(keys=keys, start=st.integers(0, 50))
def test_a_slice_of_a_column_hashes_its_own_keys(keys: list[bytes | None], start: int) -> None:
    column = pa.array(keys, type=pa.binary())[start:]
    assert murmur2_column(column).tolist() == [murmur2(key or b"") for key in keys[start:]]


def test_a_null_counts_as_empty_whatever_bytes_lie_under_it() -> None:
    values = pa.py_buffer(b"hidden")
    offsets = pa.py_buffer(np.array([0, 6], dtype=np.int32).tobytes())
    validity = pa.py_buffer(b"\x00")
    column = pa.Array.from_buffers(pa.binary(), 1, [validity, offsets, values])
    assert murmur2_column(column).tolist() == [murmur2(b"")]


def test_long_and_rare_keys_hash_among_short_ones() -> None:
    keys = [b"k" * 70_000, *[b"short"] * 100, b"", b"x" * 65_536]
    assert murmur2_column(pa.array(keys)).tolist() == [murmur2(key) for key in keys]


def test_text_hashes_as_its_bytes() -> None:
    assert murmur2_column(pa.array(["abc"])).tolist() == [JAVA[b"abc"]]


@given(keys=st.lists(st.binary(max_size=9)), partitions=st.integers(1, 1000))
def test_every_key_has_the_same_partition_alone_and_in_a_column(
    keys: list[bytes], partitions: int
) -> None:
    chosen = partition_column(pa.array(keys, type=pa.binary()), partitions)
    assert chosen.dtype == np.int32
    assert chosen.tolist() == [partition_of_key(key, partitions) for key in keys]
    assert all(0 <= partition < partitions for partition in chosen)
