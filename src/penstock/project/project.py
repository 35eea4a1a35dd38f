"""A project directory: what it says there is to be, and how that is brought about."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from penstock.config import HOME
from penstock.errors import JobError, UsageError
from penstock.jobs.engine import Engine
from penstock.jobs.takeover import REBUILD, Rebuild
from penstock.jobs.upgrade import CHOICE, Choice
from penstock.project.apply_jobs import apply_job, settle_all
from penstock.project.apply_queries import apply_query, clean_queries
from penstock.project.change import Change
from penstock.project.plan_jobs import Around, plan_jobs
from penstock.project.plan_queries import QueryChange, plan_queries
from penstock.project.python_jobs import python_jobs
from penstock.spark.shadow.run import SparkEngine
from penstock.sql.session import SqlSession


@dataclass(frozen=True, slots=True)
class Asked:
    """How a project is applied: to jobs in how many tasks, and whether those gone are removed."""

    choice: Choice = CHOICE
    parallelism: int | None = None
    prune: bool = False


class Project:
    """A directory with `penstock.toml`, Python files and SQL files, and the home it is for."""

    def __init__(
        self,
        directory: Path,
        home: Path,
        asked: Asked | None = None,
        engine: Engine | None = None,
    ) -> None:
        self._directory = directory.absolute()
        self._home = home.absolute()
        self._asked = asked or Asked()
        self._engine = engine or SparkEngine(self._home)
        self._session: SqlSession | None = None
        if not self._directory.is_dir():
            raise UsageError(
                "PROJECT_DIRECTORY",
                f'"{directory}" is no directory',
                hint="Give one with Python files that have applications, or with SQL files.",
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def plan(self) -> tuple[Change, ...]:
        """Say what would be done with each job; nothing is touched."""
        with self._inside():
            jobs = python_jobs(self._directory)
            queries = self._queries()
            around = Around(
                choice=self._asked.choice,
                parallelism=self._asked.parallelism,
                writers=self._writers(queries),
            )
            changes = plan_jobs(self._home, self._directory, jobs, self._engine, around)
            return (*queries, *changes)

    def apply(self, changes: tuple[Change, ...], how: Rebuild = REBUILD) -> Iterator[str]:
        """Do what is to be done, and say each thing done; what is refused is left as it is."""
        for change in changes:
            if change.does == "refuse" or (change.does == "remove" and not self._asked.prune):
                continue
            if isinstance(change, QueryChange):
                with self._inside():
                    told = apply_query(self._catalog, self._home, change, how)
            else:
                told = apply_job(self._home, change, self._engine, how)
            if change.drifts:
                yield told

    def settle(self) -> tuple[str, ...]:
        """Finish what a crash cut short; give the jobs that it was done for."""
        done = settle_all(self._home)
        if self._has_queries:
            clean_queries(self._catalog, self._home)
        return done

    def _queries(self) -> tuple[QueryChange, ...]:
        if not self._has_queries:
            return ()
        return plan_queries(self._catalog, self._home, self._directory, self._asked.choice)

    def _writers(self, planned: tuple[QueryChange, ...]) -> dict[str, str]:
        """Give the topics that queries write, those there are and those there will be."""
        there = self._catalog.definitions().queries.values() if self._has_queries else ()
        coming = (change.after for change in planned if change.after is not None)
        return {query.writes.topic: query.id for query in (*there, *coming)}

    @property
    def _has_queries(self) -> bool:
        return any(self._directory.glob("**/*.sql"))

    @property
    def _catalog(self) -> SqlSession:
        if self._session is None:
            self._session = SqlSession(self._home)
        return self._session

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """Let programs find the settings of the project, and the home that was chosen."""
        before = os.environ.get(HOME.variable)
        os.environ[HOME.variable] = str(self._home)
        try:
            with contextlib.chdir(self._directory):
                yield
        finally:
            if before is None:
                del os.environ[HOME.variable]
            else:
                os.environ[HOME.variable] = before


def require_done(changes: tuple[Change, ...]) -> None:
    """Refuse where something was: the rest is done."""
    refused = [change for change in changes if change.does == "refuse"]
    if refused:
        raise JobError(
            "UPGRADE_REFUSED",
            f'job "{refused[0].name}" cannot become what the project says: {refused[0].reason}',
            hint="Give it another name, so that it is another job beside the one that runs.",
        )
