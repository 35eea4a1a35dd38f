"""Where jobs are written down, so that any process can see and stop them.

Below `<home>/jobs`: `<id>.json` the job, `<id>.progress.json` how far it is, `<id>.stop.json` a
wish to end it, `<id>.spark.txt` the plan that Spark made, `<id>.log` what happened. The runner
holds a lock on `<id>.lock`, which the system frees when it dies, and one on its checkpoint: see
`jobs.quiet`.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path

from penstock.errors import JobError, did_you_mean
from penstock.jobs.document import from_json, to_json
from penstock.jobs.job import Job
from penstock.jobs.job_log import JobLog
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.refusals import coded_storage_errors
from penstock.log.storage import Lock, Storage, held
from penstock.model.progress import Progress
from penstock.model.recovery_report import RecoveryReport

_SUFFIX = ".json"
_PROGRESS = ".progress.json"
_STOP = ".stop.json"
_RECOVERY = ".recovery.json"
_SPARK = ".spark.txt"
_LOCK = ".lock"
_REGISTER = ".register.lock"
_WORK = ".work.lock"
_QUIET = ".quiet.lock"
_OTHERS = (_PROGRESS, _STOP, _RECOVERY)
# Long enough that two commands looking at once are not taken for a runner.
_PATIENCE = 0.02
_KEPT = 20
"""How many ended jobs of a name are remembered."""


def job_store(home: Path) -> JobStore:
    """Give the store of jobs below a home directory."""
    return JobStore(DiskStorage(home / "jobs"))


class JobStore:
    """The records of all jobs of one home."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def register(self, job: Job) -> tuple[Job, Lock]:
        """Write down a new job under the next id of its name, and hold its lock."""
        with coded_storage_errors("registering a job"):
            self._storage.make_directory("")
            with held(self._storage.lock(_REGISTER)):
                self._forget_oldest(job.name)
                registered = replace(job, id=self._next_id(job.name))
                lock = self._storage.lock(f"{registered.id}{_LOCK}")
                lock.acquire()
                try:
                    self._storage.replace(f"{registered.id}{_SUFFIX}", to_json(registered))
                except BaseException:
                    lock.close()
                    raise
        return registered, lock

    def write(self, job: Job) -> None:
        """Put a new record in the place of the old one."""
        with coded_storage_errors(f'writing job "{job.id}"'):
            self._storage.replace(f"{job.id}{_SUFFIX}", to_json(job))

    def jobs(self) -> tuple[Job, ...]:
        """Give all jobs, the latest last; one whose process is gone shows as lost."""
        found = (self.job(name) for name in self._ids())
        return tuple(sorted(found, key=lambda job: (job.started_at, job.id)))

    def runs_before(self, job: Job) -> tuple[Job, ...]:
        """Give the other runs under the name of a job, the latest last."""
        stem = slug(job.name)
        names = [name for name in self._ids() if _numbered(stem, name) and name != job.id]
        return tuple(sorted(map(self.job, names), key=lambda run: (run.started_at, run.id)))

    def job(self, name: str) -> Job:
        """Give a job by its id."""
        job = self._read(name)
        if not job.alive or self._held(name):
            return job
        # It may have ended between the two looks.
        again = self._read(name)
        return replace(again, state="lost") if again.alive else again

    def runs(self, name: str) -> tuple[Job, ...]:
        """Give the jobs of a name, the latest last; those of others are not even read."""
        stem = slug(name)
        found = (self.job(item) for item in self._ids() if _numbered(stem, item))
        own = (job for job in found if job.name == name)
        return tuple(sorted(own, key=lambda job: (job.started_at, job.id)))

    def progress(self, name: str) -> Progress | None:
        """Give how far a job has come, or nothing before its first batch."""
        data = self._content(f"{name}{_PROGRESS}")
        return None if data is None else from_json(Progress, data, f"{name}{_PROGRESS}")

    def write_progress(self, name: str, progress: Progress) -> None:
        """Put the progress of a job in the place of the last."""
        with coded_storage_errors(f'writing the progress of job "{name}"'):
            self._storage.replace(f"{name}{_PROGRESS}", to_json(progress))

    def recovery(self, name: str) -> RecoveryReport | None:
        """Give how a run went on after a crash, or nothing where there was none."""
        data = self._content(f"{name}{_RECOVERY}")
        return None if data is None else from_json(RecoveryReport, data, f"{name}{_RECOVERY}")

    def write_recovery(self, name: str, report: RecoveryReport) -> None:
        """Put the report of a recovery in the place of the last."""
        with coded_storage_errors(f'writing the recovery of job "{name}"'):
            self._storage.replace(f"{name}{_RECOVERY}", to_json(report))

    def spark_plan(self, name: str) -> str:
        """Give the plan that Spark made of a run; nothing before its first batch."""
        data = self._content(f"{name}{_SPARK}")
        return "" if data is None else data.decode()

    def write_spark_plan(self, name: str, plan: str) -> None:
        """Keep the plan that Spark made of a run."""
        with coded_storage_errors(f'writing the plan of job "{name}"'):
            self._storage.replace(f"{name}{_SPARK}", plan.encode())

    def request(self, name: str) -> bytes | None:
        """Give what was asked of a job, or nothing."""
        return self._content(f"{name}{_STOP}")

    def write_request(self, name: str, request: bytes) -> None:
        """Leave a wish for a job's runner."""
        with coded_storage_errors(f'asking job "{name}" to stop'):
            self._storage.replace(f"{name}{_STOP}", request)

    def log(self, name: str) -> JobLog:
        """Give what happened during a job's run."""
        return JobLog(self._storage, name)

    def work_lock(self, checkpoint: str) -> Lock:
        """Give the lock that a runner holds for as long as it works on a checkpoint."""
        return self._place_lock(checkpoint, _WORK)

    def quiet_lock(self, checkpoint: str) -> Lock:
        """Give the lock that is held by one who wants nobody to begin on a checkpoint."""
        return self._place_lock(checkpoint, _QUIET)

    def forget_place(self, checkpoint: str) -> None:
        """Remove the locks of a checkpoint that is no more."""
        with coded_storage_errors("forgetting a checkpoint"):
            for suffix in (_WORK, _QUIET):
                self._storage.remove(_place(checkpoint) + suffix)

    def forget(self, name: str) -> None:
        """Remove what is known of a job."""
        self.log(name).remove()
        with coded_storage_errors(f'forgetting job "{name}"'):
            for suffix in (_STOP, _PROGRESS, _RECOVERY, _SPARK, _SUFFIX, _LOCK):
                self._storage.remove(f"{name}{suffix}")

    def _place_lock(self, checkpoint: str, suffix: str) -> Lock:
        with coded_storage_errors("taking a checkpoint"):
            self._storage.make_directory("")
            return self._storage.lock(_place(checkpoint) + suffix)

    def _ids(self) -> list[str]:
        with coded_storage_errors("listing jobs"):
            names = self._storage.list("")
        return [
            name.removesuffix(_SUFFIX)
            for name in names
            if name.endswith(_SUFFIX) and not name.endswith(_OTHERS)
        ]

    def _next_id(self, name: str) -> str:
        stem = slug(name)
        numbers = [int(found[1]) for item in self._ids() if (found := _numbered(stem, item))]
        return f"{stem}-{max(numbers, default=0) + 1}"

    def _forget_oldest(self, name: str) -> None:
        stem = slug(name)
        # The others are not even read: with many that run, each would have to be looked for.
        own = (self.job(item) for item in self._ids() if _numbered(stem, item))
        ended = sorted(
            (job for job in own if not job.alive), key=lambda job: (job.started_at, job.id)
        )
        # One fewer than are kept, to make room for the job that begins.
        for job in ended[: len(ended) - _KEPT + 1] if len(ended) >= _KEPT else ():
            self.forget(job.id)

    def _read(self, name: str) -> Job:
        data = self._content(f"{name}{_SUFFIX}") if not {"/", "\0"} & set(name) else None
        if data is None:
            raise JobError(
                "JOB_MISSING",
                f'job "{name}" does not exist',
                hint=did_you_mean(name, self._ids())
                or "List what exists with `penstock jobs list`.",
            )
        return from_json(Job, data, f"{name}{_SUFFIX}")

    def _content(self, path: str) -> bytes | None:
        with coded_storage_errors("reading a job"):
            return self._storage.read(path) if self._storage.exists(path) else None

    def _held(self, name: str) -> bool:
        with coded_storage_errors("looking for a job's process"):
            lock = self._storage.lock(f"{name}{_LOCK}")
            try:
                return not lock.acquire(_PATIENCE)
            finally:
                lock.close()


def slug(name: str) -> str:
    """Give a name as it can stand in a file name."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "job"


def _place(checkpoint: str) -> str:
    """Give a checkpoint as it can stand in a file name, apart from all others."""
    whole = str(Path(checkpoint).absolute())
    return f"{slug(Path(whole).name)}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"


def _numbered(stem: str, name: str) -> re.Match[str] | None:
    return re.fullmatch(rf"{re.escape(stem)}-(\d+)", name)
