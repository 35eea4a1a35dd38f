"""Tables that do not change are read once, when a program first starts, and kept beside it.

What a row was joined with must stay the same for as long as its program lives: another row may
take it back, and a batch may be done again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from penstock.errors import RunError
from penstock.kernel.static_rows import ARROW, static_arrow
from penstock.model.enrich import Enrich
from penstock.model.physical import Chain, Physical
from penstock.model.stateless import Stateless
from penstock.model.static_table import StaticTable
from penstock.schema.arrow_stream import fitted, stream_bytes
from penstock.spark.job_files import JobFiles, write_durably


def with_static_tables(
    physical: Physical, files: JobFiles, session: Callable[[], SparkSession]
) -> Physical:
    """Give the plan with its files and Spark's tables read; `session` is asked for only then."""
    return with_tables(physical, lambda table: _kept(table, files, session))


def with_tables(physical: Physical, changed: Callable[[StaticTable], StaticTable]) -> Physical:
    """Give the plan with other tables in the place of those that do not change."""

    def chains(old: tuple[Chain, ...]) -> tuple[Chain, ...]:
        return tuple(replace(chain, steps=tuple(map(step, chain.steps))) for chain in old)

    def step(old: Stateless) -> Stateless:
        if not isinstance(old, Enrich) or old.table.place == "held":
            return old
        return replace(old, table=changed(old.table))

    scans = tuple(replace(scan, chains=chains(scan.chains)) for scan in physical.scans)
    levels = tuple(
        tuple(replace(keyed, chains=chains(keyed.chains)) for keyed in level)
        for level in physical.levels
    )
    return replace(physical, scans=scans, levels=levels)


def _kept(table: StaticTable, files: JobFiles, session: Callable[[], SparkSession]) -> StaticTable:
    """Give the table as a file beside the checkpoint, where generations share it."""
    if table.place == "file" and Path(table.name).parent == files.static:
        return table
    known = f"{table.place} {table.name} {table.columns}"
    name = hashlib.sha256(known.encode()).hexdigest()[:16] + ARROW
    path = files.static / name
    if not path.exists():
        found = _of_spark(table, session()) if table.place == "spark" else static_arrow(table)
        write_durably(path, stream_bytes(fitted(found, table.columns)))
    return StaticTable(table.columns, "file", str(path))


def _of_spark(table: StaticTable, session: SparkSession) -> pa.Table:
    try:
        return session.table(table.name).select(*table.columns.names).toArrow()
    except AnalysisException as error:
        fact = str(error).split("\n", 1)[0]
        raise RunError(
            "STATIC_SPARK",
            f'Spark\'s table "{table.name}" does not have ({table.columns}): {fact}',
            hint="Register the table or view in the session that the program is started with.",
        ) from error
