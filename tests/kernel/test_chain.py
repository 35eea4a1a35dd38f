from __future__ import annotations

import json
from typing import Literal as Choice

import polars as pl
import pytest

from penstock.errors import RunError
from penstock.kernel.chain import ChainRunner
from penstock.kernel.port import DEAD_COLUMNS, Counts
from penstock.model.expr import Call, Column, Literal
from penstock.model.stateless import (
    Apply,
    Expect,
    Filter,
    Named,
    Project,
    Rekey,
    Restamp,
    Stateless,
    Union,
)
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, STRING
from tests.kernel.frames import COLUMNS, a_stream, delta

N_ABOVE_1 = Call("gt", (Column("n"), Literal(1)))


def test_a_projection_keeps_the_control_columns() -> None:
    step = Project(
        a_stream(),
        (
            Named("twice", Call("multiply", (Column("n"), Literal(2)))),
            Named("one", Literal(1)),
            Named("key", Column("key")),
        ),
    )
    rows = delta({"key": "a", "n": 3, "t": 7, "w": -1}).with_columns(_pane_index=pl.lit(4))
    done = ChainRunner([step], COLUMNS).run(rows)
    assert done.frame.rows(named=True) == [
        {
            "twice": 6,
            "one": 1,
            "key": "a",
            "_weight": -1,
            "_time": 7,
            "_taken": 7,
            "_pane_index": 4,
        }
    ]


def test_a_projection_of_constants_has_as_many_rows_as_its_input() -> None:
    step = Project(a_stream(), (Named("one", Literal(1)),))
    assert ChainRunner([step], COLUMNS).run(delta({}, {}, {})).frame["one"].to_list() == [1] * 3
    assert ChainRunner([step], COLUMNS).run(delta()).frame.height == 0


def test_a_filter_keeps_what_is_true_and_null_is_not() -> None:
    rows = delta({"n": 1}, {"n": 2}, {"n": None}, {"n": 3})
    done = ChainRunner([Filter(a_stream(), N_ABOVE_1)], COLUMNS, id="c").run(rows)
    assert done.frame["n"].to_list() == [2, 3]
    assert done.counts == {"c.0": Counts(taken=4, passed=2, filtered=2, given=2)}


def test_steps_are_counted_by_the_id_of_the_chain_and_their_number() -> None:
    source = a_stream()
    steps: list[Stateless] = [
        Filter(source, N_ABOVE_1),
        Rekey(source, ("key",)),
        Union((source, source)),
    ]
    done = ChainRunner(steps, COLUMNS, id="scan-0.chain-1").run(delta({"n": 1}, {"n": 2}))
    assert [(name, counts.taken) for name, counts in done.counts.items()] == [
        ("scan-0.chain-1.0", 2),
        ("scan-0.chain-1.1", 1),
        ("scan-0.chain-1.2", 1),
    ]


def test_a_chain_works_with_the_columns_that_were_read_only() -> None:
    read = Schema((Field("n", INT64),))
    rows = delta({"n": 2}, {"n": 0}).drop("key", "x", "mark")
    runner = ChainRunner([Filter(a_stream(), N_ABOVE_1)], read)
    assert runner.run(rows).frame["n"].to_list() == [2]
    assert runner.schema == read


def an_expectation(otherwise: Choice["drop", "park", "fail"]) -> Expect:
    return Expect(a_stream(), "large", N_ABOVE_1, otherwise, site="shop.py:9")


def test_rows_that_do_not_meet_an_expectation_are_dropped_and_counted() -> None:
    done = ChainRunner([an_expectation("drop")], COLUMNS).run(delta({"n": 1}, {"n": 2}))
    assert done.frame["n"].to_list() == [2]
    assert done.dead is None
    assert done.counts[".0"] == Counts(taken=2, passed=1, filtered=1, given=1)


def test_rows_that_do_not_meet_an_expectation_are_parked_with_the_reason() -> None:
    rows = delta({"n": 1, "key": "a", "t": 5}, {"n": 2}, {"n": None})
    done = ChainRunner([an_expectation("park")], COLUMNS).run(rows)
    assert done.frame["n"].to_list() == [2]
    assert done.dead is not None
    assert dict(done.dead.schema) == dict(DEAD_COLUMNS)
    first = done.dead.row(0, named=True)
    assert (first["step"], first["site"], first["time"]) == ("large", "shop.py:9", 5)
    assert "EXPECTATION_FAILED" in first["error"]
    assert json.loads(first["row"]) == {"key": "a", "n": 1, "x": None, "mark": None}
    assert done.counts[".0"] == Counts(taken=3, passed=1, dead=2, given=1)


def test_an_expectation_that_must_hold_ends_the_program_and_shows_the_row() -> None:
    with pytest.raises(RunError, match="EXPECTATION_FAILED") as caught:
        ChainRunner([an_expectation("fail")], COLUMNS).run(delta({"n": 2}, {"n": 1, "key": "é"}))
    for part in ("large", "shop.py:9", '"key":"é"'):
        assert part in caught.value.fact


def test_an_expectation_that_all_meet_changes_nothing() -> None:
    rows = delta({"n": 2}, {"n": 3})
    assert ChainRunner([an_expectation("fail")], COLUMNS).run(rows).frame.equals(rows)


def test_a_constant_expectation_holds_for_all_rows_or_none() -> None:
    step = Expect(a_stream(), "never", Literal(value=False), "drop")
    assert ChainRunner([step], COLUMNS).run(delta({}, {})).counts[".0"].filtered == 2


def test_another_event_time_is_taken_from_its_column() -> None:
    done = ChainRunner([Restamp(a_stream(), "n")], COLUMNS).run(delta({"n": 9, "t": 1}))
    assert done.frame.select("_time", "_taken").row(0) == (9, 1)


def test_a_row_without_its_new_event_time_is_parked() -> None:
    done = ChainRunner([Restamp(a_stream(), "n")], COLUMNS).run(
        delta({"n": None, "key": "a"}, {"n": 3}, {"n": 2**63 - 1})
    )
    assert done.frame["_time"].to_list() == [3]
    assert done.dead is not None
    assert ["EVENT_TIME_NULL" in error for error in done.dead["error"]] == [True, True]


def test_dead_letters_of_all_steps_come_together() -> None:
    def picky(row: dict[str, int]) -> dict[str, int]:
        return {"n": 10 // (row["n"] - 2)}

    gives = Schema((Field("n", INT64), Field("key", STRING)))
    made = Apply(a_stream(), "picky", lambda row: {**picky(row), "key": "a"}, "map", gives)
    done = ChainRunner([an_expectation("park"), made], COLUMNS).run(
        delta({"n": 1}, {"n": 2}, {"n": 3})
    )
    assert done.frame["n"].to_list() == [10]
    assert done.dead is not None
    assert done.dead["step"].to_list() == ["large", "picky"]


def test_numbers_that_json_cannot_say_are_written_as_text() -> None:
    rows = delta({"n": 1, "x": float("nan")}, {"n": 1, "x": 1.5}, {"n": 1, "x": float("-inf")})
    done = ChainRunner([an_expectation("park")], COLUMNS).run(rows)
    assert done.dead is not None
    assert [json.loads(row)["x"] for row in done.dead["row"]] == ["NaN", 1.5, "-inf"]
