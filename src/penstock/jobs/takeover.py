"""A new version built beside the running one from the log, until its results take over.

The old version runs on while the new one reads the history. Then both are brought to the same
offsets, the difference of their results is written in one transaction, and the job goes on as
the new version. After a crash `settle_takeover` finishes what was decided; what was not goes on
with the next attempt, or is undone by `abandon`.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from penstock.clock import SYSTEM_CLOCK
from penstock.errors import JobError
from penstock.jobs.engine import Engine
from penstock.jobs.upgrade_file import (
    Upgrade,
    forget_upgrade,
    read_upgrade,
    upgrade_program,
    write_upgrade,
)
from penstock.log.open import open_log
from penstock.log.record import TopicPartition
from penstock.model.job_settings import JobSettings, Recovery
from penstock.model.physical import Physical
from penstock.model.progress import Progress
from penstock.plan.fingerprint import fingerprint
from penstock.spark.retired import retire
from penstock.spark.shadow.takeover import Takeover, is_taken_over, take_over
from penstock.spark.shadow.version import begun_at, drop_shadows, make_shadows, shadowed

_ROUNDS = 10
_SOON = 5.0
"""Seconds: a round that takes less leaves little to read while the job stands still."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuild:
    """How a version is built beside another; `reached` is called before each step by tests."""

    replaces: bool = False
    seconds: float = 60.0
    what: str = "upgraded"
    tell: Callable[[Progress], None] | None = None
    say: Callable[[str], None] = lambda _: None
    reached: Callable[[str], None] = lambda _: None


REBUILD = Rebuild()


