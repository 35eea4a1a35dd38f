"""Who stays away: an alert when a user has not been seen for a minute.

penstock topics create visits --schema "user string, page string, at bigint"
penstock explain examples/absence.py:app
penstock run examples/absence.py:app
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

import penstock as ps


@dataclass
class Alert:
    """A user who is gone, and how many pages they saw."""

    user: str
    seen: int
    gone_at: int


@dataclass
class Rejected:
    """A visit that cannot be counted."""

    user: str
    why: str


class Absence(ps.Processor[Alert]):
    """Counts the visits of a user until a minute goes by without one."""

    in_order = True  # rows wait for the watermark, so that a timer is never overtaken
    seen = ps.value_state(int, default=0)
    pages = ps.map_state(str, int, ttl="1 day")

    @override
    def process(self, row: dict[str, Any], ctx: ps.Context) -> None:
        """Count a visit, and wait for the next one."""
        if row["page"] is None:
            ctx.side("rejected", Rejected(ctx.key, "no page"))
            return
        self.seen.value += 1
        self.pages[row["page"]] = self.pages.get(row["page"], 0) + 1
        ctx.set_timer(ctx.time + 60_000, name="absent")  # takes the place of the one before

    @override
    def on_timer(self, timer: ps.Timer, ctx: ps.Context) -> Iterator[Alert]:
        """Tell that a minute has passed without a visit."""
        yield Alert(ctx.key, self.seen.value, timer.time)
        self.seen.clear()


app = ps.App("absence")
visits = app.stream(
    "visits", schema={"user": str, "page": str, "at": int}, event_time="at", lateness="5s"
)
alerts = visits.group_by("user").process(Absence, sides={"rejected": Rejected})
alerts.to("absent_users")
alerts.side("rejected").to("rejected_visits")
