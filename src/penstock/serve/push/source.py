"""What can be followed: places with offsets, which are read again or only once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from penstock.errors import PenstockError
from penstock.serve.push.arrival import Piece
from penstock.serve.push.token import Positions, Token

Begin: TypeAlias = Literal["beginning", "latest"] | datetime | Token


@dataclass(frozen=True, slots=True)
class Begun:
    """Where a subscriber begins, what it has to know first, and whether it goes on exactly."""

    positions: Positions
    lost: tuple[PenstockError, ...] = ()
    snapshot: tuple[bytes, ...] | None = None
    resumed: bool = False


class Source(Protocol):
    """A topic, or the answer to a statement."""

    @property
    def identity(self) -> bytes:
        """What tells it from another of the same name."""
        ...

    @property
    def about(self) -> dict[str, object]:
        """What a subscriber is told of it first."""
        ...

    def ends(self) -> Positions:
        """Where the shared tail begins."""
        ...

    def begin(self, begin: Begin) -> Begun:
        """Find the positions at which a subscriber begins."""
        ...

    def tail(
        self, positions: Positions, wanted: Callable[[], bool]
    ) -> Iterator[tuple[int, Piece] | None]:
        """Give what comes, place by place, as long as it is wanted; None while nothing does."""
        ...

    def read(self, place: int, offset: int, stop: int) -> Piece:
        """Read one place again, up to an offset."""
        ...
