"""The plan that Spark made of a run, kept beside its progress: any process can show it."""

from __future__ import annotations

from contextlib import suppress
from typing import Protocol

from penstock.errors import PenstockError
from penstock.jobs.record import JobRecord
from penstock.jobs.store import JobStore


class Explained(Protocol):
    """What knows its plan, once a batch has run."""

    def explain(self) -> str:
        """Give the plan that Spark made; nothing where it is not run by Spark."""


class KeptPlan:
    """Keeps the plan of a run once; it is the same for all of its batches."""

    def __init__(self, store: JobStore, record: JobRecord, query: Explained) -> None:
        self._store = store
        self._record = record
        self._query = query
        self._kept = False

    def keep(self) -> None:
        """Keep it where a batch has run since the last look."""
        if self._kept or self._record.batch < 0:
            return
        # A plan that nobody can read yet, or a full disk, ends no job: the next look tries again.
        with suppress(PenstockError):
            text = self._query.explain()
            if text:
                self._store.write_spark_plan(self._record.job.id, text)
            self._kept = True
