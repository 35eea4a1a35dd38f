"""The topics of a program in real-time mode: that of its results is made where it is missing."""

from __future__ import annotations

from penstock.config import Settings
from penstock.log.kafka.properties import SCHEME
from penstock.log.open import open_log
from penstock.plan.realtime import Direct
from penstock.spark.output import record_keys
from penstock.spark.realtime.settings import RealtimeSettings


def require_topics(program: Direct, found: RealtimeSettings, settings: Settings) -> None:
    """Refuse a program whose input is missing; the connector would wait for it."""
    address = _address(found, settings)
    if address is None:
        return
    sink = program.output.sink
    with open_log(address) as log:
        partitions = log.topic(program.scan.stream.topic).partitions
        if sink.topic not in log.topics():
            log.create_topic(sink.topic, partitions=partitions if record_keys(sink) else 1)


def _address(found: RealtimeSettings, settings: Settings) -> str | None:
    """Give where to ask; None where only Java's clients are told how to get in."""
    own = settings.log if settings.log == f"{SCHEME}{found.servers}" else None
    return own or (None if found.kafka else f"{SCHEME}{found.servers}")
