from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.config import load_settings
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.watch.alert import LIVE, Alert, next_alert
from penstock.watch.rule_document import alert_rule
from penstock.watch.topic_observers import TableObserver
from penstock.watch.topic_rows import TopicRows
from tests.watch.scenes import ERRORS

Change = tuple[str, int | None]
CHANGES = st.lists(
    st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 20)), max_size=5),
    max_size=6,
)


def put(log: EmbeddedLog, partition: int, changes: list[Change]) -> None:
    """Append rows; none is a tombstone."""
    if changes:
        rows = pa.Table.from_pylist([{"pageid": key, "count": n} for key, n in changes], ERRORS)
        keys = pa.array([key.encode() for key, _ in changes], pa.binary())
        gone = pa.array([number is None for _, number in changes])
        table = rows.append_column("_key", keys).append_column("_deleted", gone)
        log.append("errors", partition, table)


@settings(max_examples=40)
@given(CHANGES, st.booleans())
def test_after_every_look_those_keys_fire_whose_last_row_is_a_reason(
    batches: list[list[Change]], restarts: bool
) -> None:
    rule = alert_rule("r", table="errors", when="count > 10", clear="count < 5")
    chosen = load_settings(environment={}, directory=Path("/"))
    log = EmbeddedLog(MemoryStorage())
    log.create_topic("errors", schema=ERRORS)
    observer = TableObserver(rule, TopicRows(rule, log, chosen, {}))
    known: dict[str, Alert] = {}
    latest: dict[str, int | None] = {}
    expected: set[str] = set()
    for at, changes in enumerate(batches):
        put(log, 0, changes)
        latest.update(changes)
        if restarts:
            observer = TableObserver(rule, TopicRows(rule, log, chosen, {}))
        active = [key for key, alert in known.items() if alert.state in LIVE]
        for seen in observer.look(at, active):
            after = next_alert(rule, known.get(seen.key), seen, at)
            if after is not None:
                known[seen.key] = after
        for key, number in latest.items():
            if number is not None and number > 10:
                expected.add(key)
            elif number is None or number < 5:
                expected.discard(key)
        firing = {key for key, alert in known.items() if alert.state == "firing"}
        assert firing == {f'{{"_key":"{key}"}}' for key in expected}
