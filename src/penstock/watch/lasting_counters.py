"""Counters that never go back: what a job had counted before it began anew is added.

A job that is rebuilt counts from zero again. Beside the home, `watch/counters.json` remembers what
each counter was last seen at; one that is seen lower than that has begun anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from penstock.errors import PenstockError
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.refusals import coded_storage_errors
from penstock.log.storage import Storage, held
from penstock.watch.sample import Family, Sample

_FILE = "counters.json"
_LOCK = "counters.lock"


def lasting_counters(home: Path) -> LastingCounters:
    """Give the bases of a home's counters."""
    return LastingCounters(DiskStorage(home / "watch"))


class LastingCounters:
    """What counters had reached before they began anew."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def raised(self, families: Iterable[Family]) -> list[Family]:
        """Give families whose counters are never lower than they were."""
        found = list(families)
        try:
            with coded_storage_errors("remembering counters"):
                self._storage.make_directory("")
                with held(self._storage.lock(_LOCK)):
                    known = self._read()
                    raised = [_raised(family, known) for family in found]
                    self._storage.replace(_FILE, json.dumps(known).encode())
                    return raised
        except PenstockError:
            # Who may only read sees what is counted now.
            return found

    def _read(self) -> dict[str, list[float]]:
        if not self._storage.exists(_FILE):
            return {}
        try:
            document: Any = json.loads(self._storage.read(_FILE))
        except ValueError:
            return {}
        return document if isinstance(document, dict) else {}


def _raised(family: Family, known: dict[str, list[float]]) -> Family:
    if family.kind != "counter":
        return family
    samples = (_sample(family.name, sample, known) for sample in family.samples)
    return replace(family, samples=tuple(samples))


def _sample(name: str, sample: Sample, known: dict[str, list[float]]) -> Sample:
    series = _series(name, sample.labels)
    base, last = known.get(series, [0.0, 0.0])
    if sample.value < last:
        base += last
    known[series] = [base, sample.value]
    return replace(sample, value=base + sample.value)


def _series(name: str, labels: Mapping[str, str]) -> str:
    return json.dumps([name, *labels.items()], ensure_ascii=False)
