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
    monkeypatch.setattr(keybook, "_hashes", lambda rows: np.ones(rows.height, np.uint64))
    book = KeyBook(("a",), None)
    assert book.numbers(pl.DataFrame({"a": ["c", "a", "c"]})).tolist() == [0, 1, 0]
    assert book.numbers(pl.DataFrame({"a": ["a", "b", "c"]})).tolist() == [1, 2, 0]


def test_lists_are_keys_too() -> None:
    book = KeyBook(("a",), None)
    assert book.numbers(pl.DataFrame({"a": [[1], [2], [1]]})).tolist() == [0, 1, 0]
    assert book.numbers(pl.DataFrame({"a": [[2], [3]]})).tolist() == [1, 2]


@pytest.mark.parametrize("few", [0, 20_000])
def test_columns_that_are_alike_in_all_rows_count_where_they_change(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keybook, "_FEW", few)
    book = KeyBook(("a", "day"), None)
    assert book.numbers(pl.DataFrame({"a": [3, 1, 3], "day": ["x"] * 3})).tolist() == [0, 1, 0]
    assert book.numbers(pl.DataFrame({"a": [1, 9], "day": ["x"] * 2})).tolist() == [1, 2]
    assert book.numbers(pl.DataFrame({"a": [1, 3, 1], "day": ["y"] * 3})).tolist() == [3, 4, 3]
    assert book.numbers(pl.DataFrame({"a": [1, 1], "day": ["x", None]})).tolist() == [1, 5]
    assert book.rows(np.array([4, 5])).rows() == [(3, "y"), (1, None)]


def test_one_key_in_all_rows_has_one_number() -> None:
    book = KeyBook(("a", "b"), None)
    one = pl.DataFrame({"a": ["x"] * 3, "b": [1] * 3})
    assert book.numbers(one).tolist() == [0, 0, 0]
    assert book.numbers(one).tolist() == [0, 0, 0]
    assert book.numbers(one.with_columns(b=pl.lit(2, pl.Int64))).tolist() == [1, 1, 1]
    assert book.numbers(one.clear()).tolist() == []


def test_whole_numbers_far_apart_and_nulls_are_keys() -> None:
    book = KeyBook(("a",), None)
    far = pl.DataFrame({"a": [2**62, -(2**62), None, 2**62]})
    assert book.numbers(far).tolist() == [0, 1, 2, 0]
    assert book.numbers(pl.DataFrame({"a": [None, 7, -(2**62)]})).tolist() == [2, 3, 1]
    close = KeyBook(("a",), None)
    assert close.numbers(pl.DataFrame({"a": [5, 6]})).tolist() == [0, 1]
    assert close.numbers(pl.DataFrame({"a": [-(2**63), 4, 7, 2**63 - 1]})).tolist() == [2, 3, 4, 5]
    least = KeyBook(("a",), None)
    assert least.numbers(pl.DataFrame({"a": [-(2**63)]})).tolist() == [0]
    assert least.numbers(pl.DataFrame({"a": [3, -(2**63)]})).tolist() == [1, 0]
