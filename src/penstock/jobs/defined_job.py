"""A job of a definition, as one that is upgraded."""

from __future__ import annotations

import shutil
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from penstock.jobs.control import event
from penstock.jobs.definition import Definition, checkpoint_of
from penstock.jobs.definitions import definition_store
from penstock.jobs.quiet import quiet
from penstock.jobs.submit import job_program, put_version
from penstock.jobs.upgrade_file import Upgrade
from penstock.model.job_settings import JobSettings
from penstock.model.physical import Physical
from penstock.spark.retired import is_retired


@dataclass(frozen=True, slots=True)
class DefinedJob:
    """A job by its name; what is asked of it is looked up each time."""

    home: Path
    name: str

    @property
    def definition(self) -> Definition:
        """What it is meant to be."""
        return definition_store(self.home).get(self.name)

    @property
    def program(self) -> Physical:
        """What it runs now."""
        return job_program(self.home, self.definition)

    @property
    def checkpoint(self) -> Path:
        """Where it remembers now."""
        return checkpoint_of(self.home, self.definition)

    @property
    def settings(self) -> JobSettings:
        """How it is run."""
        return self.definition.settings

    @property
    def tables(self) -> frozenset[str]:
        """None: each sink says what it is."""
        return frozenset()

    def quiet(self, seconds: float) -> AbstractContextManager[object]:
        """Keep it from running during a block."""
        return quiet(self.home, self.name, seconds)

    def next_version(self) -> tuple[str, Path]:
        """Give the mark of its next version, and where that is to remember."""
        self._forget_retired()
        mark = f"v{max(definition_store(self.home).versions(self.name), default=0) + 1}"
        # A name of its own for each attempt: transactions remember those that were given up.
        name = f"{self.name}.{mark}-{uuid4().hex[:8]}"
        return mark, (self.home / "jobs" / name).absolute()

    def switch(self, physical: Physical, upgrade: Upgrade) -> None:
        """Let it be the new version from now on: one replaced file decides."""
        done = event(upgrade.what, f"{upgrade.mark} built from the log took over")
        self.put(physical, done.what, done.detail, Path(upgrade.checkpoint))

    def put(
        self, physical: Physical, what: str, detail: str = "", checkpoint: Path | None = None
    ) -> Definition:
        """Give it another program, and another place to remember where one is given."""

        def moved(known: Definition) -> Definition:
            return known if checkpoint is None else replace(known, checkpoint=str(checkpoint))

        store = definition_store(self.home)
        return put_version(store, self.name, physical, event(what, detail), moved)

    def _forget_retired(self) -> None:
        """Remove what is left of versions before the last upgrade: nobody starts them any more."""
        for place in (self.home / "jobs").glob(f"{self.name}.v*"):
            if place.absolute() != self.checkpoint.absolute() and is_retired(place):
                shutil.rmtree(place, ignore_errors=True)
