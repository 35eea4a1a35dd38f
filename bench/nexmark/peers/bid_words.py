"""What queries make of one bid, in plain Python: the same for every engine that goes row by row."""

from __future__ import annotations

import re
import time
from functools import lru_cache

RATE = 0.908
DAY = 86_400_000
_CHANNEL_ID = re.compile(r"(?:&|^)channel_id=([^&]*)")
_KNOWN = {"apple": "0", "google": "1", "facebook": "2", "baidu": "3"}


def day_of(time_ms: int) -> str:
    """Give the day of a time, in words."""
    return _written(time_ms // DAY)


@lru_cache
def _written(day: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(day * 86_400))


def minute_of(time_ms: int) -> str:
    """Give the hour and the minute of a time."""
    minutes = time_ms % DAY // 60_000
    return f"{minutes // 60:02}:{minutes % 60:02}"


def time_of_day(time_ms: int) -> str:
    """Say whether a time is by day, by night, or neither."""
    hour = time_ms % DAY // 3_600_000
    if 8 <= hour <= 18:
        return "dayTime"
    return "nightTime" if hour <= 6 or hour >= 20 else "otherTime"


def price_in_bounds(price: float) -> bool:
    """Whether a price is one of those that are calculated with."""
    return 1_000_000 < price < 50_000_000


def channel_id(channel: str, url: str) -> str | None:
    """Give the number of a channel that is known, or that in its address; None without one."""
    known = _KNOWN.get(channel.lower())
    match = None if known is not None else _CHANNEL_ID.search(url)
    return match[1] if match else known
