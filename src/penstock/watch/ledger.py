"""Where alerts are written down: a topic of typed rows, which is also what is known of them.

A row is written before anybody is told. Who watches next reads the topic and goes on from there,
so that nothing is told twice. The rows that a rule on a stream has seen are committed in the same
transaction as the alerts that they gave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from penstock.errors import TopicError
from penstock.log.port import Log, Transaction
from penstock.log.record import KEY_COLUMN, OFFSET_COLUMN, TIMESTAMP_COLUMN
from penstock.log.stretch import tables_between
from penstock.watch.alert import Alert

ALERT_SCHEMA = pa.schema(
    [
        ("rule", pa.string()),
        ("state", pa.string()),
        ("key", pa.string()),
        ("group", pa.string()),
        ("value", pa.string()),
        ("since", pa.timestamp("ms", tz="UTC")),
        ("at", pa.timestamp("ms", tz="UTC")),
        ("notice", pa.int32()),
        ("message", pa.string()),
        ("id", pa.string()),
    ]
)
"""`key`, `group` and `value` are JSON: columns of the row that the alert is about."""

WRITER = "penstock.alerts"
_PARTITION = 0


def alert_topics(log: Log) -> tuple[str, ...]:
    """Give the topics of a log that hold alerts."""
    return tuple(name for name in log.topics() if log.topic(name).schema == ALERT_SCHEMA)


def make_topic(log: Log, name: str) -> None:
    """Create a topic for alerts; one of that name that holds something else is refused."""
    if name not in log.topics():
        log.create_topic(name, schema=ALERT_SCHEMA)
    elif log.topic(name).schema != ALERT_SCHEMA:
        raise TopicError(
            "ALERT_TOPIC",
            f'topic "{name}" holds other rows than alerts',
            hint='Name another one in the rule: to = ["topic:my-alerts"].',
        )


def written(log: Log, topic: str, start: int, end: int) -> Iterator[tuple[int, Alert]]:
    """Give alerts as they were written between two offsets, with the offset of each."""
    for table in tables_between(log, (topic, _PARTITION), start, end):
        for row in table.to_pylist():
            yield row[OFFSET_COLUMN], _alert(row)


def alerts_in(log: Log, topic: str) -> dict[tuple[str, str], Alert]:
    """Give the last that is known of each alert, by rule and key."""
    bounds = log.bounds(topic, _PARTITION)
    found = written(log, topic, bounds.start, bounds.end)
    return {(alert.rule, alert.key): alert for _, alert in found}


def end_of(log: Log, topic: str) -> int:
    """Give the offset after the last alert."""
    return log.bounds(topic, _PARTITION).end


class Ledger:
    """Writes alerts, of one process at a time: who takes it fences off the one before."""

    def __init__(self, log: Log) -> None:
        self._transaction: Transaction = log.transaction(WRITER)

    def write(
        self,
        alerts: Mapping[str, Sequence[Alert]],
        commits: Iterable[Callable[[Transaction | None], None]],
    ) -> None:
        """Write alerts to their topics, and what was seen to give them: all of it or nothing."""
        self._transaction.begin()
        try:
            for topic, items in alerts.items():
                self._transaction.append(topic, _PARTITION, _rows(items))
            for commit in commits:
                commit(self._transaction)
            self._transaction.commit()
        except BaseException:
            self._transaction.abort()
            raise

    def close(self) -> None:
        """Let go of it."""
        self._transaction.close()


def alert_row(alert: Alert) -> dict[str, Any]:
    """Give an alert as a row."""
    return {
        "rule": alert.rule,
        "state": alert.state,
        "key": alert.key,
        "group": alert.group,
        "value": alert.value,
        "since": alert.since,
        "at": alert.at,
        "notice": alert.notice,
        "message": alert.message,
        "id": alert.id,
    }


def _rows(alerts: Sequence[Alert]) -> pa.Table:
    rows = pa.Table.from_pylist([alert_row(alert) for alert in alerts], ALERT_SCHEMA)
    keys = [f"{alert.rule} {alert.key}".encode() for alert in alerts]
    return rows.append_column(KEY_COLUMN, pa.array(keys, pa.binary())).append_column(
        TIMESTAMP_COLUMN, pa.array([alert.at for alert in alerts], pa.int64())
    )


def _alert(row: Mapping[str, Any]) -> Alert:
    since, at = (round(row[name].timestamp() * 1000) for name in ("since", "at"))
    return Alert(
        row["rule"],
        row["key"],
        row["state"],
        since,
        at,
        row["notice"],
        row["group"],
        row["value"],
        row["message"],
    )
