"""All that is followed in a server: one shared tail for each topic and each statement."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from penstock.front.sql.source import SqlSource
from penstock.log.port import Log
from penstock.schema.codec.schemas import Schemas
from penstock.serve.problem import Problem
from penstock.serve.push.feed import Feed
from penstock.serve.push.source import Begin, Source
from penstock.serve.push.subscription import Subscription
from penstock.serve.push.topic_source import TopicSource

MOST_SUBSCRIBERS = 5_000
_READERS = 4
"""Threads that read for those who are behind: few, so that they do not slow the tails."""
_END_SECONDS = 5.0


def _nothing(_: str) -> SqlSource | None:
    return None


class Feeds:
    """Opens a tail when the first subscriber comes, and ends it when the last has left."""

    def __init__(
        self, log: Log, registry: Schemas, declared: Callable[[str], SqlSource | None] = _nothing
    ) -> None:
        self._log = log
        self._registry = registry
        self._declared = declared
        self._feeds: dict[str, Feed] = {}
        self._lock = threading.Lock()
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="live-reader")
        self._is_closed = False

    @property
    def open(self) -> tuple[Feed, ...]:
        """The tails there are."""
        return tuple(self._feeds.values())

    @property
    def subscribers(self) -> int:
        """How many follow something now."""
        return sum(feed.subscribers for feed in self.open)

    async def topic(self, name: str, begin: Begin = "latest") -> Subscription:
        """Follow a topic from where one says."""

        def make() -> TopicSource:
            declared = self._declared(name)
            return TopicSource(self._log, self._registry, name, declared=declared)

        return await self.follow(f"topic {name}", make, begin)

    async def follow(
        self, name: str, make: Callable[[], Source], begin: Begin = "latest"
    ) -> Subscription:
        """Follow what has a name; the first who asks makes its source."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._follow, name, make, begin)

    def close(self) -> None:
        """End all tails, and what their subscribers wait for; closing twice is harmless."""
        self._is_closed = True
        feeds = self.open
        for feed in feeds:
            feed.stop()
        for feed in feeds:
            feed.join(_END_SECONDS)
        self._readers.shutdown(cancel_futures=True)

    def _follow(self, name: str, make: Callable[[], Source], begin: Begin) -> Subscription:
        if self.subscribers >= MOST_SUBSCRIBERS or self._is_closed:
            raise Problem(
                503,
                "LIVE_FULL",
                f"{self.subscribers} follow already, which is all that this server takes",
                hint="Come back later, or end some that nobody looks at.",
            )
        while True:
            feed = self._feed(name, make)
            # It begins where it is asked to before it counts: that may be refused.
            subscription = Subscription(feed, feed.source.begin(begin), self._readers)
            if self._feeds.get(name) is feed:
                return subscription
            subscription.close()

    def _feed(self, name: str, make: Callable[[], Source]) -> Feed:
        found = self._feeds.get(name)
        if found is not None:
            return found
        source = make()
        with self._lock:
            found = self._feeds.get(name)
            if found is None:
                found = self._feeds[name] = Feed(name, source, self._retire)
                found.start()
            return found

    def _retire(self, feed: Feed) -> bool:
        """Forget a tail that has ended, or that nobody follows."""
        with self._lock:
            if not feed.is_over and not feed.is_idle():
                return False
            if self._feeds.get(feed.name) is feed:
                del self._feeds[feed.name]
            return True
