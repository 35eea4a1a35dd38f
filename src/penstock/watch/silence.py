"""Silences: rules, or single keys of them, of which nobody is told for a while."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.refusals import coded_storage_errors
from penstock.log.storage import Storage, held
from penstock.watch.alert import Alert

_FILE = "silences.json"
_LOCK = "silences.lock"


@dataclass(frozen=True, slots=True)
class Silence:
    """Until when nobody is told of a rule's alerts, or of one key's; times are milliseconds."""

    rule: str
    until: int
    key: str = ""
    user: str = ""
    reason: str = ""

    def covers(self, alert: Alert, now: int) -> bool:
        """Say whether nobody is to be told of an alert now."""
        return now < self.until and self.rule == alert.rule and self.key in ("", alert.key)


def silences(home: Path) -> Silences:
    """Give the silences of a home."""
    return Silences(DiskStorage(home / "watch"))


class Silences:
    """The silences of one home; alerts are written down all the same."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def all(self, now: int) -> tuple[Silence, ...]:
        """Give those that still hold."""
        with coded_storage_errors("reading silences"):
            found = json.loads(self._storage.read(_FILE)) if self._storage.exists(_FILE) else []
        return tuple(item for item in (Silence(**row) for row in found) if now < item.until)

    def add(self, silence: Silence, now: int) -> None:
        """Put a silence in the place of one of the same rule and key."""
        self._change(now, [silence], silence)

    def end(self, rule: str, key: str, now: int) -> None:
        """End a silence."""
        self._change(now, [], Silence(rule, 0, key))

    def covers(self, alert: Alert, now: int) -> bool:
        """Say whether nobody is to be told of an alert now."""
        return any(silence.covers(alert, now) for silence in self.all(now))

    def _change(self, now: int, added: Iterable[Silence], instead_of: Silence) -> None:
        with coded_storage_errors("writing a silence"):
            self._storage.make_directory("")
            with held(self._storage.lock(_LOCK)):
                place = (instead_of.rule, instead_of.key)
                kept = [item for item in self.all(now) if (item.rule, item.key) != place]
                rows = [asdict(item) for item in (*kept, *added)]
                self._storage.replace(_FILE, json.dumps(rows, indent=1).encode(), sync=True)
