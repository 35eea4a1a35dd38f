"""What a program of streams and tables is made of, before its application has a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal, TypeAlias

from penstock.front.streams.serde import Serde, Serdes
from penstock.front.streams.step import Step
from penstock.model.join import How
from penstock.model.join_bound import Bound
from penstock.model.window import Window

Joiner: TypeAlias = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Codec:
    """The serdes of keys and values."""

    keys: Serde
    values: Serde

    def changed(self, keys: Serde | None = None, values: Serde | None = None) -> Codec:
        """Give these serdes, some of them replaced."""
        return Codec(keys or self.keys, values or self.values)


@dataclass(frozen=True, slots=True, eq=False)
class Topic:
    """The records of a topic; as a `table` the last of each key."""

    name: str
    codec: Codec
    table: bool = False
    site: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Repartitioned:
    """Records sent through a topic of the application's own, so that equal keys meet."""

    flow: Flow
    name: str
    codec: Codec
    site: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """The records of several flows."""

    flows: tuple[Flow, ...]
    codec: Codec
    site: str = ""


@dataclass(frozen=True, slots=True)
class Count:
    """How many records there are."""


@dataclass(frozen=True, slots=True)
class Reduce:
    """The values put together, two at a time."""

    reducer: Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Fold:
    """The values added one by one to what `initial` gives; `merger` puts two results together."""

    initial: Callable[[], Any]
    aggregator: Callable[[Any, Any, Any], Any]
    merger: Callable[[Any, Any], Any] | None = None


What: TypeAlias = Count | Reduce | Fold


@dataclass(frozen=True, slots=True)
class Frames:
    """Where in event time records are aggregated, and how long late ones are waited for."""

    window: Window
    grace: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True, eq=False)
class Aggregated:
    """One value a key, or a key and window, kept up to date; `codec` is that of its results."""

    flow: Flow
    what: What
    name: str
    taken: Codec
    codec: Codec
    frames: Frames | None = None
    site: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Streamed:
    """The updates of a table as records; that old ones go is left out."""

    flow: Flow
    site: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """Pairs of records with the same key."""

    left: Flow
    right: Flow
    how: How
    bound: Bound
    joiner: Joiner
    site: str = ""


Node: TypeAlias = Topic | Repartitioned | Merged | Aggregated | Streamed | Joined


@dataclass(frozen=True, slots=True)
class Flow:
    """A node and the steps after it; `codec` is how its records would be written now.

    It is `rekeyed` where the key may have changed since records with equal keys last met.
    """

    node: Node
    codec: Codec
    steps: tuple[Step, ...] = ()
    rekeyed: bool = False
    changelog: bool = False
    """Whether it is a table: a change takes the old value back."""

    def then(self, step: Step, *, rekeyed: bool = False) -> Flow:
        """Give the flow after one step more."""
        return replace(self, steps=(*self.steps, step), rekeyed=self.rekeyed or rekeyed)

    def written(self, codec: Codec) -> Flow:
        """Give the flow with other serdes."""
        return replace(self, codec=codec)


@dataclass(frozen=True, slots=True)
class Written:
    """A flow that is written: to a topic of the user's, or nowhere (`nowhere`: for its effect)."""

    flow: Flow
    topic: str
    site: str = ""
    role: Literal["topic", "nowhere"] = "topic"


def windowed(codec: Codec) -> Codec:
    """Give the serdes of results whose keys know their window."""
    return codec.changed(keys=Serdes.windowed(codec.keys))
