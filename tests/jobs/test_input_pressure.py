from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from penstock.jobs.input_pressure import InputPressure, pressure_on
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.pressure import Pressure
from penstock.log.producer import Producer
from penstock.log.record import TopicPartition
from penstock.model.progress import PartitionPosition
from tests.jobs.records import PROGRESS


def test_what_waits_and_what_producers_have_put_aside_is_told_by_topic() -> None:
    with EmbeddedLog(MemoryStorage()) as log:
        log.create_topic("views")
        log.commit("shop", {TopicPartition("views", 0): 0})
        spill = Pressure(policy="spill", group="shop", max_lag=5)
        with Producer(log, pressure=spill, linger=timedelta(0)) as producer:
            for number in range(20):
                producer.send("views", b"%d" % number).result(10)
            end = log.bounds("views", 0).end
            places = (
                PartitionPosition("views", 0, 2, end),
                PartitionPosition("a file of the disk", 0, 0, 9),
            )
            progress = replace(PROGRESS, positions=places)
            (found,) = pressure_on(log, progress)
            assert found == InputPressure("views", end, end - 2, 20 - end, 0)
            assert producer.stats.spilled == found.aside > 0
            log.commit("shop", {TopicPartition("views", 0): 10**6})
            producer._gauge._known.clear()
            producer.send("views", b"20").result(10)
        (found,) = pressure_on(log, progress)
        stats = producer.stats
        assert (found.aside, found.followed) == (stats.spilled - stats.drained, stats.drained)
        assert stats.drained > 0
        assert pressure_on(log, None) == ()
