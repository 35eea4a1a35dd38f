"""Checks of single facts of the model: windows of rows, sessions by key, one transform."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.model.aggregate import Aggregate
from penstock.model.expr import Column
from penstock.model.measure import Measure
from penstock.model.plan import Plan, Sink
from penstock.model.stateless import Apply
from penstock.schema.types import INT64
from tests.conformance.dataflow_compare import in_order, span_of
from tests.conformance.dataflow_program import KEY, Recipe, row, source
from tests.conformance.dataflow_time import moment
from tests.conformance.dataflow_window import windows_of
from tests.conformance.dataflow_words import VALUE, window_of
from tests.conformance.engine import OUTPUT
from tests.conformance.engines import start
from tests.conformance.runner import Case, Check, Engine, same


@dataclass(frozen=True, slots=True)
class Facts:
    """The checks on one engine."""

    engine: Engine

    def check_window_assign(self, case: Case) -> None:
        """Ask for the windows of each element."""
        window = window_of(case.given["window"])
        got = [
            (value, found)
            for _, value, time in case.given["elements"]
            for found in windows_of(window, moment(time))
        ]
        wanted = [(value, span_of(found)) for value, found in case.expect["assigned"]]
        same(sorted(got), sorted(wanted), "windows")

    def check_session_group(self, case: Case) -> None:
        """Group elements by key and session."""
        recipe = Recipe(window_of(case.given["window"]), aggregate="list")
        elements = case.given["elements"]
        run = start(self.engine, recipe.plan([value for _, value, _ in elements]))
        run.push([row(key, value, moment(time)) for key, value, time in elements])
        run.finish()
        panes = run.take()
        got = [(pane.row[KEY], pane.window, in_order(pane.value)) for pane in panes]
        wanted = [
            (item["key"], span_of(item["window"]), in_order(item["values"]))
            for item in case.expect["groups"]
        ]
        same(sorted(got), sorted(wanted), "groups")
        if "end of window" in case.expect.get("output_timestamp", ""):
            same([pane.time for pane in panes], [pane.window[1] - 1 for pane in panes], "times")

    def check_transform(self, case: Case) -> None:
        """Expand each key into its prefixes, then group by key."""
        elements = case.given["elements"]
        stream = source(INT64)
        expanded = Apply(stream, "prefixes", _prefixes, "flat_map", stream.schema)
        collected = Measure(VALUE, "collect_list", (Column(VALUE),))
        grouped = Aggregate(expanded, (KEY,), (collected,), window_of({"global": {}}))
        rows = [row(key, value, 0) for key, value in elements]
        for relation, name in ((expanded, "after_pardo"), (grouped, "after_gbk")):
            run = start(self.engine, Plan("conformance", (Sink(relation, OUTPUT),)))
            run.push(rows)
            run.finish()
            got = [[pane.row[KEY], pane.value] for pane in run.take()]
            wanted = case.expect[name]
            pairs = [list(item) for item in wanted.items()] if isinstance(wanted, dict) else wanted
            same(sorted(got), sorted(pairs), name)


def _prefixes(given: dict[str, Any]) -> list[dict[str, Any]]:
    key = given[KEY]
    return [{**given, KEY: key[: length + 1]} for length in range(len(key))]


def fact_checks(engine: Engine) -> Mapping[str, Check]:
    """Give the checks on one engine."""
    facts = Facts(engine)
    return {
        "window_assign": facts.check_window_assign,
        "session_group": facts.check_session_group,
        "transform": facts.check_transform,
    }
