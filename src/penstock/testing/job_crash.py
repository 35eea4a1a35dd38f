"""Crash tests of a user's own job: wherever it dies, it gives what it would have given.

    from penstock.testing.job_crash import crash_job

    def test_my_job_survives() -> None:
        crash_job(app, {"views": rows})
        crash_job(app, {"views": rows}, at=(), kills=3, seed=7)

The job runs on Spark over the rows, in several batches and to its end: once in peace, once
failing at every commit step and started again each time (in one session, about a second each),
and as often as is said killed with SIGKILL in a process of its own. Clocks stand still but for a
second a batch, so that all runs have the same batches.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from penstock.errors import RunError, UsageError
from penstock.model.job_settings import JOB_SETTINGS, JobSettings
from penstock.model.physical import Physical, Settings
from penstock.model.plan import Plan
from penstock.plan.planner import plan
from penstock.spark.failpoints import (
    FAILING,
    STAGING,
    arm,
    commit_steps,
    disarm,
    fault_at,
    is_armed,
)
from penstock.testing.crash_run import CrashRun, Written, prepared
from penstock.testing.kill import KillLoop
from penstock.testing.pushed import Pushed

EVERY_STEP: Literal["every step"] = "every step"
Steps: TypeAlias = Literal["every step"] | Sequence[str]

_MOMENTS = (timedelta(0), timedelta(seconds=1.5))


class Describes(Protocol):
    """What a program is made from, such as an `App`."""

    def physical(self, settings: Settings | None = None) -> Physical:
        """Give what would be run."""


@dataclass(frozen=True, slots=True)
class Crashes:
    """What a crash test has done: where the job failed, and where it could not."""

    reached: tuple[str, ...]
    unreached: tuple[str, ...]
    """Steps that the job does not have: rows are staged only where a task has many, say."""
    kills: int
    batches: int
    written: Mapping[str, int]
    """How many records the job has written to each topic in peace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashOptions:
    """How a job is run in a crash test; the defaults suit a test of some seconds.

    The rows come in so many `batches`. Without a `folder` a temporary one is used. A `session`
    of Spark that lives is used; otherwise the process's own is started.
    """

    batches: int = 4
    how: JobSettings = JOB_SETTINGS
    settings: Settings | None = None
    folder: Path | None = None
    session: Any = None
    moments: tuple[timedelta, timedelta] = _MOMENTS
    """Between which the kill comes, from when the job is at work."""


def crash_job(  # noqa: PLR0913  # all but the program and its rows are by name
    program: Describes | Plan,
    rows: Mapping[str, Pushed],
    *,
    at: Steps = EVERY_STEP,
    times: int = 1,
    kills: int = 0,
    seed: int = 0,
    options: CrashOptions | None = None,
) -> Crashes:
    """Demand that a job gives the same wherever it dies; a difference is an AssertionError.

    `rows` are those of each topic that it reads. It fails so many `times` at each of the steps,
    and is killed so often at moments that the `seed` decides. A job that is to be at least or at
    most once may double or lose rows accordingly, and nothing else.
    """
    chosen = options or CrashOptions()
    physical = _physical(program, chosen.settings)
    left = _steps(physical, at) * times
    with _folder(chosen) as place:
        calm = prepared(physical, rows, Path(place) / "calm", chosen.batches, chosen.how)
        wanted = calm.run(chosen.session)
        done = Failed()
        while left:
            failing = calm.beside(f"failing-{len(done.reached)}-{len(left)}")
            met = _fail(failing, left, chosen)
            _compare(failing, calm, wanted, f"failing at {', '.join(met.reached)}")
            done = Failed(done.reached + met.reached, done.unreached + met.unreached)
            left = left[len(met.reached) + len(met.unreached) :]
        killed = _kill(calm, wanted, (kills, seed), chosen) if kills else 0
        return Crashes(
            done.reached,
            done.unreached,
            killed,
            calm.committed + 1,
            {topic: len(found) for topic, found in wanted.items()},
        )


