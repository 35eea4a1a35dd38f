"""Every run of every engine, as results keep them, and what they come to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import exp, log
from typing import Any

from bench.nexmark.engines import NOWHERE, OURS
from bench.nexmark.questions import QUESTIONS

_NOT_DURABLE = ("none", "no ", "not ", "in memory")


@dataclass(frozen=True, slots=True)
class Run:
    """One measured run of one query on one engine."""

    case: str
    query: str
    engine: str
    read: int
    """The events that the query reads."""
    seconds: float
    cpu: float
    memory: float
    first: float | None
    rows: int
    began: str
    """When the go began that it is part of: runs of one go were taken by turns."""

    @property
    def rate(self) -> float:
        """Events a second, by the clock."""
        return self.read / self.seconds

    @property
    def thrift(self) -> float:
        """Events for each second of a processor."""
        return self.read / max(self.cpu, 0.01)


@dataclass(frozen=True, slots=True)
class Remark:
    """Why an engine has no numbers for a query: refused, failed, or wrong."""

    case: str
    query: str
    engine: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Record:
    """The engines that took part, their runs, and remarks on those that have none."""

    engines: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    runs: tuple[Run, ...] = ()
    remarks: tuple[Remark, ...] = ()

    @classmethod
    def of(cls, details: Mapping[str, Any]) -> Record:
        """Read a record from the details of a result."""
        return cls(
            details.get("engines", {}),
            tuple(Run(**item) for item in details.get("runs", ())),
            tuple(Remark(**item) for item in details.get("remarks", ())),
        )

    @property
    def details(self) -> dict[str, Any]:
        """The record as a result keeps it."""
        return {
            "engines": {name: dict(words) for name, words in self.engines.items()},
            "runs": [asdict(run) for run in self.runs],
            "remarks": [asdict(remark) for remark in self.remarks],
        }

    @property
    def cases(self) -> list[str]:
        """What was measured, each with its number of events: the fewest first."""
        there = {item.case for item in self._items()}
        return sorted(there, key=lambda case: (len(case.split()[0]), case))

    def of_case(self, case: str) -> Record:
        """Only what was measured in one case."""
        return Record(
            self.engines,
            tuple(run for run in self.runs if run.case == case),
            tuple(remark for remark in self.remarks if remark.case == case),
        )

    def updated(self, newer: Record) -> Record:
        """Put newer runs in the place of those of the same engine, query and case."""
        places = {_place(item) for item in newer._items()}
        return Record(
            {**self.engines, **newer.engines},
            (*(run for run in self.runs if _place(run) not in places), *newer.runs),
            (*(item for item in self.remarks if _place(item) not in places), *newer.remarks),
        )

    def queries(self) -> list[str]:
        """The queries that were run or remarked on, in their order."""
        there = {item.query for item in self._items()}
        return [query for query in QUESTIONS if query in there]

    def _items(self) -> list[Run | Remark]:
        return [*self.runs, *self.remarks]

    def runs_of(self, query: str, engine: str) -> list[Run]:
        """The runs of one query on one engine."""
        return [run for run in self.runs if (run.query, run.engine) == (query, engine)]

    def best_durable_peer(self, query: str) -> str | None:
        """The engine beside ours that does most for a second of a processor, and loses nothing."""
        return self._best(query, (name for name, words in self.engines.items() if durable(words)))

    def best_to_nowhere(self, query: str) -> str | None:
        """The one that does most of those whose results are dropped, which ours are not."""
        return self._best(query, (name for name in self.engines if name.endswith(NOWHERE)))

    def _best(self, query: str, names: Iterable[str]) -> str | None:
        found = {
            name: best(runs, lambda run: run.thrift)
            for name in names
            if name != OURS and (runs := self.runs_of(query, name))
        }
        return max(found, key=lambda name: found[name], default=None)

    def ratio(self, query: str, peer: str) -> float | None:
        """How many times as many events as a peer we do for a second of a processor."""
        ours, theirs = self.runs_of(query, OURS), self.runs_of(query, peer)
        if not ours or not theirs:
            return None
        return best(ours, lambda run: run.thrift) / best(theirs, lambda run: run.thrift)

    def by_turns(self, query: str, peer: str) -> bool:
        """Whether we and a peer ran a query in one go, by turns."""
        ours, theirs = self.runs_of(query, OURS), self.runs_of(query, peer)
        return {run.began for run in ours} == {run.began for run in theirs}

    def mean_ratio(self, peer_of: Callable[[str], str | None]) -> float | None:
        """The geometric mean of the ratios to the peer of each query, over those that both ran."""
        peers = {query: peer_of(query) for query in self.queries()}
        found = [self.ratio(query, peer) for query, peer in peers.items() if peer is not None]
        return geometric_mean([ratio for ratio in found if ratio is not None])


def durable(words: Mapping[str, Any]) -> bool:
    """Whether an engine keeps what it knows when its process dies, by its own word."""
    said = words.get("durable")
    if said is not None:
        return bool(said)
    return not str(words.get("durability", "none")).lower().startswith(_NOT_DURABLE)


def best(runs: Iterable[Run], measure: Callable[[Run], float]) -> float:
    """The most that any of some runs reached."""
    return max(measure(run) for run in runs)


def geometric_mean(values: Sequence[float]) -> float | None:
    """The mean of ratios: that of 2 and 0.5 is 1."""
    return exp(sum(log(value) for value in values) / len(values)) if values else None


def _place(item: Run | Remark) -> tuple[str, str, str]:
    return item.case, item.query, item.engine
