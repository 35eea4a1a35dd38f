"""`python -m bench.nexmark.ours`: our engine as a process that runs a query for each line it reads.

Requests and replies are JSON, as bench/nexmark/harness.py sends and takes them.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any

# Before Arrow is loaded, as in a program that imports it alone.
import penstock as ps

# isort: split
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from bench.nexmark.outcome import count_of, rows_of
from bench.nexmark.programs import PROGRAMS, Program
from bench.nexmark.stateful_programs import PROGRAMS as STATEFUL
from bench.nexmark.stateful_programs import StatefulProgram
from bench.nexmark.statements import started
from penstock.errors import PenstockError, TopicError
from penstock.log.open import open_log
from penstock.log.port import Log
from penstock.model.job_settings import JOB_SETTINGS, JobSettings
from penstock.model.physical import Physical, Settings
from penstock.plan.planner import plan
from penstock.spark.admission import BatchLimits
from penstock.spark.run import start
from penstock.spark.session import spark_session, stop_session
from penstock.sql.running import physical_of, tables_first
from penstock.sql.topics import ensure_result_topic

_HELLO = {
    "engine": "penstock",
    "version": version("penstock"),
    "durability": "exactly once: results, offsets and state in one transaction a batch, synced",
    "input": "typed topics of the embedded log",
    "emission": "a batch: results of windows when they close, changes of tables once a key",
    "results": "a topic of the embedded log, with the offsets and the state in one transaction",
}


@dataclass(frozen=True, slots=True)
class Prepared:
    """A query ready to run: its plan, whether it leaves a table, and what it must know first."""

    physical: Physical
    table: bool
    first: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Engine:
    """One session, and a place for checkpoints."""

    spark: SparkSession
    scratch: Path
    numbers: count[int] = field(default_factory=count)

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Run a query to the end; say how long it took, or why it cannot be."""
        query, folder = request["query"], Path(request["events"])
        home = folder / "log"
        topic = f"{query}-{os.getpid()}-{next(self.numbers)}"
        with open_log(home) as log:
            try:
                made = _prepared(request, log, topic)
            except KeyError:
                return {"refused": f"{query} is not written in this form"}
            try:
                reply = self._run(made, log, home, topic, request)
                if request.get("results") is not None:
                    kept = Path(request["results"])
                    kept.mkdir(parents=True, exist_ok=True)
                    rows = rows_of(log, topic, table=made.table)
                    pq.write_table(rows, kept / f"{query}.parquet")
                return reply
            finally:
                _forget(log, topic)

    def _run(
        self, made: Prepared, log: Log, home: Path, topic: str, request: Mapping[str, Any]
    ) -> dict[str, Any]:
        first: list[float] = []

        def note(_: object) -> None:
            if not first and count_of(log, topic):
                first.append(time.perf_counter() - began)

        checkpoint = self.scratch / topic
        began = time.perf_counter()
        query = start(
            made.physical,
            home=home,
            checkpoint=checkpoint,
            session=self.spark,
            bounded=True,
            how=_how(request),
            limits=None if request.get("last") else BatchLimits(rows=request.get("batch")),
            on_progress=note,
            first=made.first,
        )
        query.await_end()
        taken = time.perf_counter() - began
        shutil.rmtree(checkpoint, ignore_errors=True)
        return {
            "seconds": taken,
            "first": first[0] if first else None,
            "rows": count_of(log, topic),
        }


def _how(request: Mapping[str, Any]) -> JobSettings:
    last = request.get("last")
    return JobSettings(latency=timedelta(milliseconds=last)) if last else JOB_SETTINGS


def _prepared(request: Mapping[str, Any], log: Log, topic: str) -> Prepared:
    query, folder = request["query"], Path(request["events"])
    settings = Settings(buckets=request["buckets"]) if request.get("buckets") else Settings()
    if request.get("form") == "dsl":
        programs: dict[str, Program | StatefulProgram] = {**PROGRAMS, **STATEFUL}
        program = programs[query]
        app = ps.App(topic)
        program.build(app, topic, folder)
        return Prepared(plan(app.plan(), settings), program.table)
    made = started(query, log, folder, topic)
    ensure_result_topic(log, made)
    return Prepared(physical_of(made, settings), made.writes.is_table, tables_first(made))


def _forget(log: Log, topic: str) -> None:
    for name in (topic, f"{topic}.late", f"{topic}.dead"):
        with suppress(TopicError):
            log.delete_topic(name)


def serve(reply: Callable[[Mapping[str, Any]], None]) -> None:
    """Answer requests until told to stop, or until there are no more."""
    reply(_HELLO)
    scratch = Path(tempfile.mkdtemp(prefix="nexmark-ours-"))
    engine = Engine(spark_session(), scratch)
    try:
        for line in sys.stdin:
            request = json.loads(line)
            if request.get("stop"):
                break
            try:
                reply(engine.answer(request))
            except PenstockError as error:
                reply({"refused": f"[{error.code}] {error.fact} {error.hint or ''}".strip()})
    finally:
        stop_session()
        shutil.rmtree(scratch, ignore_errors=True)


def main() -> None:
    """Speak on stdout; whatever else is printed goes to stderr."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def reply(said: Mapping[str, Any]) -> None:
        print(json.dumps(said), file=out, flush=True)

    serve(reply)


if __name__ == "__main__":
    main()
