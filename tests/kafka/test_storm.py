"""Nothing acknowledged is lost, doubled or moved while brokers die and stand still."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.kafka.adapter import AdapterReader, AdapterTransactions, AdapterWriter
from tests.kafka.cluster import Brokers
from tests.kafka.confluent import ConfluentReader, ConfluentWriter
from tests.kafka.load import Load, Reader, Seen, Tally, Writer
from tests.kafka.storm import RECOVERY, storm
from tests.kafka.transactional import TransactionalWriter

pytestmark = [pytest.mark.slow, pytest.mark.kill]

PARTITIONS = 6
RECORDS = 100_000
RATE = 3000


SOAK = [pytest.mark.soak, pytest.mark.timeout(0)]


@pytest.mark.parametrize(
    ("kind", "reading", "rounds"),
    [
        pytest.param(AdapterWriter, AdapterReader, 2, id="2 rounds"),
        pytest.param(AdapterTransactions, AdapterReader, 2, id="2 rounds in transactions"),
        pytest.param(AdapterWriter, AdapterReader, 60, id="60 rounds", marks=SOAK),
        pytest.param(
            AdapterTransactions, AdapterReader, 10, id="10 rounds in transactions", marks=SOAK
        ),
        pytest.param(ConfluentWriter, ConfluentReader, 60, id="60 rounds, plain", marks=SOAK),
        pytest.param(
            TransactionalWriter,
            ConfluentReader,
            10,
            id="10 rounds in plain transactions",
            marks=SOAK,
        ),
    ],
)
def test_every_record_arrives_once_and_in_order_through_a_storm(
    kafka_cluster: Brokers,
    kind: Callable[[str, str], Writer],
    reading: Callable[[str, str, int], Reader],
    rounds: int,
) -> None:
    topic = kafka_cluster.topic(PARTITIONS, copies=3, min_insync_replicas="2")
    load = Load(
        kind(kafka_cluster.address, topic),
        reading(kafka_cluster.address, topic, PARTITIONS),
        partitions=PARTITIONS,
        rate=RATE,
    )
    load.start()
    try:
        pauses = list(storm(kafka_cluster, load, topic, rounds=rounds))
    finally:
        load.end(at_least=RECORDS)
    assert load.problems() == []
    assert sum(load.tally.expected) >= RECORDS
    assert len(pauses) == 2 * rounds
    assert max(pauses) < RECOVERY, pauses


def test_what_is_lost_doubled_or_moved_would_be_found() -> None:
    tally = Tally([0])
    for number in (0, 1, 1, 3, 2, 4):
        tally.see(Seen(0, b"%d x" % number))
    assert tally.wrong == [
        "partition 0: 1 came twice, or out of order, 2 was due",
        "partition 0: 3 came after a gap, 2 was due",
        "partition 0: 2 came twice, or out of order, 4 was due",
    ]
