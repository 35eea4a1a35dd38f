from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from penstock.errors import ModelError, RunError
from penstock.front.dsl.static import enriched, spark_table, static
from penstock.kernel.chain import ChainRunner
from penstock.kernel.columns import from_rows, with_control
from penstock.kernel.port import Frame
from penstock.model.enrich import Enrich, EnrichHow
from penstock.model.expr import Call, Column, Literal
from penstock.model.latest import Latest
from penstock.model.physical import Settings
from penstock.model.plan import Plan, Sink
from penstock.model.source import Stream
from penstock.model.stateless import Filter, Named, Project
from penstock.model.table_key import table_key
from penstock.plan.fingerprint import fingerprint
from penstock.plan.planner import plan
from penstock.schema.schema import Field, Schema
from penstock.schema.types import FLOAT64, INT32, INT64, STRING
from penstock.testing.driver import TestDriver

COLUMNS = Schema((Field("code", STRING), Field("n", INT64)))
COUNTRIES = [
    {"code": "de", "name": "Germany"},
    {"code": "fr", "name": "France"},
    {"code": None, "name": "nowhere"},
]


def a_stream() -> Stream:
    return Stream("in", COLUMNS)


def rows(*given: tuple[str | None, int]) -> Frame:
    frame = from_rows([{"code": code, "n": n} for code, n in given], COLUMNS)
    return with_control(frame, time=pl.col("n"))


def run(step: Enrich, frame: Frame) -> list[Any]:
    done = ChainRunner([step], COLUMNS, id="c").run(frame)
    assert done.counts["c.0"].balanced
    return done.frame.select(step.schema.names).rows()


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("inner", [("fr", 2, "France"), ("de", 4, "Germany")]),
        ("left", [("it", 1, None), ("fr", 2, "France"), (None, 3, None), ("de", 4, "Germany")]),
        ("semi", [("fr", 2), ("de", 4)]),
        ("anti", [("it", 1), (None, 3)]),
    ],
)
def test_rows_meet_those_of_the_table_and_no_null_meets_another(
    how: EnrichHow, expected: list[Any]
) -> None:
    step = enriched(a_stream(), COUNTRIES, "code", how)
    assert run(step, rows(("it", 1), ("fr", 2), (None, 3), ("de", 4))) == expected


def test_a_row_meets_every_row_of_the_table_in_their_order() -> None:
    table = [{"code": "de", "city": city} for city in ("Kiel", "Bonn")]
    step = enriched(a_stream(), table, "code", "left")
    frame = rows(("de", 1), ("fr", 2), ("de", 3))
    done = ChainRunner([step], COLUMNS, id="c").run(frame)
    assert done.frame.select("n", "city", "_time").rows() == [
        (1, "Kiel", 1),
        (1, "Bonn", 1),
        (2, None, 2),
        (3, "Kiel", 3),
        (3, "Bonn", 3),
    ]
    inner = ChainRunner([enriched(a_stream(), table, "code")], COLUMNS, id="c").run(frame)
    counts = inner.counts["c.0"]
    assert (counts.taken, counts.passed, counts.filtered, counts.given) == (3, 2, 1, 4)


def test_weights_and_times_go_with_their_rows() -> None:
    step = enriched(a_stream(), COUNTRIES, "code")
    frame = rows(("de", 7)).with_columns(pl.lit(-1, pl.Int32).alias("_weight"))
    done = ChainRunner([step], COLUMNS).run(frame)
    assert done.frame.select("_weight", "_time", "_taken").rows() == [(-1, 7, 7)]


def test_keys_have_other_names_and_whole_numbers_any_size() -> None:
    table = static(
        [{"id": 1, "n": 10, "note": "one"}], schema={"id": INT32, "n": INT64, "note": str}
    )
    step = enriched(a_stream(), table, {"n": "id"}, "left")
    assert step.schema.names == ("code", "n", "id", "n_right", "note")
    assert run(step, rows(("a", 1), ("b", 2))) == [
        ("a", 1, 1, 10, "one"),
        ("b", 2, None, None, None),
    ]


