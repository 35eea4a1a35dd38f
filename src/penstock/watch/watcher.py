"""Watching: rules are looked at again and again, alerts written down, receivers told.

One process watches a home at a time; another one waits until that is gone.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

from typing_extensions import override

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.config import Settings, load_settings
from penstock.errors import PenstockError, RunError
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.refusals import coded_storage_errors
from penstock.log.open import open_log
from penstock.log.port import Transaction
from penstock.watch.alert import LIVE, Alert, next_alert
from penstock.watch.ledger import Ledger, alerts_in, make_topic
from penstock.watch.lineage_emitter import LineageEmitter, lineage_settings
from penstock.watch.made_rules import rules_now
from penstock.watch.notifier import Notifier, Send
from penstock.watch.observing import FRESH, Observers, Sources
from penstock.watch.rule import Rule
from penstock.watch.sending import sender_of
from penstock.watch.silence import silences
from penstock.watch.target import Target

Commit: TypeAlias = Callable[[Transaction | None], None]
LOCK = "watch.lock"
STATUS = "status.json"
EVERY = timedelta(seconds=1)
_PAUSE = EVERY.total_seconds()
_PATIENCE = 0.02


class Watch(AbstractContextManager["Watch"]):
    """A home that is watched by this process, for as long as it is open."""

    def __init__(
        self, home: Path, rules: Sequence[Rule], settings: Settings, *, clock: Clock, send: Send
    ) -> None:
        self._clock = clock
        self._send = send
        self._rules = tuple(rules)
        self._storage = DiskStorage(home / "watch")
        self._told = b""
        with ExitStack() as opened:
            self._take(opened)
            self._log: EmbeddedLog = opened.enter_context(open_log(home, clock=clock))
            for topic in dict.fromkeys(rule.topic for rule in self._rules):
                make_topic(self._log, topic)
            self._observers = Observers(self._rules, Sources(home, self._log, settings))
            quiet = silences(home)
            self._notifiers = [
                Notifier(target, _naming(self._rules, target), self._log, quiet)
                for target in dict.fromkeys(t for rule in self._rules for t in rule.receivers)
            ]
            told = lineage_settings(settings.lineage)
            self._lineage = None if told is None else LineageEmitter(home, told)
            self._lineage_at = clock.now() - FRESH
            self._ledger = Ledger(self._log)
            opened.callback(self._ledger.close)
            self._alerts = self._known()
            self._opened = opened.pop_all()

    def look(self) -> list[Alert]:
        """Look at everything once, and give the alerts that were written down for it."""
        now = self._clock.now()
        news: dict[str, list[Alert]] = {}
        commits: list[Commit] = []
        for rule in self._rules:
            observer = self._observers.of(rule, now)
            if observer is None:
                continue
            known = self._alerts[rule.name]
            active = [key for key, alert in known.items() if alert.state in LIVE]
            try:
                seen = observer.look(now, active)
            except PenstockError as error:
                self._observers.failed(rule, error, now)
                continue
            self._observers.problems.pop(rule.name, None)
            commits.append(observer.commit)
            for sighting in seen:
                before = known.get(sighting.key)
                after = next_alert(rule, before, sighting, now)
                if after is not None and after != before:
                    news.setdefault(rule.topic, []).append(after)
                elif after is not None:
                    known[sighting.key] = after
        self._write(news, commits)
        return [alert for alerts in news.values() for alert in alerts]

    def deliver(self, *, last: bool = False) -> None:
        """Tell receivers what was written down, where it is time, and of runs that began."""
        for notifier in self._notifiers:
            notifier.deliver(self._clock.now(), self._send)
        now = self._clock.now()
        if self._lineage is not None and (last or now - self._lineage_at >= FRESH):
            self._lineage.look(now)
            self._lineage_at = now
        self._tell()

    @override
    def __enter__(self) -> Self:
        return self

    @override
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._opened.close()

    def _take(self, opened: ExitStack) -> None:
        with coded_storage_errors("beginning to watch"):
            self._storage.make_directory("")
            lock = self._storage.lock(LOCK)
            opened.callback(lock.close)
            if not lock.acquire(_PATIENCE):
                raise RunError(
                    "WATCH_TAKEN",
                    "another process watches this home already",
                    hint="One is enough: the host of jobs does it where [alerts] has rules.",
                )

    def _known(self) -> dict[str, dict[str, Alert]]:
        """Give what is written down of the alerts of each rule, by key."""
        found: dict[str, dict[str, Alert]] = {rule.name: {} for rule in self._rules}
        topics = {rule.name: rule.topic for rule in self._rules}
        for topic in dict.fromkeys(topics.values()):
            for (rule, key), alert in alerts_in(self._log, topic).items():
                if topics.get(rule) == topic and alert.state in LIVE:
                    found[rule][key] = alert
        return found

    def _write(self, news: dict[str, list[Alert]], commits: Sequence[Commit]) -> None:
        try:
            if news:
                self._ledger.write(news, commits)
            else:
                for commit in commits:
                    commit(None)
        except BaseException:
            self._observers.forget()
            raise
        for alert in (item for items in news.values() for item in items):
            known = self._alerts[alert.rule]
            if alert.state in LIVE:
                known[alert.key] = alert
            else:
                known.pop(alert.key, None)

    def _tell(self) -> None:
        """Leave for others to see what does not go well."""
        receivers = {
            str(item.target): {"problem": item.problem, "waiting": item.waiting}
            for item in self._notifiers
        }
        lineage = "" if self._lineage is None else self._lineage.problem
        problems = self._observers.problems
        document = {"rules": problems, "receivers": receivers, "lineage": lineage}
        told = json.dumps(document, ensure_ascii=False, indent=1).encode()
        if told != self._told:
            with coded_storage_errors("telling how watching goes"):
                self._storage.replace(STATUS, told)
            self._told = told


class Watcher:
    """Watches a home in a thread of its own, from `start` to `stop`.

    Without rules they are those of the settings and those made at a server; where these change,
    it watches what they are then. Where another process watches the home, it waits until that
    has ended. What goes wrong is kept in `problem`, and tried again.
    """

    def __init__(
        self,
        home: Path,
        rules: Sequence[Rule] | None = None,
        *,
        settings: Settings | None = None,
        clock: Clock = SYSTEM_CLOCK,
        send: Send | None = None,
    ) -> None:
        self._home = home
        self._settings = settings or load_settings()
        self._follows = rules is None
        # Settings that were handed over are what they are; others are read again.
        self._reads = settings is None
        self.rules = rules_now(home, self._settings.alerts) if rules is None else tuple(rules)
        self._clock = clock
        self._send = send or sender_of(self._settings, clock)
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self.problem = ""

    def opened(self) -> Watch:
        """Begin to watch by hand; refused where another process does."""
        settings, clock, send = self._settings, self._clock, self._send
        return Watch(self._home, self.rules, settings, clock=clock, send=send)

    def start(self) -> None:
        """Begin; without rules, and without lineage to tell of, it waits for them."""
        if self._thread is None:
            self._ending.clear()
            self._thread = threading.Thread(target=self.run, name="watcher", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End after the look in hand."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def run(self) -> None:
        """Watch until `stop`; what goes wrong is begun anew."""
        while not self._ending.is_set():
            try:
                self._changed()
                if not self.rules and not self._settings.lineage:
                    self._ending.wait(_PAUSE)
                    continue
                with self.opened() as watch:
                    self._watch(watch)
            except Exception as error:  # noqa: BLE001  # who watches must not end unseen
                coded = isinstance(error, PenstockError)
                self.problem = str(error) if coded else f"{type(error).__name__}: {error}"
                self._ending.wait(_PAUSE)

    def _watch(self, watch: Watch) -> None:
        while not self._ending.is_set():
            watch.look()
            watch.deliver()
            self.problem = ""
            self._ending.wait(_PAUSE)
            if self._changed():
                return
        # What has ended with the process is told by it.
        watch.look()
        watch.deliver(last=True)

    def _changed(self) -> bool:
        """Read the rules again; whether they are others. What cannot be read changes nothing."""
        if not self._follows:
            return False
        try:
            settings = load_settings() if self._reads else self._settings
            rules = rules_now(self._home, settings.alerts)
        except PenstockError as error:
            self.problem = str(error)
            return False
        if rules == self.rules:
            return False
        self._settings, self.rules = settings, rules
        return True


def _naming(rules: Sequence[Rule], target: Target) -> list[Rule]:
    return [rule for rule in rules if target in rule.receivers]
