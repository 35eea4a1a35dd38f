"""A query of the SQL catalog, as a job that is upgraded: its next version has another id."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from penstock.errors import JobError
from penstock.front.sql.statement import Started
from penstock.jobs.quiet import quiet_checkpoint
from penstock.jobs.store import job_store
from penstock.jobs.upgrade_file import Upgrade
from penstock.model.job_settings import JOB_SETTINGS, JobSettings
from penstock.model.physical import Physical
from penstock.sql.query_place import Engine, checkpoint_of, taken
from penstock.sql.running import physical_of

_VERSION = re.compile(r"(?<=_\d)_[0-9A-F]{4}$")
"""What the id of a later version has behind that of the first."""


@dataclass(frozen=True, slots=True)
class SqlQuery:
    """A query that runs; `replace` lets the catalog have the new one under the id given."""

    home: Path
    query: Started
    engine: Engine
    replace: Callable[[str], object]
    current: Callable[[], str]
    """Gives the id that the query of its name has now."""

    @property
    def name(self) -> str:
        """Its id."""
        return self.query.id

    @property
    def program(self) -> Physical:
        """What it runs."""
        return physical_of(self.query)

    @property
    def checkpoint(self) -> Path:
        """Where the query of its name remembers now."""
        return checkpoint_of(self.home, self.current()).absolute()

    @property
    def settings(self) -> JobSettings:
        """How it is run."""
        return JOB_SETTINGS

    @property
    def tables(self) -> frozenset[str]:
        """What it writes, where that is a table."""
        writes = self.query.writes
        return frozenset({writes.topic} if writes.is_table else ())

    @contextmanager
    def quiet(self, seconds: float) -> Iterator[None]:
        """Keep it from running during a block; one that a shell runs has to be ended there."""
        place = str(checkpoint_of(self.home, self.query.id))
        with (
            quiet_checkpoint(job_store(self.home), place, seconds),
            taken(self.home, self.query.id, self.engine) as ours,
        ):
            if not ours:
                raise JobError(
                    "JOB_BUSY",
                    f'query "{self.query.id}" is run by another process',
                    hint="End the shell or `penstock sql run` that runs it, or let `penstock host`"
                    " run queries.",
                )
            yield

    def next_version(self) -> tuple[str, Path]:
        """Give a mark, and where a query remembers whose id nobody has had."""
        mark = uuid4().hex[:4].upper()
        stem = _VERSION.sub("", self.query.id)
        checkpoint = checkpoint_of(self.home, f"{stem}_{mark}")
        checkpoint.mkdir(parents=True, exist_ok=True)
        (checkpoint / "engine").write_text(self.engine)
        return f"v{mark}", checkpoint.absolute()

    def switch(self, physical: Physical, upgrade: Upgrade) -> None:
        """Let the catalog have the new query: one entry decides."""
        del physical
        self.replace(Path(upgrade.checkpoint).name)
