"""A program that gives every row as it is and counts them, failing once at a commit step.

Spark's workers cannot import the tests, so this module travels to them by value.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

from pyspark import cloudpickle
from typing_extensions import override

from penstock.log.port import Appended, Log
from penstock.model.expr import Column
from penstock.model.plan import Plan, Sink
from penstock.model.stateless import Named, Project
from penstock.spark.program_options import ProgramOptions
from penstock.spark.run import Parts
from tests.faults.stopping import StoppingFormat, StoppingLevel, StoppingReader, StoppingSink
from tests.spark.faulty import FaultyLog, reach
from tests.spark.programs import by_page, visits

if TYPE_CHECKING:
    import pyarrow as pa

STEPS = (
    "offsets written",
    "level 0 done",
    "progress written",
    "after append",
    "after decide",
    "commit log not yet written",
)
"""Steps of a batch in their order; only a transaction is decided."""


class GivingLog(FaultyLog):
    """Fails in appends that are no transaction's, too."""

    def append(self, topic: str, partition: int, rows: pa.Table, **more: object) -> Appended:
        reach(self._home, "append")
        done: Appended = self._inner.append(topic, partition, rows, **more)  # type: ignore[arg-type]
        reach(self._home, "after append")
        return done


class GivingFormat(StoppingFormat):
    @classmethod
    @override
    def name(cls) -> str:
        return "giving-program"

    @staticmethod
    @override
    def log_of(home: str) -> Log:
        return cast(Log, GivingLog(home))

    @override
    def streamReader(self, schema: object) -> StoppingReader:
        return StoppingReader(ProgramOptions.from_texts(self.options), self.log_of)


GIVING = Parts(GivingFormat, StoppingLevel, StoppingSink)


def giving_program() -> Plan:
    """Every row as it came, and a count a page in windows of ten seconds."""
    source = visits()
    given = Project(source, tuple(Named(name, Column(name)) for name in ("page", "n")))
    return Plan("giving", (Sink(given, "given", ("page",)), Sink(by_page(source), "windows")))


cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
