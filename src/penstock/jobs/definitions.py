"""Where the definitions of jobs are kept, with the program of each version and what was done.

Below `<home>/definitions/<name>`: `definition.json`, `history.json`, and a file for the program of
each version. A change is one replaced file; changes of one job wait for one another.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from penstock.errors import JobError, did_you_mean
from penstock.jobs.definition import Definition, Event
from penstock.jobs.settings_document import read_settings, settings_document
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.refusals import coded_storage_errors
from penstock.log.storage import Storage, held

_DEFINITION = "definition.json"
_HISTORY = "history.json"
_LOCK = "change.lock"
_PROGRAM = "program-{}.pickle"
_EVENTS = 200
"""How many of the latest events are kept."""


def definition_store(home: Path) -> DefinitionStore:
    """Give the store of definitions below a home directory."""
    return DefinitionStore(DiskStorage(home / "definitions"))


class DefinitionStore:
    """The definitions of all jobs of one home."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def names(self) -> tuple[str, ...]:
        """Give the names of all jobs that are defined."""
        with coded_storage_errors("listing jobs"):
            found = self._storage.list("")
            return tuple(name for name in found if self._storage.exists(f"{name}/{_DEFINITION}"))

    def all(self) -> tuple[Definition, ...]:
        """Give all definitions, by name."""
        return tuple(self.get(name) for name in self.names())

    def readable(self) -> tuple[Definition, ...]:
        """Give those definitions that are whole, by name: one that is not hides no other."""
        found = (self._tried(name) for name in self.names())
        return tuple(item for item in found if isinstance(item, Definition))

    def damaged(self) -> Mapping[str, JobError]:
        """Give why some cannot be read, by name."""
        found = {name: self._tried(name) for name in self.names()}
        return {name: item for name, item in found.items() if isinstance(item, JobError)}

    def find(self, name: str) -> Definition | None:
        """Give a definition; none where the name is not known."""
        with coded_storage_errors("reading a job"):
            there = _is_plain(name) and self._storage.exists(f"{name}/{_DEFINITION}")
        return self.get(name) if there else None

    def get(self, name: str) -> Definition:
        """Give a definition by its name."""
        path = f"{name}/{_DEFINITION}"
        with coded_storage_errors("reading a job"):
            there = _is_plain(name) and self._storage.exists(path)
            data = self._storage.read(path) if there else None
        if data is None:
            raise JobError(
                "JOB_MISSING",
                f'job "{name}" does not exist',
                hint=did_you_mean(name, self.names())
                or "List what exists with `penstock jobs list`.",
            )
        return _read(data, path)

    def put(self, definition: Definition, event: Event, program: bytes | None = None) -> Definition:
        """Write a definition, and the program of its version where that is new."""
        name = definition.name
        with coded_storage_errors(f'writing job "{name}"'):
            self._storage.make_directory(name)
            if program is not None:
                path = f"{name}/{_PROGRAM.format(definition.version)}"
                self._storage.replace(path, program, sync=True)
            self._storage.replace(f"{name}/{_DEFINITION}", _written(definition), sync=True)
        self._tell(name, event)
        return definition

    def tell(self, name: str, event: Event) -> None:
        """Write down something that leaves the definition as it is."""
        with self.changing(name):
            self._tell(self.get(name).name, event)

    def change(
        self, name: str, event: Event, change: Callable[[Definition], Definition]
    ) -> Definition:
        """Change a definition; nobody else changes it meanwhile."""
        with self.changing(name):
            definition = replace(change(self.get(name)), changed_at=event.at)
            return self.put(definition, event)

    def changing(self, name: str) -> AbstractContextManager[None]:
        """Keep others from changing a job while a block runs."""
        with coded_storage_errors(f'changing job "{name}"'):
            self._storage.make_directory(name)
            return held(self._storage.lock(f"{name}/{_LOCK}"))

    def program(self, name: str, version: int) -> bytes:
        """Give the program of a version as it was submitted."""
        path = f"{name}/{_PROGRAM.format(version)}"
        with coded_storage_errors("reading a job's program"):
            if self._storage.exists(path):
                return self._storage.read(path)
        raise JobError(
            "JOB_VERSION",
            f'job "{name}" has no version {version}',
            hint="Those that it has are listed by `penstock jobs show`.",
        )

    def versions(self, name: str) -> tuple[int, ...]:
        """Give the versions whose programs are kept, oldest first."""
        before, _, after = _PROGRAM.partition("{}")
        with coded_storage_errors("reading a job"):
            files = self._storage.list(name)
        texts = (file[len(before) : -len(after)] for file in files if file.startswith(before))
        return tuple(sorted(int(text) for text in texts if text.isdigit()))

    def forget_version(self, name: str, version: int) -> None:
        """Remove the program of a version."""
        with coded_storage_errors("forgetting a job's program"):
            self._storage.remove(f"{name}/{_PROGRAM.format(version)}")

    def history(self, name: str) -> tuple[Event, ...]:
        """Give what was done to a job, oldest first."""
        path = f"{name}/{_HISTORY}"
        with coded_storage_errors("reading a job's history"):
            found = json.loads(self._storage.read(path)) if self._storage.exists(path) else []
        return tuple(Event(**item) for item in found)

    def remove(self, name: str) -> None:
        """Forget a job and all its versions; its results stay."""
        with coded_storage_errors(f'removing job "{name}"'):
            self._storage.remove(f"{name}/{_DEFINITION}")
            self._storage.remove_tree(name)

    def _tried(self, name: str) -> Definition | JobError:
        try:
            return self.get(name)
        except JobError as error:
            return error

    def _tell(self, name: str, event: Event) -> None:
        events = [*self.history(name), event][-_EVENTS:]
        told = json.dumps([asdict(item) for item in events], ensure_ascii=False, indent=1)
        with coded_storage_errors(f'writing the history of job "{name}"'):
            self._storage.replace(f"{name}/{_HISTORY}", told.encode(), sync=True)


def _is_plain(name: str) -> bool:
    """Whether a name leads to no other place than its own."""
    return name not in {"", ".", ".."} and not {"/", "\0"} & set(name)


def _written(definition: Definition) -> bytes:
    document: dict[str, Any] = {
        field.name: getattr(definition, field.name) for field in fields(definition)
    }
    document["settings"] = settings_document(definition.settings)
    return json.dumps(document, ensure_ascii=False, indent=1).encode()


def _read(data: bytes, path: str) -> Definition:
    try:
        document: Mapping[str, Any] = json.loads(data)
        known = {field.name for field in fields(Definition)}
        values = {name: item for name, item in document.items() if name in known}
        return Definition(**{**values, "settings": read_settings(document.get("settings", {}))})
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise JobError(
            "JOB_UNREADABLE",
            f'"{path}" is no definition of a job: {error}',
            hint="Submit the job again; its checkpoint is not touched by that.",
        ) from error
