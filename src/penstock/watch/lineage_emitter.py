"""Lineage told as it happens: an event when a run begins and one when it has ended.

Where to is said by `[lineage]`: `url`, to which events are posted, or `file`, to which they are
appended, a line each. Which were told is kept in `watch/lineage.json`; an event may be told twice
where a process dies in between, always under the same id of its run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from penstock.connect.secret import filled_in, secret_of
from penstock.connect.webhook import WebhookSettings, post
from penstock.errors import ConfigError, DeliveryError, PenstockError, did_you_mean
from penstock.jobs.job import Job
from penstock.jobs.store import job_store
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.refusals import coded_storage_errors
from penstock.log.storage import Storage
from penstock.watch.lineage import JobLineage, job_lineage, plan_of
from penstock.watch.open_lineage import NAMESPACE, Run, run_event, run_id, run_of

Emit: TypeAlias = Callable[[Mapping[str, Any]], None]
Lookup: TypeAlias = Callable[[Job], JobLineage]
_KNOWN = ("url", "file", "namespace", "token_env", "token_file")
_FILE = "lineage.json"
_PAUSE = 30_000


@dataclass(frozen=True, slots=True)
class LineageSettings:
    """Where events go, and the namespace of jobs and topics in them."""

    url: str = field(default="", repr=False)
    file: str = ""
    namespace: str = NAMESPACE
    token: str = field(default="", repr=False)


def lineage_settings(
    table: Mapping[str, object], environment: Mapping[str, str] | None = None
) -> LineageSettings | None:
    """Read the table `[lineage]`; none where it says nothing."""
    for name, value in table.items():
        if name not in (*_KNOWN, "token") or not isinstance(value, str) or not value:
            raise ConfigError(
                "LINEAGE_SETTINGS",
                f'setting "{name}" of [lineage] does not exist, or is no text',
                hint=did_you_mean(name, _KNOWN) or f"Settings: {', '.join(_KNOWN)}.",
            )
    if not table.get("url") and not table.get("file"):
        return None
    return LineageSettings(
        filled_in(str(table.get("url", "")), "[lineage]", environment),
        str(table.get("file", "")),
        str(table.get("namespace", NAMESPACE)),
        secret_of(table, "token", "[lineage]", environment),
    )


def emit_to(settings: LineageSettings) -> Emit:
    """Give what sends an event where the settings say."""

    def emit(event: Mapping[str, Any]) -> None:
        body = json.dumps(event, ensure_ascii=False).encode()
        if settings.url:
            how = WebhookSettings(token=settings.token)
            post(
                settings.url, body, id=f"{event['run']['runId']}-{event['eventType']}", settings=how
            )
        if settings.file:
            _append(Path(settings.file), body)

    return emit


def lineage_of_run(home: Path, run: Job) -> JobLineage:
    """Give the lineage of the program of a run."""
    from penstock.jobs.submit import known_program  # noqa: PLC0415  # PySpark: seconds

    return job_lineage(plan_of(known_program(home, run.id)), run.name)


class LineageEmitter:
    """Tells of the runs of a home; what was there before it was first asked is no news."""

    def __init__(
        self, home: Path, settings: LineageSettings, emit: Emit | None = None,
        lookup: Lookup | None = None,
    ) -> None:  # fmt: skip
        self._home = home
        self._namespace = settings.namespace
        self._emit = emit or emit_to(settings)
        self._lookup = lookup or (lambda run: lineage_of_run(home, run))
        self._storage: Storage = DiskStorage(home / "watch")
        self._not_before = 0
        self.problem = ""

    def look(self, now: int) -> None:
        """Tell what has begun and ended; what cannot be told now is tried again."""
        if now < self._not_before:
            return
        runs = job_store(self._home).jobs()
        told = self._read()
        if told is None:
            told = {self._place(run): "ended" for run in runs if not run.alive}
        before = dict(told)
        try:
            for run in runs:
                self._tell(run, told, now)
            self.problem = ""
        except PenstockError as error:
            self.problem = f"[{error.code}] {error.fact}"
            self._not_before = now + _PAUSE
        places = {self._place(run) for run in runs}
        kept = {place: state for place, state in told.items() if place in places}
        if kept != before or not self._storage.exists(_FILE):
            self._write(kept)

    def _tell(self, run: Job, told: dict[str, str], now: int) -> None:
        place = self._place(run)
        done = told.get(place)
        if done == "ended" or (run.alive and done == "begun"):
            return
        try:
            lineage = self._lookup(run)
        except PenstockError:
            if run.alive:
                # Its program is not stored yet.
                return
            lineage = JobLineage(run.name, (), ())
        if done is None:
            self._emit(self._event(lineage, Run(run.id, run.started_at, run.started_at, "START")))
            told[place] = "begun"
        if not run.alive:
            self._emit(self._event(lineage, run_of(run, now)))
            told[place] = "ended"

    def _event(self, lineage: JobLineage, run: Run) -> dict[str, Any]:
        return run_event(lineage, run, self._namespace)

    def _place(self, run: Job) -> str:
        return run_id(self._namespace, Run(run.id, run.started_at, 0, "START"))

    def _read(self) -> dict[str, str] | None:
        with coded_storage_errors("reading which lineage was told"):
            if not self._storage.exists(_FILE):
                return None
            found: dict[str, str] = json.loads(self._storage.read(_FILE))
            return found

    def _write(self, told: Mapping[str, str]) -> None:
        with coded_storage_errors("writing which lineage was told"):
            self._storage.make_directory("")
            self._storage.replace(_FILE, json.dumps(told, indent=1).encode(), sync=True)


def _append(path: Path, line: bytes) -> None:
    try:
        with path.open("ab") as file:
            file.write(line + b"\n")
    except OSError as error:
        raise DeliveryError(
            "LINEAGE_FILE",
            f'lineage cannot be appended to "{path}": {type(error).__name__}',
            hint="Correct the path in [lineage], or who may write there.",
        ) from error
