"""Telling a receiver what was written down, at least once and in one message a group.

How far a receiver has been told are the offsets of a consumer group of its own: they are committed
when a message was taken. What was not is sent again, after pauses that double.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from penstock.errors import PenstockError
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.watch.alert import Alert
from penstock.watch.ledger import end_of, written
from penstock.watch.message import Message
from penstock.watch.rule import Rule
from penstock.watch.silence import Silences
from penstock.watch.target import Target

Send: TypeAlias = Callable[[Target, Message], None]
"""Sends a message to a receiver; one that was not taken is an error."""
_TOLD = ("firing", "resolved")
_FIRST_PAUSE = 1_000
_LONGEST_PAUSE = 300_000
_REFUSED = ("WEBHOOK_REFUSED", "MAIL_REFUSED")
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An alert that is still to be told, where it is written, and when it was read."""

    topic: str
    offset: int
    alert: Alert
    read_at: int


class Notifier:
    """Tells one receiver the alerts of the rules that name it."""

    def __init__(self, target: Target, rules: Sequence[Rule], log: Log, silences: Silences) -> None:
        self.target = target
        self.problem = ""
        self._rules = {rule.name: rule for rule in rules}
        self._log = log
        self._silences = silences
        self._waiting: list[_Waiting] = []
        self._failures = 0
        self._not_before = 0
        known = log.committed(target.group)
        places = [TopicPartition(topic, 0) for topic in dict.fromkeys(r.topic for r in rules)]
        # A receiver that is new is not told what was before it.
        ends = {place: end_of(log, place.topic) for place in places}
        self._read = {place: min(known.get(place, end), end) for place, end in ends.items()}
        self._told = {place: known[place] for place in places if place in known}
        self._commit()

    @property
    def waiting(self) -> int:
        """How many alerts it has not been told yet."""
        return len(self._waiting)

    def deliver(self, now: int, send: Send) -> None:
        """Read what was written, and send what has waited for its group."""
        self._take(now)
        if now >= self._not_before:
            for place, items in self._due(now).items():
                if not self._sent(place, items, now, send):
                    break
        self._commit()

    def _take(self, now: int) -> None:
        for place, at in self._read.items():
            end = end_of(self._log, place.topic)
            for offset, alert in written(self._log, place.topic, at, end):
                if alert.rule in self._rules and alert.state in _TOLD:
                    self._waiting.append(_Waiting(place.topic, offset, alert, now))
            self._read[place] = max(at, end)

    def _due(self, now: int) -> Mapping[tuple[str, str], list[_Waiting]]:
        groups: dict[tuple[str, str], list[_Waiting]] = {}
        for item in self._waiting:
            groups.setdefault((item.alert.rule, item.alert.group), []).append(item)
        return {
            place: items
            for place, items in groups.items()
            if now - items[0].read_at >= self._rules[place[0]].group_every // _MILLISECOND
        }

    def _sent(self, place: tuple[str, str], items: list[_Waiting], now: int, send: Send) -> bool:
        told = [item for item in items if not self._silences.covers(item.alert, now)]
        latest = {item.alert.key: item.alert for item in told}
        if latest:
            try:
                send(self.target, Message(*place, tuple(latest.values()), now))
            except PenstockError as error:
                self._postpone(error, now)
                return False
        self.problem, self._failures, self._not_before = "", 0, 0
        done = {(item.topic, item.offset) for item in items}
        self._waiting = [w for w in self._waiting if (w.topic, w.offset) not in done]
        return True

    def _postpone(self, error: PenstockError, now: int) -> None:
        """Wait before the next try: longest where the receiver will not change its mind soon."""
        self.problem = f"[{error.code}] {error.fact}"
        pause = min(_FIRST_PAUSE * 2 ** min(self._failures, 20), _LONGEST_PAUSE)
        self._not_before = now + (_LONGEST_PAUSE if error.code in _REFUSED else pause)
        self._failures += 1

    def _commit(self) -> None:
        offsets = {
            place: min((w.offset for w in self._waiting if w.topic == place.topic), default=at)
            for place, at in self._read.items()
        }
        if offsets != self._told:
            self._log.commit(self.target.group, offsets)
            self._told = offsets
