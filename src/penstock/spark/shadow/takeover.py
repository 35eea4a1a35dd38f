"""The results of a version that was built beside another become those of the job, at one instant.

The transaction that brings them is one of the old version's own, with a note that is higher than
the number of any batch: whatever becomes of the process that does this, from then on a batch of
the old version is one that was seen already, and nothing of it is written any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from penstock.log.port import Log, Transaction
from penstock.model.physical import Output, Physical
from penstock.model.plan import Sink
from penstock.model.upsert_key import upsert_keys
from penstock.spark.output import ensure_topics
from penstock.spark.rebuild import empty_topic
from penstock.spark.shadow.difference import (
    all_records,
    changelog_changes,
    table_changes,
    update_changes,
)
from penstock.spark.shadow.tables import take_over_tables
from penstock.spark.shadow.version import output_at, shadow_name

TAKEN_OVER = str(2**62)
"""The note of a version whose results others have taken over."""


@dataclass(frozen=True, slots=True)
class Takeover:
    """Which version's results become the job's: both write to the same places.

    `mark` tells the shadow's topics, `fence` is the id that the old version's transactions have.
    With `replaces` rows that are only ever added are made anew as well. The topics of `tables`
    hold the last record of each key as its row, though no sink says so.
    """

    before: Physical
    after: Physical
    mark: str
    fence: str
    replaces: bool = False
    note: str = TAKEN_OVER
    tables: frozenset[str] = frozenset()

    def is_table(self, sink: Sink) -> bool:
        """Whether the last record of a key is its row."""
        return sink.upsert or sink.topic in self.tables


def take_over(log: Log, takeover: Takeover, clock: int) -> None:
    """Bring the difference between both versions' results; again it brings nothing.

    Neither version runs meanwhile, and both have read the same.
    """
    _make_anew(log, takeover)
    ensure_topics(log, takeover.after)
    transaction = log.transaction(takeover.fence)
    try:
        if transaction.note != takeover.note:
            _bring(log, transaction, takeover, clock)
    finally:
        transaction.close()
    take_over_tables(takeover.after, takeover.mark)


def is_taken_over(log: Log, fence: str, note: str = TAKEN_OVER) -> bool:
    """Whether the results of a version were taken over; it must not run."""
    transaction = log.transaction(fence)
    try:
        return transaction.note == note
    finally:
        transaction.close()


def _bring(log: Log, transaction: Transaction, takeover: Takeover, clock: int) -> None:
    transaction.begin()
    for output in takeover.after.outputs:
        if output.sink.store is None:
            for partition, rows in _changes(log, takeover, output, clock):
                transaction.append(output.sink.topic, partition, rows)
    transaction.commit(takeover.note)


def _changes(
    log: Log, takeover: Takeover, output: Output, clock: int
) -> Iterator[tuple[int, pa.Table]]:
    sink = output.sink
    shadow = shadow_name(sink.topic, takeover.mark)
    if shadow not in log.topics():
        return
    if output_at(takeover.before, sink.place) is None:
        # Nothing was written there yet: it gets all that it would have.
        yield from all_records(log, shadow)
    elif takeover.is_table(sink):
        yield from table_changes(log, sink.topic, shadow, clock)
    elif sink.relation.retracts:
        yield from changelog_changes(log, sink.topic, shadow, clock)
    elif takeover.replaces:
        yield from all_records(log, shadow)
    elif (keys := updated_keys(sink)) is not None:
        yield from update_changes(log, sink.topic, shadow, keys)


def updated_keys(sink: Sink) -> tuple[str, ...] | None:
    """Give the columns by which a result replaces one before it; none where rows only come."""
    keys = upsert_keys(sink.relation)
    typed = sink.format is None and not sink.raw
    # The bytes of a topic tell no column: its records' own keys must.
    return keys if typed or keys == sink.keys else None


def _make_anew(log: Log, takeover: Takeover) -> None:
    """Empty the topics whose rows are only ever added, where they are to be made again."""
    if not takeover.replaces or is_taken_over(log, takeover.fence, takeover.note):
        return
    for output in takeover.after.outputs:
        sink = output.sink
        known = output_at(takeover.before, sink.place) is not None
        kept = sink.store is not None or takeover.is_table(sink) or sink.relation.retracts
        if not known or kept:
            continue
        shadow = shadow_name(sink.topic, takeover.mark)
        if shadow in log.topics() and sink.topic in log.topics():
            made = log.topic(shadow)
            empty_topic(log, sink.topic)
            if log.topic(sink.topic).schema != made.schema:
                log.delete_topic(sink.topic)
                log.create_topic(
                    sink.topic, partitions=made.partitions, schema=made.schema, config=made.config
                )