@dataclass(frozen=True, slots=True)
class Failed:
    """At which steps a run has failed, and which it did not come to."""

    reached: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()


def _fail(run: CrashRun, steps: Sequence[str], chosen: CrashOptions) -> Failed:
    """Run a job that fails at steps one after the other, dealt out over its batches.

    One that it does not come to in a batch is waited for in the next, up to the end.
    """
    together = ceil(len(steps) / chosen.batches)
    met: list[str] = []

    def arm_next(_: int = 0) -> None:
        if len(met) < len(steps) and not is_armed(run.home):
            arm(run.home, steps[len(met)])

    arm_next()
    while True:
        try:
            # Armed when the batch that failed is done: the next one fails in its turn.
            run.run(chosen.session, FAILING, arm_next)
        except RunError as error:
            if len(met) == len(steps) or fault_at(steps[len(met)]) not in str(error):
                raise
            met.append(steps[len(met)])
            if len(met) % together:
                arm_next()
        else:
            disarm(run.home)
            # One that was armed from the start to the end was not there to be reached.
            return Failed(tuple(met), () if met else (steps[0],))


def _kill(calm: CrashRun, wanted: Written, how_often: tuple[int, int], chosen: CrashOptions) -> int:
    """Kill a job again and again in a process of its own; then let it end in this one."""
    kills, seed = how_often
    run = calm.beside("killed")
    ready = run.folder / "at-work"
    loop = KillLoop(run.command(ready), seed=seed, kills=kills, moments=chosen.moments, ready=ready)
    done = 0
    with loop as killed:
        for cycle in killed:
            if cycle.ended_by_itself:
                break
            done += 1
    if run.left_undone:
        run.run(chosen.session)
    _compare(run, calm, wanted, f"{done} kills of seed {seed}")
    return done


def _compare(run: CrashRun, calm: CrashRun, wanted: Written, when: str) -> None:
    guarantee, found = run.how.guarantee, run.written()
    if guarantee == "exactly-once" and run.accounts() != calm.accounts():
        raise AssertionError(
            f"other rows were counted after {when}:\nfound  {run.accounts()}\n"
            f"wanted {calm.accounts()}"
        )
    for topic, rows in wanted.items():
        if guarantee == "exactly-once" and found[topic] == rows:
            continue
        have, want = (Counter(map(repr, items)) for items in (found[topic], rows))
        missing, doubled = want - have, have - want
        lost = missing and guarantee != "at-most-once"
        twice = doubled and guarantee != "at-least-once"
        strange = set(doubled) - set(want)
        if lost or twice or strange or (guarantee == "exactly-once" and have == want):
            raise AssertionError(_told(topic, when, missing, doubled))


def _told(topic: str, when: str, missing: Counter[str], doubled: Counter[str]) -> str:
    lines = [f'topic "{topic}" has other records after {when}:']
    for word, found in (("missing", missing), ("too many", doubled)):
        lines += [f"{word} {count} x {row}" for row, count in found.most_common(5)]
    if not missing and not doubled:
        lines.append("the same records in another order")
    return "\n".join(lines)


def _physical(program: Describes | Plan, settings: Settings | None) -> Physical:
    if isinstance(program, Plan):
        return plan(program, settings or Settings())
    return program.physical(settings)


def _steps(physical: Physical, at: Steps) -> tuple[str, ...]:
    known = commit_steps(len(physical.levels))
    if at == EVERY_STEP:
        # Last, since few jobs come to it: it is waited for to the end.
        return (*(step for step in known if step != STAGING), STAGING)
    for step in at:
        if step not in known:
            raise UsageError(
                "CRASH_STEP",
                f'the job has no commit step "{step}"',
                hint=f"It has {', '.join(known)}.",
            )
    return tuple(at)


def _folder(chosen: CrashOptions) -> AbstractContextManager[Path | str]:
    if chosen.folder is not None:
        return nullcontext(chosen.folder)
    return tempfile.TemporaryDirectory(prefix="penstock-crash-")
