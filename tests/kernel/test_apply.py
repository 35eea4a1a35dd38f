from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from penstock.errors import RunError
from penstock.kernel.chain import ChainResult, ChainRunner
from penstock.model.stateless import Apply, Shape
from penstock.schema.schema import Field, Schema
from penstock.schema.types import FLOAT64, INT64, STRING
from tests.kernel.frames import COLUMNS, a_stream, delta

PAIR = Schema((Field("key", STRING), Field("n", INT64)))
WORD = Schema((Field("word", STRING),))
Tuple = namedtuple("Tuple", "key n")


@dataclass
class Value:
    key: str
    n: int


def run(
    function: Callable[[Any], Any],
    shape: Shape,
    *rows: dict[str, Any],
    gives: Schema = PAIR,
) -> ChainResult:
    step = Apply(a_stream(), "mine", function, shape, gives, site="shop.py:7")
    done = ChainRunner([step], COLUMNS, id="c").run(delta(*rows))
    assert done.counts["c.0"].balanced
    return done


@pytest.mark.parametrize(
    "made",
    [
        {"key": "a", "n": 1, "extra": None},
        Value("a", 1),
        Tuple("a", 1),
        SimpleNamespace(key="a", n=1),
    ],
)
def test_a_row_may_be_a_dictionary_or_anything_with_the_columns(made: object) -> None:
    done = run(lambda _: made, "map", {"t": 5, "w": -1})
    assert done.frame.rows() == [("a", 1, -1, 5, 5)]


def test_a_function_sees_the_columns_of_the_row_and_nothing_else() -> None:
    seen: list[dict[str, Any]] = []

    def look(row: dict[str, Any]) -> bool:
        seen.append(row)
        return True

    run(look, "filter", {"key": "a", "n": 1, "x": 0.5, "mark": True})
    assert seen == [{"key": "a", "n": 1, "x": 0.5, "mark": True}]


def test_a_function_that_raises_on_one_row_parks_it_with_its_traceback() -> None:
    def picky(row: dict[str, Any]) -> dict[str, Any]:
        if row["n"] == 7:
            raise ValueError("seven is not liked")
        return {"key": "a", "n": row["n"]}

    done = run(picky, "map", *({"n": n, "t": n} for n in range(10)))
    assert done.frame["n"].to_list() == [0, 1, 2, 3, 4, 5, 6, 8, 9]
    assert done.dead is not None
    letter = done.dead.row(0, named=True)
    assert (letter["step"], letter["site"], letter["time"]) == ("mine", "shop.py:7", 7)
    assert letter["error"] == "ValueError: seven is not liked"
    assert "in picky" in letter["traceback"]
    assert "penstock/kernel" not in letter["traceback"]
    assert (done.counts["c.0"].passed, done.counts["c.0"].dead) == (9, 1)


def test_a_filter_keeps_what_the_function_says_yes_to() -> None:
    done = run(lambda row: row["n"] > 1 or None, "filter", {"n": 1}, {"n": 2}, {"n": None})
    assert done.frame["n"].to_list() == [2]
    assert done.dead is not None
    assert done.dead["error"].str.contains("TypeError").to_list() == [True]
    assert done.frame.columns == delta().columns


def test_a_flat_map_gives_any_number_of_rows_with_the_time_of_theirs() -> None:
    done = run(
        lambda row: row["key"].split(),
        "flat_map",
        {"key": "to be", "t": 1},
        {"key": "", "t": 2},
        {"key": "or", "t": 3, "w": -1},
        gives=WORD,
    )
    assert done.frame.select("word", "_weight", "_time").rows() == [
        ("to", 1, 1),
        ("be", 1, 1),
        ("or", -1, 3),
    ]
    counts = done.counts["c.0"]
    assert (counts.taken, counts.passed, counts.filtered, counts.given) == (3, 2, 1, 3)


def test_a_generator_that_raises_midway_gives_nothing_of_its_row() -> None:
    def words(row: dict[str, Any]) -> Any:  # noqa: ANN401
        yield "first"
        yield row["key"].upper()

    done = run(words, "flat_map", {"key": None}, {"key": "a"}, gives=WORD)
    assert done.frame["word"].to_list() == ["first", "A"]
    assert done.counts["c.0"].dead == 1


