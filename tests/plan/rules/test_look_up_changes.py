from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from penstock.model.aggregate import Aggregate
from penstock.model.expr import Call, Column, Literal
from penstock.model.join import Join, Pick
from penstock.model.join_bound import AsOf, Whole
from penstock.model.latest import Latest, Order
from penstock.model.measure import Measure
from penstock.model.plan import Plan, Sink
from penstock.model.refine import Refinement
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Expect, Filter, Named, Project, Rekey, Retire
from penstock.model.versions import VALID_FROM, VALID_TO, Versions
from penstock.plan.planner import plan
from penstock.plan.rules.look_up_changes import look_up_changes
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, STRING
from penstock.testing.driver import TestDriver

COLUMNS = Schema((Field("k", STRING), Field("v", INT64), Field("at", INT64), Field("x", INT64)))
BIG = Call("gt", (Column("v"), Literal(5)))
BY_TIME = AsOf("event time")


def a_stream(topic: str = "rates", *, changelog: bool = False) -> Stream:
    return Stream(topic, COLUMNS, "at", changelog=changelog)


def a_table(order: Order = "arrival") -> Latest:
    return Latest(replace(a_stream(), key=("k",)), ("k",), order)


def a_join(table: Relation, bound: AsOf = BY_TIME) -> Join:
    picks = (Pick("k", "k", "k"), Pick("n", "v"), Pick("v", None, "v"))
    return Join(a_stream("orders"), table, (("k", "k"),), "left", bound, picks)


def test_a_lookup_reads_what_the_table_is_made_of() -> None:
    for bound in (BY_TIME, AsOf()):
        join = a_join(a_table(), bound)
        assert look_up_changes(join) == replace(join, right=a_table().source)
    versions = Versions(a_table("event time"), ("k",))
    assert look_up_changes(versions) == Versions(a_table().source, ("k",))


def test_a_filter_of_the_table_deletes_what_it_does_not_let_pass() -> None:
    table = Rekey(Filter(a_table(), BIG), ("k",))
    better = look_up_changes(a_join(table))
    assert isinstance(better, Join)
    assert better.right == Rekey(Retire(a_table().source, BIG), ("k",))


def test_columns_of_the_table_are_computed_of_its_changes() -> None:
    names = ("k", "v")
    table = Project(a_table(), tuple(Named(name, Column(name)) for name in names))
    better = look_up_changes(a_join(table))
    assert isinstance(better, Join)
    assert better.right == replace(table, source=a_table().source)


@pytest.mark.parametrize(
    ("table", "bound"),
    [
        # By arrival the row with the latest event time is known to the table alone.
        (a_table("event time"), AsOf()),
        # What other rows may come back for, if one is taken back.
        (Latest(a_stream(changelog=True), ("k",)), AsOf()),
        (Expect(a_table(), "big", BIG), BY_TIME),
        (
            Latest(
                Aggregate(
                    a_stream(),
                    ("k",),
                    (Measure("v", "count"),),
                    refinement=Refinement("retracting"),
                ),
                ("k",),
            ),
            BY_TIME,
        ),
    ],
)
def test_a_table_that_knows_more_than_its_changes_stays(table: Relation, bound: AsOf) -> None:
    join = a_join(table, bound)
    assert look_up_changes(join) is join


def test_a_changelog_tells_its_versions_itself() -> None:
    source = a_stream(changelog=True)
    better = look_up_changes(a_join(Filter(Latest(source, ("k",)), BIG)))
    assert isinstance(better, Join)
    assert better.right == Filter(source, BIG)


def test_a_join_of_tables_and_other_steps_stay() -> None:
    join = replace(a_join(a_table()), left=a_table(), bound=Whole())
    assert look_up_changes(join) is join
    assert look_up_changes(a_table()) == a_table()


def test_a_lookup_is_one_operator_and_reads_the_columns_it_needs() -> None:
    physical = plan(Plan("p", (Sink(a_join(a_table()), "out"),)))
    assert [keyed.id for keyed in physical.operators] == ["join-1"]
    assert {scan.stream.topic: scan.columns for scan in physical.scans} == {
        "orders": ("k", "v"),
        "rates": ("k", "v"),
    }


def test_a_filtered_table_ends_a_version_in_the_middle_of_a_batch() -> None:
    bound = AsOf("event time", keep=timedelta(1))
    driver = TestDriver(Plan("p", (Sink(a_join(Filter(a_table(), BIG), bound), "out"),)))
    rates = [(7, 1), (3, 2), (9, 3)]
    driver.push("rates", [{"k": "a", "v": v, "at": at} for v, at in rates])
    driver.push("orders", [{"k": "a", "v": at, "at": at} for at in (0, 1, 2, 3)])
    assert [(row["n"], row["v"]) for row in driver.rows("out")] == [
        (0, None),
        (1, 7),
        (2, None),
        (3, 9),
    ]
    driver.push("rates", [{"k": "a", "at": 4, "_weight": -1}])
    driver.push("orders", [{"k": "a", "v": 4, "at": 4}])
    assert driver.rows("out")[-1] == {"k": "a", "n": 4, "v": None}


def test_versions_looked_up_keep_the_times_that_they_are_valid_at() -> None:
    join = a_join(Versions(a_table(), ("k",)), AsOf("event time", corrected=True))
    physical = plan(Plan("p", (Sink(join, "out"),)))
    (kept,) = (keyed for keyed in physical.operators if keyed.id == "join-1")
    assert kept.relation.inputs[1].schema.names == ("k", "v", VALID_FROM, VALID_TO)
    assert [keyed.id for keyed in physical.operators] == ["versions-1", "join-1"]
