from __future__ import annotations

from pathlib import Path
from random import Random

import duckdb
import pytest

from penstock.serve.pull.tables import Tables
from tests.serve.pull.kit import folded, grown, made, opened
from tests.serve.pull.random_select import Select, random_select


def check(select: Select, tables: Tables, plain: duckdb.DuckDBPyConnection) -> None:
    ours = tables.query(select.text)
    theirs = plain.execute(select.text).fetchall()
    found = ours.rows
    if not select.ordered:
        found, theirs = sorted(found, key=repr), sorted(theirs, key=repr)
    assert found == theirs, select.text
    assert not ours.truncated


@pytest.mark.parametrize("seed", range(4))
def test_two_hundred_selects_are_those_of_duckdb_over_a_fold_of_the_log(
    tmp_path: Path, seed: int
) -> None:
    made(tmp_path)
    random = Random(seed)
    with opened(tmp_path) as (log, tables):
        for _ in range(5):
            # Rows come between the questions, so that what is at hand is advanced each time.
            grown(log, random, random.randint(0, 12))
            with folded(log) as plain:
                for _ in range(10):
                    check(random_select(random), tables, plain)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 120))
def test_two_thousand_selects_are_those_of_duckdb(tmp_path: Path, seed: int) -> None:
    made(tmp_path)
    random = Random(seed)
    with opened(tmp_path) as (log, tables):
        for _ in range(10):
            grown(log, random, random.randint(0, 20))
            with folded(log) as plain:
                for _ in range(10):
                    check(random_select(random), tables, plain)
