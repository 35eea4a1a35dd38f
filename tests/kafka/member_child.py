"""`python -m tests.kafka.member_child ADDRESS GROUP TOPIC`: a member of a group, until killed.

It commits what it has read up to the record "commit", and then says each value and commits none.
"""

from __future__ import annotations

import sys

from confluent_kafka import Consumer


def main(address: str, group: str, topic: str) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": 1500,
            "heartbeat.interval.ms": 300,
        }
    )
    consumer.subscribe([topic])
    while True:
        record = consumer.poll(1)
        if record is None or record.error() is not None:
            continue
        value = record.value()
        assert isinstance(value, bytes)
        if value == b"commit":
            consumer.commit(message=record, asynchronous=False)
        sys.stdout.write(f"{value.decode()}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
