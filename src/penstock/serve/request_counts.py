"""How often the server was asked what, and how long it took."""

from __future__ import annotations

import threading
from collections import Counter

from penstock.watch.sample import Family, Sample

_MOST = 500
"""How many different requests are told apart: paths are templates, so there are few."""


class RequestCounts:
    """Counts the requests of a server since it was started."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._seconds: Counter[tuple[str, str, str]] = Counter()
        self._under_way = 0

    def begun(self) -> None:
        """Count a request that is under way now."""
        with self._guard:
            self._under_way += 1

    def ended(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count a request that is over."""
        place = (method, path, str(status))
        with self._guard:
            self._under_way -= 1
            if place not in self._counts and len(self._counts) >= _MOST:
                place = ("-", "-", str(status))
            self._counts[place] += 1
            self._seconds[place] += seconds  # type: ignore[assignment]  # a sum of fractions

    def families(self) -> tuple[Family, ...]:
        """Give what was counted as measurements."""
        with self._guard:
            counts, seconds = dict(self._counts), dict(self._seconds)
            under_way = self._under_way
        return (
            Family(
                "penstock_http_requests_total",
                "counter",
                "Requests that were answered.",
                tuple(Sample(_labels(place), n) for place, n in sorted(counts.items())),
            ),
            Family(
                "penstock_http_request_seconds_total",
                "counter",
                "Seconds that answering took.",
                tuple(Sample(_labels(place), n) for place, n in sorted(seconds.items())),
            ),
            Family(
                "penstock_http_requests_under_way",
                "gauge",
                "Requests that are being answered.",
                (Sample({}, under_way),),
            ),
        )


def _labels(place: tuple[str, str, str]) -> dict[str, str]:
    method, path, status = place
    return {"method": method, "path": path, "status": status}