def test_a_result_that_does_not_fit_its_column_is_parked_and_the_rest_goes_on() -> None:
    done = run(lambda row: {"key": "a", "n": row["x"]}, "map", {"x": None}, {"x": 1.5}, {"x": None})
    assert done.frame["n"].to_list() == [None, None]
    assert done.dead is not None
    assert "VALUE_TYPE" in done.dead["error"][0]


def test_one_misfit_of_a_flat_map_takes_the_others_of_its_row_with_it() -> None:
    done = run(
        lambda row: ["a", row["n"]] if row["n"] else ["b"],
        "flat_map",
        {"n": 5},
        {"n": 0},
        gives=WORD,
    )
    assert done.frame["word"].to_list() == ["b"]
    assert done.counts["c.0"].dead == 1


def test_a_result_without_a_declared_column_is_parked() -> None:
    done = run(lambda _: {"kye": "a", "n": 1}, "map", {})
    assert done.dead is not None
    assert "RESULT_COLUMN" in done.dead["error"][0]
    assert '"key"' in done.dead["error"][0]


def test_a_function_of_polars_tables_keeps_its_rows_and_their_times() -> None:
    done = run(
        lambda table: table.select("key", n=pl.col("n") * 2),
        "polars",
        {"key": "a", "n": 1, "t": 5},
        {"key": "b", "n": 2, "t": 6},
    )
    assert done.frame.select("key", "n", "_time").rows() == [("a", 2, 5), ("b", 4, 6)]


def test_a_function_of_arrow_tables_gets_and_gives_arrow() -> None:
    def double(rows: pa.Table) -> pa.Table:
        return pa.table({"key": rows["key"], "n": pc.multiply(rows["n"], 2)})

    assert run(double, "arrow", {"key": "a", "n": 1}).frame["n"].to_list() == [2]


def test_a_result_of_a_table_function_is_cast_to_the_declared_type() -> None:
    gives = Schema((Field("n", FLOAT64),))
    done = run(lambda table: table.lazy().select("n"), "polars", {"n": 1}, gives=gives)
    assert done.frame.schema["n"] == pl.Float64


def test_a_function_of_tables_that_raises_is_asked_again_for_the_rows_it_can_take() -> None:
    def picky(table: pl.DataFrame) -> pl.DataFrame:
        if (table["n"] == 7).any():
            raise ValueError("seven is not liked")
        return table

    done = run(picky, "polars", *({"n": n, "t": n} for n in range(20)))
    assert done.frame["n"].to_list() == [n for n in range(20) if n != 7]
    assert done.dead is not None
    assert done.dead["time"].to_list() == [7]
    assert "in picky" in done.dead["traceback"][0]


def test_a_table_with_fewer_rows_is_refused_unless_it_keeps_the_control_columns() -> None:
    rows = [{"n": 1, "key": "a", "t": 1}, {"n": 2, "key": "b", "t": 2}]
    with pytest.raises(RunError, match="FUNCTION_ROWS") as caught:
        run(lambda table: table.select("key", "n").head(1), "polars", *rows)
    assert "shop.py:7" in caught.value.fact
    done = run(lambda table: table.filter(pl.col("n") == 2), "polars", *rows)
    assert done.frame.select("n", "_time").rows() == [(2, 2)]
    assert done.counts["c.0"].filtered == 1


def test_a_function_that_changes_the_control_columns_is_refused() -> None:
    with pytest.raises(RunError, match="FUNCTION_CONTROL"):
        run(lambda table: table.with_columns(_time=pl.col("_time") * 2), "polars", {"t": 5})


def test_a_function_of_tables_must_give_a_table() -> None:
    with pytest.raises(RunError, match="FUNCTION_RESULT"):
        run(lambda _: 5, "polars", {"n": 1})


@pytest.mark.parametrize("shape", ["map", "filter", "flat_map", "polars", "arrow"])
def test_no_rows_give_no_rows_with_the_right_columns(shape: Shape) -> None:
    done = run(lambda table: table, shape)
    assert done.frame.height == 0
    names = delta().columns if shape == "filter" else [*PAIR.names, "_weight", "_time", "_taken"]
    assert done.frame.columns == names
