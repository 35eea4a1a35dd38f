"""Page views and users of a small web site, made up: the same for the same seed and times.

Few users and pages have most of the views. Views come out of order by up to five seconds, some of
them minutes late and a few too late for any result; some records are damaged; and now and then one
page fails for a while.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate

VIEWS = "pageviews"
USERS = "users"
STATUS = "status"
"""The header of a view that says how it was answered."""

_MANY_USERS, _MANY_PAGES, _MANY_REGIONS = 9, 40, 5
_OUT_OF_ORDER = 5_000
_LATE = (60_000, 200_000)
_TOO_LATE = (900_000, 1_200_000)
_SHARE_LATE, _SHARE_TOO_LATE, _SHARE_DAMAGED = 0.005, 0.003, 0.003
_SHARE_FAILING = 0.001
_CYCLE, _OUTAGE = 60_000, 15_000
"""A page fails for the first quarter of every minute, in milliseconds."""
_DAMAGED = (b"\xff\xfe\x00", b"not a page view", b"1,2", b"yesterday,User_1,Page_10")
_INTERESTS = ("Games", "News", "Sport", "Movies", "Travel")
_GENDERS = ("FEMALE", "MALE", "OTHER")
_FIRST_PAGE = 10


@dataclass(frozen=True, slots=True)
class Sent:
    """A record as a producer sends it."""

    key: bytes
    value: bytes
    status: bytes = b"200"


@dataclass(slots=True)
class Visitors:
    """Those who look at pages, and how they do it."""

    seed: int = 1
    _random: random.Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def users(self, *, at: int) -> list[Sent]:
        """Give all users as they are first."""
        return [self.user(number, at=at) for number in range(1, _MANY_USERS + 1)]

    def user(self, number: int, *, at: int, region: int | None = None) -> Sent:
        """Give a user as he is now: who has moved is in another region."""
        chosen = 1 + (number - 1 if region is None else region) % _MANY_REGIONS
        name = f"User_{number}"
        about = {
            "registertime": at,
            "gender": _GENDERS[number % len(_GENDERS)],
            "age": 20 + 5 * number,
            "regionid": f"Region_{chosen}",
            "userid": name,
            "interests": sorted(self._random.sample(_INTERESTS, k=2)),
            "contactinfo": {"email": f"{name.lower()}@example.com"},
        }
        return Sent(name.encode(), json.dumps(about).encode())

    def moved(self, *, at: int) -> Sent:
        """Give a user who has moved: one of those who look at few pages."""
        number = self._random.randint(_MANY_USERS // 2, _MANY_USERS)
        return self.user(number, at=at, region=self._random.randrange(_MANY_REGIONS))

    def views(self, count: int, *, at: int) -> list[Sent]:
        """Give the next views as they come at a time in milliseconds since 1970."""
        return [self._view(at) for _ in range(count)]

    def _view(self, at: int) -> Sent:
        page = self._page(at)
        chance = self._random.random()
        if chance < _SHARE_DAMAGED:
            return Sent(page.encode(), self._random.choice(_DAMAGED))
        user = f"User_{self._skewed(_MANY_USERS)}"
        value = f"{at - self._delay()},{user},{page}".encode()
        return Sent(page.encode(), value, self._status(page, at))

    def _page(self, at: int) -> str:
        if _is_outage(at) and self._random.random() < 0.1:  # people try again
            return _failing_page(at)
        return f"Page_{_FIRST_PAGE - 1 + self._skewed(_MANY_PAGES)}"

    def _status(self, page: str, at: int) -> bytes:
        fails = _is_outage(at) and page == _failing_page(at)
        return b"500" if fails or self._random.random() < _SHARE_FAILING else b"200"

    def _delay(self) -> int:
        chance = self._random.random()
        if chance < _SHARE_TOO_LATE:
            return self._random.randint(*_TOO_LATE)
        if chance < _SHARE_TOO_LATE + _SHARE_LATE:
            return self._random.randint(*_LATE)
        return int(self._random.random() ** 2 * _OUT_OF_ORDER)

    def _skewed(self, many: int) -> int:
        """Give a number from 1 on, the second half as often as the first, and so on."""
        weights = list(accumulate(1 / place for place in range(1, many + 1)))
        return self._random.choices(range(1, many + 1), cum_weights=weights)[0]


def paced(
    rate: int, *, pause: Callable[[float], bool], clock: Callable[[], float] = time.monotonic
) -> Iterator[int]:
    """Give how many views are due, five times a second, until `pause` says it is over."""
    begun, given = clock(), 0
    while not pause(0.2):
        due = int((clock() - begun) * rate) - given
        if due > 0:
            given += due
            yield due


def _is_outage(at: int) -> bool:
    return at % _CYCLE < _OUTAGE


def _failing_page(at: int) -> str:
    return f"Page_{_FIRST_PAGE + 3 + at // _CYCLE % 7}"
