"""What follows the reading of a batch that is more than one task's: its levels, on Spark.

Of a query Spark itself plans the reading only, as most batches are a whole: one task reads them and
takes them through all levels. The end of any other batch takes what is read through an exchange
and a function a level. These stages are planned once; what changes is the rows that go in.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.functions import lit, nullif

from penstock.model.physical import Physical
from penstock.spark.chains import Chains
from penstock.spark.jvm.collect import collected, tasks_of
from penstock.spark.level import Level
from penstock.spark.program_format import PACKETS_DDL
from penstock.spark.program_options import ProgramOptions


class Levels:
    """The levels of one program as stages of Spark."""

    def __init__(self, physical: Physical, options: ProgramOptions, level: type[Level]) -> None:
        self._physical = physical
        self._options = options
        self._level = level
        self._planned: DataFrame | None = None
        self._read: DataFrame | None = None

    def packets(self, rows: DataFrame) -> list[bytes]:
        """Run a batch, of which Spark has planned the reading, and give what it leaves."""
        self._read = rows
        if self._is_read_only(rows):
            found = collected(rows)
            # Where results are staged by who reads, packets are few and short.
            return _rows(rows) if found is None else found
        found = collected(rows, self._plan(rows))
        return _columns(self.after(rows)) if found is None else found

    def explain(self) -> str:
        """Give Spark's plan of what follows the reading; nothing before the first batch."""
        if self._read is None or self._ends_read:
            return ""
        planned: Any = self._plan(self._read)
        execution = planned._jdf.queryExecution()  # noqa: SLF001  # PySpark only prints it
        return str(execution.simpleString())

    def after(self, rows: DataFrame) -> DataFrame:
        """Give the stages of all levels after some rows."""
        frame = self._followed(rows)
        for number in range(len(self._physical.levels)):
            if number and self._physical.settings.fuse:
                # Rows as Python gives them cannot be exchanged as they are (ClassCastException): a
                # projection that Spark cannot leave out makes them into its own.
                frame = frame.select(nullif("slot", lit(-1)).alias("slot"), "blob")
            shared_out = frame.repartition(self._physical.settings.parallelism, "slot")
            frame = shared_out.mapInArrow(self._level.of(self._options, number), PACKETS_DDL)
            frame = self._followed(frame)
        return frame

    def _plan(self, rows: DataFrame) -> DataFrame:
        if self._planned is None:
            self._planned = self.after(rows)
        return self._planned

    @property
    def _ends_read(self) -> bool:
        """Whether a program has nothing after the reading."""
        return not self._physical.levels and self._physical.settings.fuse

    def _is_read_only(self, rows: DataFrame) -> bool:
        """Whether nothing follows the reading: in the program, or after a task that did it all."""
        if self._ends_read:
            return True
        return self._options.whole_rows is not None and tasks_of(rows) == 1

    def _followed(self, frame: DataFrame) -> DataFrame:
        """Add a stage for chains where they are not fused into the stage before."""
        if self._physical.settings.fuse:
            return frame
        options = self._options
        chains = Chains(options.program, options.home, options.staging, options.frames)
        return frame.mapInArrow(chains, PACKETS_DDL)


def _columns(found: Any) -> list[bytes]:  # noqa: ANN401  # PySpark takes it for a column
    # For what may be long: of rows the JVM makes texts byte by byte.
    batches = found._collect_as_arrow()  # noqa: SLF001  # `toArrow` asks the JVM for more
    return [blob for batch in batches for blob in batch.column("blob").to_pylist()]


def _rows(found: DataFrame) -> list[bytes]:
    return [row["blob"] for row in found.collect()]
