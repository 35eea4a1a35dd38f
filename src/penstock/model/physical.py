"""A program cut into what runs together: scans, keyed operators and outputs.

Steps that remember nothing are fused into chains, which run where their input is: in the
reader of a topic or after a keyed operator. Between a chain and a keyed operator rows are
exchanged by the bucket of their key. A level holds the operators that may run at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.join import Join
from penstock.model.latest import Latest
from penstock.model.match import Match
from penstock.model.plan import Sink
from penstock.model.process import Process
from penstock.model.settle import Settle
from penstock.model.source import Stream
from penstock.model.stateless import Stateless
from penstock.model.top_n import TopN
from penstock.model.versions import Versions

Stateful: TypeAlias = Aggregate | Dedup | TopN | Latest | Versions | Join | Process | Match | Settle


@dataclass(frozen=True, slots=True)
class Chain:
    """Steps done one after the other on the way to a keyed operator or an output.

    A `Union` in it says only that other chains have the same target. `port` is the input of
    the target that it leads to, where that has several.
    """

    id: str
    steps: tuple[Stateless, ...]
    target: str
    port: int = 0


@dataclass(frozen=True, slots=True)
class Scan:
    """A topic read, and the chains its rows go through."""

    id: str
    stream: Stream
    chains: tuple[Chain, ...]
    columns: tuple[str, ...]
    """The columns some step needs; the others are not read."""


@dataclass(frozen=True, slots=True)
class Keyed:
    """An operator with state, in as many instances as there are buckets."""

    id: str
    relation: Stateful
    level: int
    chains: tuple[Chain, ...]
    keep_late: timedelta
    """How far the watermark may pass a window's end before it leaves."""
    delay: timedelta = timedelta(0)
    """How far its watermark is behind the program's: results before it may come so late."""


@dataclass(frozen=True, slots=True)
class Output:
    """A topic written."""

    id: str
    sink: Sink


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user decides about running: the same program gives the same rows with any."""

    buckets: int = 4
    """Fixed at a job's first start: the pieces that state is kept in."""
    parallelism: int = 2
    """Tasks at a time for each level."""
    fuse: bool = True
    """Whether chains run inside the reader or the operator before them."""
    preaggregate: bool = True
    """Whether rows are folded in the reader, before they are exchanged."""
    registry: str = ""
    """The address of the registry that holds subjects; without one it is that of the log."""


@dataclass(frozen=True, slots=True)
class Physical:
    """What is run: `levels[0]` reads from scans, each next one from those before."""

    name: str
    scans: tuple[Scan, ...]
    levels: tuple[tuple[Keyed, ...], ...]
    outputs: tuple[Output, ...]
    settings: Settings = Settings()

    @property
    def operators(self) -> tuple[Keyed, ...]:
        """All keyed operators, by level."""
        return tuple(keyed for level in self.levels for keyed in level)