class Subject(Protocol):
    """A job that is upgraded: what it is now, and how it becomes another version at one instant."""

    @property
    def home(self) -> Path:
        """Where its log is."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def program(self) -> Physical:
        """What it runs now."""

    @property
    def checkpoint(self) -> Path:
        """Where it remembers now."""

    @property
    def settings(self) -> JobSettings:
        """How it is run."""

    @property
    def tables(self) -> frozenset[str]:
        """The topics in which the last record of a key is its row, though no sink says so."""

    def quiet(self, seconds: float) -> AbstractContextManager[object]:
        """Keep it from running during a block."""

    def next_version(self) -> tuple[str, Path]:
        """Give the mark of its next version, and where that is to remember."""

    def switch(self, physical: Physical, upgrade: Upgrade) -> None:
        """Let it be the new version from now on."""


def rebuild(subject: Subject, physical: Physical, engine: Engine, how: Rebuild = REBUILD) -> None:
    """Build a version of a job from the log and let it take over, or go on where one was begun."""
    home, name, before = subject.home, subject.name, subject.checkpoint
    upgrade = _begun(subject, physical, how)
    program = upgrade_program(home, name)
    # One that recovers from the log alone finds its batches there by its name.
    named = subject.settings.recovery != "upstream"
    shadow = begun_at(shadowed(program, upgrade.mark, named=named), engine.began(before))
    how.say(f'version "{upgrade.mark}" of job "{name}" reads its history beside the running one')
    how.reached("building")
    with open_log(home) as log:
        make_shadows(log, program, upgrade.mark)
    # One that has ended reads nothing more, whatever came since.
    ends = engine.reached(before) if engine.has_ended(before) else None
    _catch_up(engine, shadow, subject, Path(upgrade.checkpoint), how, ends)
    how.reached("caught up")
    with subject.quiet(how.seconds):
        how.say(f'job "{name}" stands still at the same offsets in both versions')
        _level(subject, engine, shadow, Path(upgrade.checkpoint))
        how.reached("levelled")
        fence = engine.fence(before) or ""
        decided = replace(upgrade, step="taking over", fence=fence, before=str(before))
        write_upgrade(home, decided)
        how.reached("decided")
        _take_over(subject, decided)
        how.reached("taken over")
        _finish(subject, decided, how.reached)


def settle_takeover(subject: Subject) -> bool:
    """Finish a takeover that a crash cut short; whether there was one. Nobody may run the job."""
    home = subject.home
    upgrade = read_upgrade(home, subject.name)
    if upgrade is None or upgrade.step != "taking over":
        return False
    if subject.checkpoint != Path(upgrade.checkpoint):
        with open_log(home) as log:
            if not is_taken_over(log, upgrade.fence):
                # Nothing of it was seen: it goes on with the next attempt.
                write_upgrade(home, replace(upgrade, step="building"))
                return False
        # What belongs to no transaction of the log is done again, and finds itself done.
        _take_over(subject, upgrade)
    _finish(subject, upgrade)
    return True


def settle_before_run(subject: Subject) -> bool:
    """Finish a takeover that was decided, for one who is about to run the job; whether one was.

    Where the job is the new version already, whoever upgrades it may be cleaning up just now: that
    is left to them, or to the next one who does.
    """
    upgrade = read_upgrade(subject.home, subject.name)
    switched = upgrade is not None and subject.checkpoint == Path(upgrade.checkpoint)
    return not switched and settle_takeover(subject)


def abandon(home: Path, name: str) -> None:
    """Undo a rebuild that has not taken over: all that it made is removed."""
    upgrade = read_upgrade(home, name)
    if upgrade is None:
        return
    if upgrade.step != "building":
        raise JobError(
            "UPGRADE_BUSY",
            f'an upgrade of job "{name}" was decided and is not finished',
            hint="`penstock apply` finishes it first.",
        )
    with open_log(home) as log:
        drop_shadows(log, upgrade_program(home, name), upgrade.mark)
    shutil.rmtree(upgrade.checkpoint, ignore_errors=True)
    forget_upgrade(home, name)


def _begun(subject: Subject, physical: Physical, how: Rebuild) -> Upgrade:
    """Give the rebuild that was begun with this program, or begin one."""
    home, name = subject.home, subject.name
    program = replace(physical, name=name)
    known = read_upgrade(home, name)
    if known is not None and known.fingerprint == fingerprint(program):
        return replace(known, replaces=how.replaces)
    abandon(home, name)
    mark, checkpoint = subject.next_version()
    upgrade = Upgrade(
        name, mark, str(checkpoint), fingerprint(program), replaces=how.replaces, what=how.what
    )
    write_upgrade(home, upgrade, program)
    return upgrade


def _catch_up(
    engine: Engine,
    shadow: Physical,
    subject: Subject,
    checkpoint: Path,
    how: Rebuild,
    upto: Mapping[TopicPartition, int] | None,
) -> None:
    """Let the new version read until little is left: rows go on coming while it does."""
    settings = _safe(subject.settings)
    for _ in range(_ROUNDS):
        begun = time.monotonic()
        engine.run(shadow, checkpoint, how=settings, upto=upto, tell=how.tell)
        if time.monotonic() - begun < _SOON:
            return


def _level(subject: Subject, engine: Engine, shadow: Physical, checkpoint: Path) -> None:
    """Bring both versions to the same offsets, of which neither is past."""
    before = subject.checkpoint
    old, new = engine.reached(before), engine.reached(checkpoint)
    target = _furthest(old, new)
    ended = engine.has_ended(before)
    if not ended and any(old.get(at, target[at]) < target[at] for at in old):
        engine.run(subject.program, before, how=subject.settings, upto=target)
    if ended or any(new.get(at, target[at]) < target[at] for at in new):
        settings = _safe(subject.settings)
        engine.run(shadow, checkpoint, how=settings, upto=target, ends=ended)


def _furthest(
    one: Mapping[TopicPartition, int], other: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    return {at: max(one.get(at, 0), other.get(at, 0)) for at in {**one, **other}}


def _take_over(subject: Subject, upgrade: Upgrade) -> None:
    with open_log(subject.home) as log:
        takeover = Takeover(
            subject.program,
            upgrade_program(subject.home, upgrade.name),
            upgrade.mark,
            upgrade.fence,
            upgrade.replaces,
            tables=subject.tables,
        )
        take_over(log, takeover, SYSTEM_CLOCK.now())


def _finish(
    subject: Subject, upgrade: Upgrade, reached: Callable[[str], None] = lambda _: None
) -> None:
    """Let the job be the new version, and forget what the old one remembered."""
    program = upgrade_program(subject.home, upgrade.name)
    old, new = Path(upgrade.before), Path(upgrade.checkpoint)
    if subject.checkpoint != new:
        subject.switch(program, upgrade)
    reached("switched")
    if upgrade.before and old.exists():
        retire(old, new)
    with open_log(subject.home) as log:
        drop_shadows(log, program, upgrade.mark)
    reached("cleaned")
    forget_upgrade(subject.home, upgrade.name)


def _safe(settings: JobSettings) -> JobSettings:
    """Give settings with which a crash leaves no result out and doubles none."""
    recovery: Recovery = "upstream" if settings.recovery == "upstream" else "passive"
    return replace(settings, guarantee="exactly-once", recovery=recovery, latency=None, trim=False)
