"""Page views of a small web site, made up but always the same for the same seed."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa

PAGE_VIEWS = pa.schema(
    [
        pa.field("viewtime", pa.timestamp("ms", tz="UTC"), nullable=False),
        pa.field("userid", pa.string(), nullable=False),
        pa.field("pageid", pa.string(), nullable=False),
    ]
)


@dataclass(slots=True)
class PageViews:
    """A stream of page views by 9 users on 90 pages; the user is the key of each record."""

    seed: int = 1
    _random: random.Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def rows(self, count: int, *, at: int) -> pa.Table:
        """Give the next views, all at one time in milliseconds since 1970."""
        users = [f"User_{self._random.randint(1, 9)}" for _ in range(count)]
        pages = [f"Page_{self._random.randint(10, 99)}" for _ in range(count)]
        times = pa.array([at] * count, pa.int64()).cast(PAGE_VIEWS.field("viewtime").type)
        keys = pa.array(users).cast(pa.binary())
        return pa.table({"_key": keys, "viewtime": times, "userid": users, "pageid": pages})


def paced(
    rate: int, *, pause: Callable[[float], bool], clock: Callable[[], float] = time.monotonic
) -> Iterator[int]:
    """Give how many views are due, ten times a second, until `pause` says it is over."""
    begun, given = clock(), 0
    while not pause(0.1):
        due = int((clock() - begun) * rate) - given
        if due > 0:
            given += due
            yield due
