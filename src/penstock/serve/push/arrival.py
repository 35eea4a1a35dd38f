"""What came: rows of one place, encoded once for all who follow."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import orjson

from penstock.errors import PenstockError
from penstock.serve.push.selection import EVERYTHING, Selection
from penstock.serve.push.token import Positions, row_tokens, token_text

_SHARED = 4
"""How many selections of one arrival are kept for the next who asks for the same."""


class Event(NamedTuple):
    """One row, or rows that belong together, as JSON; `after` is the next offset of its place."""

    after: int
    data: bytes
    key: Any = None


class Piece(NamedTuple):
    """What one read of a place gave; `lost` says what was there and is gone."""

    events: tuple[Event, ...]
    next_offset: int
    lost: PenstockError | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Arrival:
    """Events of one place, and the positions of all places before and after them."""

    identity: bytes
    place: int
    before: Positions
    after: Positions
    events: tuple[Event, ...]
    lost: PenstockError | None = None
    _streams: dict[Selection, bytes] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The bytes it holds, about."""
        # The events are kept as they are and once as a stream, each with an id.
        return sum(2 * len(event.data) + _AROUND for event in self.events) + _AROUND

    @property
    def token(self) -> bytes:
        """Where one goes on who has all of it."""
        return token_text(self.identity, self.after)

    def since(self, positions: Positions) -> Arrival:
        """Give it to one who is further in other places."""
        after = moved(positions, self.place, self.after[self.place])
        return replace(self, before=positions, after=after, _streams={})

    def documents(self, selection: Selection = EVERYTHING) -> list[Any]:
        """Give its rows as they are in JSON."""
        return [orjson.loads(event.data) for _, event in self.chosen(selection)]

    def chosen(self, selection: Selection = EVERYTHING) -> list[tuple[bytes, Event]]:
        """Give the events that are asked for, each with its token."""
        offsets = tuple(event.after for event in self.events)
        tokens = row_tokens(self.identity, self.before, self.place, offsets)
        pairs = zip(tokens, self.events, strict=True)
        if selection is EVERYTHING:
            return list(pairs)
        found = ((token, event, selection.of(event.data, event.key)) for token, event in pairs)
        return [(token, event._replace(data=data)) for token, event, data in found if data]

    def stream(self, selection: Selection = EVERYTHING) -> bytes:
        """Give it as a piece of an event stream; what many ask for is written once."""
        found = self._streams.get(selection)
        if found is None:
            found = b"".join(
                b"id: %b\ndata: %b\n\n" % (token, event.data)
                for token, event in self.chosen(selection)
            )
            if len(self._streams) < _SHARED:
                self._streams[selection] = found
        return found


_AROUND = 200


def moved(positions: Positions, place: int, offset: int) -> Positions:
    """Give positions with that of one place changed."""
    return (*positions[:place], offset, *positions[place + 1 :])
