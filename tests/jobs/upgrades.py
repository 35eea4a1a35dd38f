"""A shop whose totals are kept by a job, and short ways to run it and to read what it wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from penstock.inline.versions import InlineEngine
from penstock.jobs.definition import Definition, checkpoint_of
from penstock.jobs.definitions import definition_store
from penstock.jobs.submit import Submission, job_program, submit
from penstock.jobs.takeover import Rebuild
from penstock.jobs.upgrade import Choice, judge, upgrade
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Call, Column, Literal
from penstock.model.job_settings import JOB_SETTINGS, JobSettings
from penstock.model.measure import Function, Measure
from penstock.model.physical import Physical, Settings
from penstock.model.plan import Plan, Sink
from penstock.model.refine import Refinement
from penstock.model.source import Stream
from penstock.model.stateless import Filter
from penstock.model.store import Store
from penstock.plan.planner import plan
from penstock.plan.verdict import Verdict
from penstock.schema.arrow import from_arrow

SALES = pa.schema([("region", pa.string()), ("amount", pa.int64())])
Row = dict[str, Any]


def sales(least: int = 0) -> Filter:
    stream = Stream("sales", from_arrow(SALES))
    return Filter(stream, Call("gt", (Column("amount"), Literal(least))))


def totals(least: int = 0, measure: Function = "sum") -> Aggregate:
    measures = (Measure("total", measure, (Column("amount"),)),)
    return Aggregate(sales(least), ("region",), measures, refinement=Refinement("retracting"))


def shop(
    least: int = 0, *more: Sink, measure: Function = "sum", store: Store | None = None
) -> Physical:
    """Totals of a region as a table and as a changelog, and the sales themselves."""
    kept = totals(least, measure)
    sinks = [Sink(kept, "totals", ("region",), upsert=True), Sink(kept, "changes")]
    sinks += [Sink(sales(least), "sold"), *more]
    if store is not None:
        sinks.append(Sink(kept, "stored", ("region",), upsert=True, store=store))
    return plan(Plan("shop", tuple(sinks)), Settings())


@dataclass(frozen=True)
class Shop:
    """The job in its home."""

    home: Path
    name: str = "shop"

    @property
    def engine(self) -> InlineEngine:
        return InlineEngine(self.home)

    @property
    def definition(self) -> Definition:
        return definition_store(self.home).get(self.name)

    def sell(self, *amounts: int, regions: Sequence[str] = ("north", "south", "west")) -> None:
        """Sell once for each amount, to one region after the other."""
        rows = [
            {"region": regions[n % len(regions)], "amount": amount}
            for n, amount in enumerate(amounts)
        ]
        with open_log(self.home) as log:
            if "sales" not in log.topics():
                log.create_topic("sales", partitions=2, schema=SALES)
            for partition in range(2):
                share = rows[partition::2]
                if share:
                    log.append("sales", partition, pa.Table.from_pylist(share, SALES))

    def submit(self, physical: Physical, settings: JobSettings = JOB_SETTINGS) -> None:
        submit(self.home, physical, Submission(name=self.name, settings=settings))

    def run(self) -> None:
        """Let the job read all there is, as its host would."""
        definition = self.definition
        program = job_program(self.home, definition)
        checkpoint = checkpoint_of(self.home, definition)
        self.engine.run(program, checkpoint, how=definition.settings)

    def judge(self, physical: Physical, choice: Choice = Choice()) -> Verdict:  # noqa: B008
        settings = self.definition.settings
        return judge(self.home, self.name, physical, settings, self.engine, choice)

    def upgrade(
        self,
        physical: Physical,
        how: Rebuild | None = None,
        choice: Choice = Choice(),  # noqa: B008
    ) -> Verdict:
        found = self.judge(physical, choice)
        upgrade(self.home, self.name, physical, found, self.engine, how or Rebuild())
        return found

    def table(self, topic: str = "totals") -> dict[str, int]:
        """The table that a topic holds: the last record of each key that is no tombstone."""
        found: dict[str, int] = {}
        for row in self.records(topic):
            key = row["_key"].decode()
            found.pop(key, None)
            if not row["_deleted"]:
                found[key] = row["total"]
        return dict(sorted(found.items()))

    def changelog(self, topic: str = "changes") -> dict[tuple[str, int], int]:
        """What a changelog adds up to."""
        found: dict[tuple[str, int], int] = {}
        for row in self.records(topic):
            key = (row["region"], row["total"])
            found[key] = found.get(key, 0) + row["_weight"]
        return {key: count for key, count in sorted(found.items()) if count}

    def records(self, topic: str) -> list[Row]:
        rows: list[Row] = []
        with open_log(self.home) as log:
            for at, bound in sorted(log.snapshot([topic]).items()):
                offset = bound.start
                while offset < bound.end:
                    chunk = log.read(*at, offset, ReadLimit(stop=bound.end))
                    rows += chunk.rows.to_pylist()
                    offset = chunk.next_offset
        return rows

    def topics(self) -> tuple[str, ...]:
        with open_log(self.home) as log:
            return log.topics()
