"""Engines by turns over the same events: first a run that is checked, then those that count."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from bench.nexmark.answers import count_events
from bench.nexmark.check import differences
from bench.nexmark.engines import LABELS
from bench.nexmark.harness import Driven, EngineCommand, EngineDied, NotRun, Outcome, Ran
from bench.nexmark.record import Record, Remark, Run

_BATCH = 250_000
_MILLION = 1_000_000
_PATIENCE = 240.0
_PATIENCE_PER_MILLION = 240.0
_SHORT = 1.0
"""Runs that last fewer seconds differ by more than their engines do: there are more of them."""
_MORE = 4
_LONG = 10.0
"""A first run starts its engine, too: of one that lasts fewer seconds the next tells more."""
_MOST_WARMING = 20


def batch_of(events: int) -> int:
    """Give how many rows a batch has where nothing is said: of millions of events, a million."""
    return _BATCH if events <= _MILLION else _MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to run: the events, the queries, how often, and how many rows a batch."""

    events: int
    folder: Path
    queries: tuple[str, ...]
    runs: int = 3
    warm: int = 3
    """The seconds that an engine runs a query before it counts, in one run or in several."""
    batch: int
    last: int = 0
    """The milliseconds a batch of ours may last; 0: as many rows as `batch` says."""
    disorder: int = 0
    scratch: Path

    @property
    def case(self) -> str:
        """What results call it."""
        words = [f"{self.events:,} events"]
        if self.disorder:
            words.append(f"up to {self.disorder:,} ms out of order")
        if self.last:
            words.append(f"batches of up to {self.last:,} ms")
        elif self.batch != batch_of(self.events):
            words.append(f"batches of {self.batch:,}")
        return ", ".join(words)

    @property
    def patience(self) -> float:
        """The seconds after which a query is given up."""
        return _PATIENCE + _PATIENCE_PER_MILLION * self.events / 1e6


@dataclass(slots=True)
class Turns:
    """The engines at work; each is started at its first query, and anew after it has died."""

    commands: list[EngineCommand]
    plan: Plan
    began: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    hellos: dict[str, dict[str, Any]] = field(default_factory=dict)
    _driven: dict[str, Driven] = field(default_factory=dict)

    def records(self) -> Iterator[Record]:
        """Run one query after the other on all engines, and give what each came to."""
        try:
            for query in self.plan.queries:
                items = list(self._one(query))
                runs = tuple(item for item in items if isinstance(item, Run))
                remarks = tuple(item for item in items if isinstance(item, Remark))
                yield Record(dict(self.hellos), runs, remarks)
        finally:
            for driven in self._driven.values():
                driven.close()

    def record(self) -> Record:
        """Run all queries on all engines."""
        return reduce(Record.updated, self.records(), Record())

    def _one(self, query: str) -> Iterator[Run | Remark]:
        read = count_events(query, self.plan.folder)
        able: list[tuple[EngineCommand, int]] = []
        for command in self.commands:
            warmed = self._warmed(query, command)
            if isinstance(warmed, NotRun):
                yield self._remark(query, command, warmed)
            else:
                short = self.plan.warm > 0 and warmed.seconds < _SHORT
                able.append((command, self.plan.runs + (_MORE if short else 0)))
        for turn in range(max((turns for _, turns in able), default=0)):
            for command in _in_turn([one for one, turns in able if turn < turns], turn):
                outcome = self._ask(query, command, None)
                if isinstance(outcome, NotRun):
                    yield self._remark(query, command, outcome)
                    continue
                run = Run(
                    self.plan.case,
                    query,
                    command.name,
                    read,
                    outcome.seconds,
                    outcome.cpu,
                    outcome.memory,
                    outcome.first,
                    outcome.rows,
                    self.began,
                )
                _say(f"{query} {LABELS.get(command.name, command.name)}: {_words(run)}")
                yield run

    def _warmed(self, query: str, command: EngineCommand) -> Outcome:
        """Give the last run of a warm-up that begins with one whose result is right."""
        outcome = self._checked(query, command)
        spent, runs = 0.0, 1
        while isinstance(outcome, Ran) and runs < _MOST_WARMING:
            spent += outcome.seconds
            starts = runs == 1 and self.plan.warm > 0 and spent < _LONG
            if spent >= self.plan.warm and not starts:
                break
            outcome = self._ask(query, command, None)
            runs += 1
        return outcome

    def _checked(self, query: str, command: EngineCommand) -> Outcome:
        """Run it once and compare the result with the answer; say what is wrong."""
        results = self.plan.scratch / f"results-{command.name}"
        try:
            outcome = self._ask(query, command, results)
            if isinstance(outcome, NotRun):
                return outcome
            found = results / f"{query}.parquet"
            if not found.exists():
                return NotRun("wrong", "it kept no result to compare")
            told = differences(query, pq.read_table(found), self.plan.folder)
            return NotRun("wrong", told[0]) if told else outcome
        finally:
            shutil.rmtree(results, ignore_errors=True)

    def _ask(self, query: str, command: EngineCommand, results: Path | None) -> Outcome:
        request = {
            "query": query,
            "events": str(self.plan.folder.resolve()),
            "results": None if results is None else str(results.resolve()),
            "batch": self.plan.batch,
            "last": self.plan.last,
        }
        if results is not None:
            results.mkdir(parents=True, exist_ok=True)
        try:
            if command.name not in self._driven:
                log = self.plan.scratch / "logs" / f"{command.name}.log"
                self._driven[command.name] = Driven.start(command, log)
                self.hellos[command.name] = self._driven[command.name].hello
            return self._driven[command.name].ask(request, self.plan.patience)
        except EngineDied as died:
            dead = self._driven.pop(command.name, None)
            if dead is not None:
                dead.close()
            return NotRun("failed", str(died))

    def _remark(self, query: str, command: EngineCommand, why: NotRun) -> Remark:
        name = LABELS.get(command.name, command.name)
        _say(f"{query} {name}: {why.kind}: {why.reason}")
        return Remark(self.plan.case, query, command.name, why.kind, why.reason)


def _in_turn(commands: list[EngineCommand], turn: int) -> list[EngineCommand]:
    """Change who is first, so that none always follows the same one."""
    first = turn % len(commands)
    return commands[first:] + commands[:first]


def _words(run: Run) -> str:
    return (
        f"{run.thrift:,.0f} events/CPU-s, {run.rate:,.0f} events/s, {run.memory:,.0f} MiB"
        f" ({run.seconds:.2f} s, {run.cpu:.2f} CPU-s, {run.rows:,} rows)"
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
