"""What is written down of a rebuild, so that whoever comes after a crash can finish or undo it.

Beside the definition of the job lie `upgrade.json`, this, and `upgrade.pickle`, the program that
is built. *building*: the new version reads the history beside the old one, which runs; nothing
of the job has changed. *taking over*: both stand still at the same offsets, and the results are
or were brought over: the transaction that does it says which. Then the definition is replaced,
and the files go.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from penstock.errors import JobError
from penstock.log.embedded.lock import FlockLock
from penstock.model.physical import Physical
from penstock.spark.job_files import read_json, write_durably, write_json
from penstock.spark.stored_program import program_bytes, program_of

Step: TypeAlias = Literal["building", "taking over"]

_FILE, _PROGRAM, _LOCK = "upgrade.json", "upgrade.pickle", "upgrade.lock"


@dataclass(frozen=True, slots=True)
class Upgrade:
    """A rebuild on its way: `mark` names its topics, `checkpoint` is where it remembers."""

    name: str
    mark: str
    checkpoint: str
    fingerprint: str
    step: Step = "building"
    fence: str = ""
    before: str = ""
    """Where the version remembers whose place it takes."""
    replaces: bool = False
    what: str = "upgraded"


def read_upgrade(home: Path, name: str) -> Upgrade | None:
    """Give the rebuild that was begun of a job and is not over."""
    found = read_json(_folder(home, name) / _FILE)
    return None if found is None else Upgrade(**found)


def write_upgrade(home: Path, upgrade: Upgrade, physical: Physical | None = None) -> None:
    """Write down how far a rebuild is; its program comes with the first step."""
    folder = _folder(home, upgrade.name)
    if physical is not None:
        write_durably(folder / _PROGRAM, program_bytes(physical))
    write_json(folder / _FILE, asdict(upgrade))


def upgrade_program(home: Path, name: str) -> Physical:
    """Give the program of the rebuild of a job."""
    return program_of((_folder(home, name) / _PROGRAM).read_bytes())


def forget_upgrade(home: Path, name: str) -> None:
    """Say that a rebuild is over."""
    for file in (_FILE, _PROGRAM):
        (_folder(home, name) / file).unlink(missing_ok=True)


@contextmanager
def upgrading(home: Path) -> Iterator[None]:
    """Let one process at a time upgrade jobs of a home."""
    (home / "definitions").mkdir(parents=True, exist_ok=True)
    lock = FlockLock(str(home / "definitions" / _LOCK))
    try:
        if not lock.acquire(timeout=0):
            raise JobError(
                "UPGRADE_BUSY",
                "another process upgrades jobs of this home",
                hint="Wait until it has ended: it shows what it does.",
            )
        yield
    finally:
        lock.close()


def _folder(home: Path, name: str) -> Path:
    return home / "definitions" / name
