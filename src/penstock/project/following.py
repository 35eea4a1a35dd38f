"""Follows the files of a project: what runs becomes what they say, whenever one is saved."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from watchfiles import Change as FileChange
from watchfiles import watch

from penstock.config import PROJECT_FILE
from penstock.errors import PenstockError
from penstock.jobs.engine import Engine
from penstock.jobs.takeover import Rebuild
from penstock.jobs.upgrade_file import upgrading
from penstock.project.project import Asked, Project, require_done

_SUFFIXES = (".py", ".sql", ".toml")
_LEFT_OUT = ("test_", "conftest")
_STEP, _DEBOUNCE = 50, 300
"""Milliseconds: an editor that saves a file in several steps is waited for."""


@dataclass(frozen=True, slots=True)
class Followed:
    """What was done after files were saved: each thing done, or why nothing was."""

    files: tuple[str, ...]
    done: tuple[str, ...] = ()
    refusal: PenstockError | None = None

    @property
    def settings_changed(self) -> bool:
        """Whether what is read at a start has changed."""
        return PROJECT_FILE in self.files


class Following:
    """Applies a project again and again; jobs that are gone from it are removed."""

    def __init__(
        self,
        directory: Path,
        home: Path,
        *,
        engine: Callable[[], Engine] | None = None,
        how: Rebuild | None = None,
    ) -> None:
        self._directory = directory.absolute()
        self._home = home.absolute()
        self._engine = engine
        self._how = how or Rebuild()

    def apply(self, files: tuple[str, ...] = ()) -> Followed:
        """Let what runs become what the files say; what they say wrongly is told, and no end."""
        done: list[str] = []
        engine = None if self._engine is None else self._engine()
        try:
            with (
                upgrading(self._home),
                Project(self._directory, self._home, Asked(prune=True), engine) as project,
            ):
                project.settle()
                changes = project.plan()
                done.extend(project.apply(changes, self._how))
                require_done(changes)
        except PenstockError as refusal:
            return Followed(files, tuple(done), refusal)
        return Followed(files, tuple(done))

    def follow(self, stopping: threading.Event) -> Iterator[Followed]:
        """Apply the project whenever files of it were saved, until it is to stop."""
        for changed in watch(
            self._directory,
            watch_filter=self._counts,
            stop_event=stopping,
            step=_STEP,
            debounce=_DEBOUNCE,
            rust_timeout=500,
            raise_interrupt=False,
        ):
            names = {str(Path(name).relative_to(self._directory)) for _, name in changed}
            yield self.apply(tuple(sorted(names)))

    def _counts(self, _: FileChange, name: str) -> bool:
        """Whether a file says something of what is to run."""
        path = Path(name)
        if path.is_relative_to(self._home) or path.suffix not in _SUFFIXES:
            return False
        inside = path.relative_to(self._directory)
        hidden = any(part.startswith((".", "_")) for part in inside.parts)
        return not hidden and not path.name.startswith(_LEFT_OUT)