def test_a_number_that_is_none_meets_itself() -> None:
    known = Schema((Field("x", FLOAT64),))
    table = pl.DataFrame({"x": [1.0, float("nan")], "name": ["one", "none"]})
    step = enriched(Stream("in", known), table, "x")
    frame = with_control(pl.DataFrame({"x": [float("nan"), 1.0]}), time=pl.lit(0))
    done = ChainRunner([step], known).run(frame)
    assert done.frame["name"].to_list() == ["none", "one"]


def test_no_rows_give_none() -> None:
    step = enriched(a_stream(), COUNTRIES, "code", "left")
    assert run(step, rows()) == []


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_files_are_read_where_the_program_runs(tmp_path: Path, suffix: str) -> None:
    known = pl.DataFrame({"code": ["de", "fr"], "area": [357, 643]})
    path = tmp_path / f"countries.{suffix}"
    table = static(path, schema={"code": str, "area": int})
    name = "ndjson" if suffix == "jsonl" else suffix
    getattr(known, f"write_{name}")(path)
    assert run(enriched(a_stream(), table, "code"), rows(("fr", 1))) == [("fr", 1, 643)]


def test_a_table_of_spark_needs_spark() -> None:
    table = spark_table("countries", schema={"code": str})
    with pytest.raises(RunError, match="STATIC_SPARK"):
        run(enriched(a_stream(), table, "code"), rows(("fr", 1)))


def test_a_program_carries_its_rows_and_is_known_by_them() -> None:
    def physical(table: object) -> Any:  # noqa: ANN401
        step = enriched(a_stream(), table, "code")
        return plan(Plan("p", (Sink(step, "out"),)))

    frame = pl.DataFrame(COUNTRIES)
    assert fingerprint(physical(COUNTRIES)) == fingerprint(physical(frame.to_arrow()))
    assert fingerprint(physical(COUNTRIES)) != fingerprint(physical(COUNTRIES[:2]))
    again = pickle.loads(pickle.dumps(physical(COUNTRIES)))
    assert fingerprint(again) == fingerprint(physical(COUNTRIES))


def test_a_program_reads_only_the_columns_that_are_asked_for() -> None:
    step = enriched(a_stream(), COUNTRIES, "code", "left")
    named = Project(step, (Named("name", Column("name")),))
    physical = plan(Plan("p", (Sink(named, "out"),)))
    assert physical.scans[0].columns == ("code",)
    assert not physical.levels
    driver = TestDriver(Plan("p", (Sink(named, "out"),)), settings=Settings(buckets=3))
    driver.push("in", [{"code": "de", "n": 1}, {"code": "it", "n": 1}])
    assert driver.rows("out") == [{"name": "Germany"}, {"name": None}]


def test_rows_are_joined_before_and_after_what_else_is_done_with_them() -> None:
    wanted = Filter(a_stream(), Call("gt", (Column("n"), Literal(1))))
    first = enriched(wanted, COUNTRIES, "code", "left")
    second = enriched(first, pa.table({"name": ["France"], "capital": ["Paris"]}), "name", "left")
    driver = TestDriver(Plan("p", (Sink(second, "out"),)))
    driver.push("in", [{"code": "de", "n": 1}, {"code": "fr", "n": 2}, {"code": "de", "n": 3}])
    assert [(row["n"], row["capital"]) for row in driver.rows("out")] == [(2, "Paris"), (3, None)]


def test_a_join_needs_a_key_of_one_type() -> None:
    with pytest.raises(ModelError, match="JOIN_KEY"):
        enriched(a_stream(), COUNTRIES, [])
    with pytest.raises(ModelError, match="JOIN_TYPES"):
        enriched(a_stream(), COUNTRIES, {"n": "code"})


def test_a_table_stays_one_where_its_rows_are_only_chosen() -> None:
    table = Latest(a_stream(), ("code",))
    assert table_key(enriched(table, COUNTRIES, "code", "semi")) == ("code",)
    assert table_key(enriched(table, COUNTRIES, "code", "left")) is None
