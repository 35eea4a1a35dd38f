"""One subscriber: positions, and a cursor on the ring of its feed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from penstock.serve.push.arrival import Arrival, moved
from penstock.serve.push.feed import Feed
from penstock.serve.push.source import Begun
from penstock.serve.push.token import Positions, token_text

_AT_ONCE = 64 * 1024
"""The bytes that are handed over at a time, about."""


class Subscription:
    """Gives each arrival once, in order; one that is slow reads the log by itself, and no queue.

    Leaving the `async with` block, or `close`, lets the feed know.
    """

    def __init__(self, feed: Feed, begun: Begun, readers: ThreadPoolExecutor) -> None:
        self.feed = feed
        self.begun = begun
        self.positions: Positions = begun.positions
        self._readers = readers
        self._at: int | None = None
        self._turn = 0
        self._is_open = True
        feed.enter()

    @property
    def token(self) -> bytes:
        """Where one goes on who has what was given so far."""
        return token_text(self.feed.source.identity, self.positions)

    @property
    def reads_alone(self) -> bool:
        """Whether it is behind the ring."""
        return self._at is None

    async def next(self) -> list[Arrival]:
        """Wait for what comes; nothing at all is given now and then, as a sign of life.

        After the end of the feed nothing is given at once: see `feed.is_over`.
        """
        while True:
            bell = self.feed.news()
            if self._at is None:
                self._join()
            found = await self._read_alone() if self._at is None else await self._from_ring()
            if found or self.feed.is_over:
                return found
            if self._at is not None:
                await bell.wait()
                return await self._from_ring()

    async def __aiter__(self) -> AsyncIterator[Arrival]:
        while self._is_open:
            found = await self.next()
            for arrival in found:
                yield arrival
            if not found and self.feed.is_over:
                return

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Follow no longer; closing twice is harmless."""
        if self._is_open:
            self._is_open = False
            self.feed.leave()

    def _join(self) -> None:
        """Go on from the ring where it has all that comes next."""
        first, oldest = self.feed.ring.start()
        if all(mine >= theirs for mine, theirs in zip(self.positions, oldest, strict=True)):
            self._at = first

    async def _from_ring(self) -> list[Arrival]:
        found: list[Arrival] = []
        size = 0
        ring = self.feed.ring
        while self._at is not None and self._at < ring.following and size < _AT_ONCE:
            arrival = ring.get(self._at)
            if arrival is None:
                self._at = None
                break
            taken = arrival if arrival.before == self.positions else await self._fitted(arrival)
            if taken is not None:
                self.positions = taken.after
                if taken.events or taken.lost:
                    found.append(taken)
                    size += taken.size
                if taken.after[arrival.place] < arrival.after[arrival.place]:
                    continue
            self._at += 1
        return found

    async def _fitted(self, arrival: Arrival) -> Arrival | None:
        """Give an arrival as far as it is new to this subscriber, who is further in some places."""
        mine, place = self.positions, arrival.place
        if mine[place] >= arrival.after[place]:
            return None
        if mine[place] == arrival.before[place]:
            return arrival.since(mine)
        return await self._read(place, arrival.after[place])

    async def _read_alone(self) -> list[Arrival]:
        """Read one place that is behind the ring, by turns, up to where the ring begins."""
        _, oldest = self.feed.ring.start()
        count = len(oldest)
        for step in range(count):
            place = (self._turn + step) % count
            if self.positions[place] < oldest[place]:
                self._turn = place + 1
                arrival = await self._read(place, oldest[place])
                self.positions = arrival.after
                return [arrival] if arrival.events or arrival.lost else []
        return []

    async def _read(self, place: int, stop: int) -> Arrival:
        source, before = self.feed.source, self.positions
        loop = asyncio.get_running_loop()
        piece = await loop.run_in_executor(self._readers, source.read, place, before[place], stop)
        after = moved(before, place, piece.next_offset)
        return Arrival(source.identity, place, before, after, piece.events, piece.lost)
