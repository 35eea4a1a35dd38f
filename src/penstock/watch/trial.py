"""A rule tried without consequences: what it holds for now, and whether its receivers answer."""

from __future__ import annotations

from penstock.watch.alert import Alert
from penstock.watch.message import Message
from penstock.watch.notifier import Send
from penstock.watch.observing import Sources
from penstock.watch.rule import Rule
from penstock.watch.sighting import NO_KEY, Sighting
from penstock.watch.topic_observers import StreamObserver
from penstock.watch.topic_rows import TopicRows


def holding(rule: Rule, sources: Sources, now: int) -> list[Sighting]:
    """Give what a rule holds for; of a stream, all rows that it has are looked at."""
    observer = sources.observer(rule)
    if rule.watched == "stream" and rule.absent is None:
        rows = TopicRows(rule, sources.log, sources.settings, {})
        first = dict(rows.offsets)
        observer = StreamObserver(rule, rows, sources.log, "penstock.alerts.trial")
        rows.offsets.update(first)
    return [seen for seen in observer.look(now, []) if seen.holds]


def send_trial(rule: Rule, send: Send, now: int) -> None:
    """Send a message that says it is a trial to all receivers of a rule."""
    told = f"{rule.name}: a trial, nothing is wrong"
    alert = Alert(rule.name, NO_KEY, "firing", now, now, message=told)
    for target in rule.receivers:
        send(target, Message(rule.name, NO_KEY, (alert,), now))
