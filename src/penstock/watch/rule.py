"""Rules: what is looked at, when that is a reason for an alert, and who is told."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, TypeAlias

from penstock.errors import ConfigError
from penstock.watch.target import ALERTS_TOPIC, Target

Watched: TypeAlias = Literal["table", "stream", "metric", "job"]
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_NOW = timedelta(0)
_FORGET = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule, on one table, stream, metric or job (`*`: all of them).

    It holds for a key where the condition `when` is true of its row, or where nothing has come
    for `absent`. It must hold for `lasting` before it fires, and is over when `clear` is true, or
    without one when it holds no more, for `resolve_after`; of a stream, when no row has matched
    for so long. With `over` each number `x` of a row has beside it `x_change`, its difference to
    what it was so long ago, and `x_rate`, that by second.

    Alerts of one `group_by` that come within `group_every` are one message. One that goes on is
    told again after `repeat_every`.
    """

    name: str
    table: str = ""
    stream: str = ""
    metric: str = ""
    job: str = ""
    when: str = ""
    clear: str = ""
    absent: timedelta | None = None
    over: timedelta | None = None
    lasting: timedelta = _NOW
    resolve_after: timedelta | None = None
    key: tuple[str, ...] = ()
    group_by: tuple[str, ...] = ()
    group_every: timedelta = timedelta(seconds=5)
    repeat_every: timedelta | None = None
    to: tuple[Target, ...] = ()
    message: str = ""
    format: str = ""
    columns: str = ""
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise self.refused("has a name that is no word", "Use letters, digits, _, - and dots.")
        named = [name for name in ("table", "stream", "metric", "job") if getattr(self, name)]
        if len(named) != 1:
            raise self.refused(
                f"watches {' and '.join(named) or 'nothing'}",
                "Name one of table, stream, metric and job.",
            )
        if bool(self.when) == (self.absent is not None):
            raise self.refused(
                "has to have either a condition or a time of absence",
                'Write when = "count > 10", or absent = "5 minutes".',
            )
        if sum(target.kind == "topic" for target in self.to) > 1:
            raise self.refused(
                "writes two topics", "Name one topic: it is where the state of alerts is kept."
            )
        self._check_absence()
        self._check_stream()
        self._check_times()

    @property
    def watched(self) -> Watched:
        """What kind of thing it is on."""
        if self.table:
            return "table"
        return "stream" if self.stream else "metric" if self.metric else "job"

    @property
    def place(self) -> str:
        """The name of what it is on."""
        return self.table or self.stream or self.metric or self.job

    @property
    def topic(self) -> str:
        """Where its alerts are written down."""
        return next((item.place for item in self.to if item.kind == "topic"), ALERTS_TOPIC)

    @property
    def receivers(self) -> tuple[Target, ...]:
        """Who else is told."""
        return tuple(target for target in self.to if target.kind != "topic")

    @property
    def patience(self) -> timedelta:
        """How long it must hold before it fires."""
        asked_for = self.absent if self.watched in ("metric", "job") else None
        return self.lasting if asked_for is None else max(self.lasting, asked_for)

    @property
    def calm(self) -> timedelta:
        """How long it must be over before it is told so."""
        if self.resolve_after is not None:
            return self.resolve_after
        return _FORGET if self.stream and self.absent is None and not self.clear else _NOW

    def refused(self, why: str, hint: str) -> ConfigError:
        """Give the error of a rule that cannot be."""
        place = f" ({self.site})" if self.site else ""
        return ConfigError("ALERT_RULE", f'alert "{self.name}" {why}{place}', hint=hint)

    def _check_absence(self) -> None:
        beside = [name for name in ("clear", "over", "group_by") if getattr(self, name)]
        if self.absent is not None and beside and (beside != ["group_by"] or not self.key):
            raise self.refused(
                f"is about absence and has {beside[0]}, which needs a row",
                f"Leave out {beside[0]}.",
            )

    def _check_stream(self) -> None:
        if self.stream and self.absent is None and (self.over is not None or self.lasting):
            raise self.refused(
                "is on a stream, whose rows are each for themselves",
                "Leave out for and over, or make a table of it: count the rows in a window.",
            )

    def _check_times(self) -> None:
        positive = {
            "absent": self.absent, "over": self.over, "repeat_every": self.repeat_every,
        }  # fmt: skip
        for name, value in positive.items():
            if value is not None and value <= _NOW:
                raise self.refused(f"has {name} of {value}", "Give a time above zero.")
        others = {"for": self.lasting, "group_every": self.group_every, "resolve_after": self.calm}
        for name, value in others.items():
            if value < _NOW:
                raise self.refused(f"has {name} of {value}", "Give a time that is not negative.")
