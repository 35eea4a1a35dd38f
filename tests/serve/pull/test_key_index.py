from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest

from penstock.serve.pull.chunks import Chunks
from penstock.serve.pull.key_index import KeyIndex, hashes_of


@pytest.mark.parametrize("seed", range(3))
def test_the_last_row_of_each_hash_is_found_whatever_came_when(seed: int) -> None:
    random = Random(seed)
    index, expected, height = KeyIndex(), {}, 0
    counting: set[int] = set()
    for _ in range(12):
        size = random.choice([0, 1, 7, 9000])
        batch = [random.randrange(30_000) for _ in range(size)]
        replaced = index.put(np.array(batch, np.uint64), height)
        counting |= set(range(height, height + size))
        assert len(set(replaced.tolist())) == len(replaced)
        counting -= set(replaced.tolist())
        expected.update({one: height + place for place, one in enumerate(batch)})
        height += size
        assert counting == set(expected.values())
    assert len(index) == len(expected)
    assert index.nbytes > 0
    assert all(index.get(one) == row for one, row in expected.items())
    assert index.get(99_999) is None
    places = np.full(height, -1, np.int64)
    kept = sorted(row for one, row in expected.items() if one % 2)
    places[kept] = np.arange(len(kept))
    index.keep(places)
    assert all(index.get(one) is None for one in expected if not one % 2)
    assert all(
        index.get(one) == kept.index(row) for one, row in [*expected.items()][:50] if one % 2
    )


def test_keys_of_several_columns_have_one_hash() -> None:
    rows = pa.table({"a": [1, 1, 2], "b": ["x", "y", "x"]})
    hashes = hashes_of(rows, ["a", "b"], 7).tolist()
    assert len(set(hashes)) == 3
    assert hashes_of(rows.slice(1, 1), ["a", "b"], 7).tolist() == hashes[1:2]


def test_rows_that_come_one_by_one_lie_in_few_pieces() -> None:
    chunks = Chunks(pa.schema([("x", pa.int64())]))
    for number in range(300):
        chunks.append(pa.table({"x": [number]}))
    assert chunks.whole().column("x").num_chunks < 12
    assert chunks.whole().column("x").to_pylist() == list(range(300))
    assert [chunks.row(place).column("x")[0].as_py() for place in (0, 137, 299)] == [0, 137, 299]
    assert chunks.nbytes >= 300 * 8
