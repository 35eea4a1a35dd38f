from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from penstock.kernel import keybook
from penstock.kernel.keybook import KeyBook

NAN = float("nan")


@pytest.mark.parametrize("few", [0, 20_000])
def test_keys_keep_their_numbers_and_new_ones_get_the_next(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keybook, "_FEW", few)
    book = KeyBook(("a", "b"), None)
    first = pl.DataFrame({"a": ["x", None, "x", "y"], "b": [0.0, NAN, -0.0, None]})
    assert book.numbers(first).tolist() == [0, 1, 0, 2]
    second = pl.DataFrame({"a": ["z", None, "y", "y"], "b": [1.0, NAN, None, 2.0]})
    assert book.numbers(second).tolist() == [3, 1, 2, 4]
    assert book.rows(np.array([2, 0]))["a"].to_list() == ["y", "x"]


def test_keys_whose_hashes_are_alike_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keybook, "hash_of", lambda rows, _: np.ones(rows.height, np.uint64))
    book = KeyBook(("a",), None)
    assert book.numbers(pl.DataFrame({"a": [3, 1, 3]})).tolist() == [0, 1, 0]
    assert book.numbers(pl.DataFrame({"a": [1, 2, 3]})).tolist() == [1, 2, 0]


def test_lists_are_keys_too() -> None:
    book = KeyBook(("a",), None)
    assert book.numbers(pl.DataFrame({"a": [[1], [2], [1]]})).tolist() == [0, 1, 0]
    assert book.numbers(pl.DataFrame({"a": [[2], [3]]})).tolist() == [1, 2]
