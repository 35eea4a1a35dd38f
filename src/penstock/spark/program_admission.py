"""How much of several topics one micro-batch takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.spark.admission import BatchLimits, admit, share_rows

Positions = Mapping[TopicPartition, int]


def admit_program(
    log: Log, start: Positions, end: Positions, limits: BatchLimits
) -> dict[TopicPartition, int]:
    """Give the positions after a batch; topics share the limit by how much each has waiting."""
    ends = {place: max(at, end[place]) for place, at in start.items()}
    topics = sorted({place.topic for place in start})
    waiting = {
        number: sum(ends[place] - at for place, at in start.items() if place.topic == topic)
        for number, topic in enumerate(topics)
    }
    shares = waiting if limits.rows is None else share_rows(waiting, limits.rows)
    admitted: dict[TopicPartition, int] = {}
    for number, topic in enumerate(topics):
        begin = {place.partition: at for place, at in start.items() if place.topic == topic}
        stop = {partition: ends[TopicPartition(topic, partition)] for partition in begin}
        if waiting[number] and shares[number]:
            own = limits if limits.rows is None else replace(limits, rows=shares[number])
            begin = admit(log, topic, begin, stop, own)
        admitted.update({TopicPartition(topic, part): at for part, at in begin.items()})
    return admitted
