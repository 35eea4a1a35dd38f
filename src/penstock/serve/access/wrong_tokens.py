"""Wrong tokens: whoever shows many waits for each answer, and the log of the server tells of it.

Right tokens never wait, wherever they come from, so nobody is locked out by somebody else.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from penstock.serve.structured_log import log_warning

_FREE = 3
"""Wrong ones that anybody may show by mistake."""
_FIRST_WAIT, _LONGEST_WAIT = 0.25, 5.0
_FORGOTTEN = 300.0
"""Seconds after the last wrong one."""
_MOST_ADDRESSES = 1024
_MOST_WAITING = 64
"""Far fewer than the requests that a server takes at a time: others are not to wait for these."""


@dataclass(slots=True)
class _Seen:
    times: int = 0
    last: float = 0.0


@dataclass(slots=True)
class WrongTokens:
    """Counts wrong tokens by the address that they come from, of the latest addresses."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    _seen: OrderedDict[str, _Seen] = field(default_factory=OrderedDict)
    _waiting: int = 0

    async def shown(self, address: str) -> None:
        """Write down that an address has shown a wrong one, and hold up the answer."""
        times = self._count(address)
        if times & (times - 1) == 0:
            # At the powers of two: many of them are not to drown all else in the log.
            log_warning("wrong token", address=address, times=times)
        wait = self.wait_after(times)
        if not wait or self._waiting >= _MOST_WAITING:
            return
        self._waiting += 1
        try:
            await self.sleep(wait)
        finally:
            self._waiting -= 1

    @staticmethod
    def wait_after(times: int) -> float:
        """Give the seconds that the answer to so many wrong ones waits."""
        if times <= _FREE:
            return 0.0
        # Bounded before it is raised: the power would outgrow any number.
        return min(_FIRST_WAIT * 2.0 ** min(times - _FREE - 1, 16), _LONGEST_WAIT)

    def _count(self, address: str) -> int:
        now = self.clock()
        seen = self._seen.pop(address, None)
        if seen is None or now - seen.last > _FORGOTTEN:
            seen = _Seen()
        seen.times += 1
        seen.last = now
        self._seen[address] = seen
        while len(self._seen) > _MOST_ADDRESSES:
            self._seen.popitem(last=False)
        return seen.times
