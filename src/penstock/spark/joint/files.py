"""Which programs are run as one query, as the files of a home say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.spark.job_files import current_files, read_json, write_json

_FILE = "shared.json"


@dataclass(frozen=True, slots=True)
class Group:
    """Programs that are run as one, and what each was known by when they began."""

    name: str
    members: Mapping[str, str]

    def checkpoint(self, home: Path) -> Path:
        """Where the state of all is kept."""
        return home / "jobs" / self.name


def read_groups(home: Path) -> list[Group]:
    """Give the groups of a home, the oldest first."""
    found = []
    for path in (home / "jobs").glob(f"*/{_FILE}"):
        document = read_json(path)
        if document is not None:
            found.append(Group(path.parent.name, document["members"]))
    return sorted(found, key=lambda group: (len(group.name), group.name))


def write_group(home: Path, group: Group) -> None:
    """Store who is in a group."""
    write_json(group.checkpoint(home) / _FILE, {"members": dict(group.members)})


def begun(checkpoint: Path) -> bool:
    """Whether something is kept in a checkpoint."""
    return current_files(checkpoint).program is not None


def group_with(home: Path, member: str) -> Group | None:
    """Give the group that a program is run in; none where it runs alone."""
    return next((group for group in read_groups(home) if member in group.members), None)
